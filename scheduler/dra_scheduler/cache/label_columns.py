"""Labels of all nodes by column, so that a requirement is evaluated once per distinct value.

A column exists for each label key that somebody has asked about; a row is a node's row in the node table.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dra_allocator.node import NodeSelectorRequirement, NodeSelectorTerm

BoolArray: TypeAlias = NDArray[np.bool_]
IntArray: TypeAlias = NDArray[np.int64]


class _Column:
    """Codes of one label: 0 for absent, k for `values[k]`. Values only ever grow."""

    __slots__ = ("codes", "index", "values")

    def __init__(self, rows: int) -> None:
        self.codes = np.zeros(rows, np.int64)
        self.values: list[str] = [""]
        self.index: dict[str, int] = {}

    def set(self, row: int, value: str | None) -> None:
        if value is None:
            self.codes[row] = 0
            return
        code = self.index.get(value)
        if code is None:
            code = self.index[value] = len(self.values)
            self.values.append(value)
        self.codes[row] = code


class LabelColumns:
    """The columns. Rows are added by `grow`, filled by `set_row` (None: the node is gone)."""

    def __init__(self, rows: int) -> None:
        self._labels: list[Mapping[str, str] | None] = [None] * rows
        self._names: dict[str, int] = {}
        self._columns: dict[str, _Column] = {}

    def grow(self, rows: int) -> None:
        """Make room for `rows` rows in all."""
        more = rows - len(self._labels)
        self._labels.extend([None] * more)
        for column in self._columns.values():
            column.codes = np.concatenate([column.codes, np.zeros(more, np.int64)])

    def set_row(self, row: int, name: str, labels: Mapping[str, str] | None) -> None:
        """Set or clear (None) the labels of the node `name` in `row`."""
        self._labels[row] = labels
        if labels is None:
            self._names.pop(name, None)
        else:
            self._names[name] = row
        for key, column in self._columns.items():
            column.set(row, None if labels is None else labels.get(key))

    def pairs(self, labels: Sequence[tuple[str, str]]) -> BoolArray:
        """Which rows have all these labels with exactly these values."""
        mask = np.ones(len(self._labels), np.bool_)
        for key, value in labels:
            column = self._column(key)
            mask &= column.codes == column.index.get(value, -1)
        return mask

    def has(self, key: str) -> BoolArray:
        """Which rows have the label, whatever its value."""
        present: BoolArray = self._column(key).codes != 0
        return present

    def one_of(self, key: str, values: Collection[str]) -> BoolArray:
        """Which rows have the label with one of these values."""
        return self._expression(NodeSelectorRequirement(key, "In", tuple(values)))

    def terms(self, terms: Sequence[NodeSelectorTerm]) -> BoolArray:
        """Which rows match one of the terms (a term without requirements matches nothing)."""
        mask = np.zeros(len(self._labels), np.bool_)
        for term in terms:
            mask |= self._term(term)
        return mask

    def _term(self, term: NodeSelectorTerm) -> BoolArray:
        rows = len(self._labels)
        if not term.match_expressions and not term.match_fields:
            return np.zeros(rows, np.bool_)
        mask = np.ones(rows, np.bool_)
        for requirement in term.match_expressions:
            mask &= self._expression(requirement)
        for requirement in term.match_fields:
            mask &= self._field(requirement)
        return mask

    def _expression(self, requirement: NodeSelectorRequirement) -> BoolArray:
        column = self._column(requirement.key)
        table = np.zeros(len(column.values), np.bool_)
        wanted = set(requirement.values)
        match requirement.operator:
            case "In":
                table[[column.index[value] for value in wanted if value in column.index]] = True
            case "NotIn":
                table[:] = True
                table[[column.index[value] for value in wanted if value in column.index]] = False
            case "Exists":
                table[1:] = True
            case "DoesNotExist":
                table[0] = True
            case "Gt" | "Lt":
                bound = _integer(requirement.values[0]) if len(requirement.values) == 1 else None
                for code in range(1, len(column.values)):
                    table[code] = _compares(requirement.operator, _integer(column.values[code]), bound)
        return table[column.codes]

    def _field(self, requirement: NodeSelectorRequirement) -> BoolArray:
        mask = np.zeros(len(self._labels), np.bool_)
        if requirement.key != "metadata.name" or len(requirement.values) != 1:
            return mask
        row = self._names.get(requirement.values[0])
        if row is not None:
            mask[row] = True
        if requirement.operator == "NotIn":
            return ~mask
        return mask if requirement.operator == "In" else np.zeros_like(mask)

    def _column(self, key: str) -> _Column:
        column = self._columns.get(key)
        if column is None:
            column = self._columns[key] = _Column(len(self._labels))
            for row, labels in enumerate(self._labels):
                if labels is not None:
                    column.set(row, labels.get(key))
        return column


def _integer(text: str) -> int | None:
    digits = text[1:] if text[:1] in "+-" else text
    if not (digits.isascii() and digits.isdigit()) or len(digits) > 19:
        return None
    value = int(text)
    return value if -(2**63) <= value < 2**63 else None


def _compares(operator: str, value: int | None, bound: int | None) -> bool:
    if value is None or bound is None:
        return False
    return value > bound if operator == "Gt" else value < bound
