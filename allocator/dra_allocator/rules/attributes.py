"""Attribute values as constraints compare them."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from dra_allocator.problem import NodeProblem
from dra_cel.columns import ColumnKey, value_key


@dataclass(frozen=True, slots=True)
class Value:
    """An attribute value: its elements (one for a scalar), told apart by type, and whether it is a list.

    Versions are compared as texts, as Kubernetes does: build metadata counts.
    """

    elements: frozenset[Hashable]
    is_list: bool

    @classmethod
    def of(cls, value: object) -> Value:
        """Return the comparable form of an attribute value."""
        if isinstance(value, tuple):
            return cls(frozenset(_element(item) for item in value), True)
        return cls(frozenset((_element(value),)), False)


def _element(value: object) -> Hashable:
    key = value_key(value)
    assert isinstance(key, Hashable)
    return key


def attribute_values(problem: NodeProblem, attribute: str) -> list[Value | None]:
    """Return the value of a fully qualified attribute per position; None: the device lacks it."""
    column = problem.view.table.rows.columns.column(ColumnKey("attribute", attribute))
    codes = column.codes[problem.layout.rows].tolist()
    known: dict[int, Value | None] = {0: None}
    for code in codes:
        if code not in known:
            known[code] = Value.of(column.values[code])
    return [known[code] for code in codes]
