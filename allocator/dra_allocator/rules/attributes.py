"""Attribute values as constraints compare them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from dra_allocator.candidates import Candidates
from dra_allocator.errors import AttemptFailedError
from dra_allocator.problem import NodeProblem
from dra_allocator.requests import ResolvedRequest
from dra_cel.columns import ColumnKey, value_key


@dataclass(frozen=True, slots=True)
class Value:
    """An attribute value: its elements (one for a scalar), told apart by type, and whether it is a list.

    Versions are compared as texts, as Kubernetes does: build metadata counts.
    """

    elements: frozenset[object]
    is_list: bool

    @classmethod
    def of(cls, value: object) -> Value:
        """Return the comparable form of an attribute value."""
        items = value if isinstance(value, tuple) else (value,)
        return cls(frozenset(map(value_key, items)), isinstance(value, tuple))


class ConstrainedAttribute:
    """The values of one constrained attribute on a node's devices.

    A request may derive the attribute (DRADerivedAttributes, Kubernetes 1.37): for its devices that value stands in
    for the published one. It is evaluated when it is needed, once per device and expression.
    """

    def __init__(self, problem: NodeProblem, attribute: str, requests: Iterable[ResolvedRequest]) -> None:
        self._problem = problem
        self._published = attribute_values(problem, attribute)
        self._derived = {
            id(request): derived
            for request in requests
            for derived in request.spec.derived_attributes
            if derived.name == attribute
        }
        self._values: dict[tuple[str, int], Value] = {}

    @property
    def is_derived(self) -> bool:
        """Whether some request derives it, so that a device has no value of its own."""
        return bool(self._derived)

    def published(self, position: int) -> Value | None:
        """Return the value that the device was published with."""
        return self._published[position]

    def fails(self, candidates: Candidates, position: int) -> bool:
        """Return whether `of` raises."""
        try:
            self.of(candidates, position)
        except AttemptFailedError:
            return True
        return False

    def of(self, candidates: Candidates, position: int) -> Value | None:
        """Return the value as a request sees it; raises AttemptFailedError if deriving it fails."""
        derived = self._derived.get(id(candidates.request))
        if derived is None:
            return self._published[position]
        key = derived.expression, position
        if key not in self._values:
            self._values[key] = Value.of(self._problem.derive(candidates.request, derived, position))
        return self._values[key]


def attribute_values(problem: NodeProblem, attribute: str) -> list[Value | None]:
    """Return the value of a fully qualified attribute per position; None: the device lacks it."""
    column = problem.view.table.rows.columns.column(ColumnKey("attribute", attribute))
    codes = column.codes[problem.layout.where].tolist()
    known: dict[int, Value | None] = {0: None}
    known |= {code: Value.of(column.values[code]) for code in {*codes} if code}
    return [known[code] for code in codes]
