"""What devices have of an attribute or capacity, and which name was probably meant where none has it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from dra_allocator.arrays import IntArray
from dra_allocator.effort import Effort
from dra_allocator.facts import NameKind, Values
from dra_allocator.table import Table
from dra_cel.columns import ColumnKey
from dra_cel.quantity import Quantity
from dra_cel.semver import Semver
from dra_cel.suggestion import closest

_TOLD = 4
_NAMED = 5
_COMPARED = 4096
"""Least and most are looked for among so many different values."""
_TYPES: dict[type, str] = {bool: "bool", int: "int", str: "string", Semver: "version", Quantity: "quantity"}
_ORDERED = frozenset(("int", "version", "quantity"))


class Published:
    """The devices of some rows (at least one), as selectors see them."""

    def __init__(self, table: Table, rows: IntArray, effort: Effort) -> None:
        self._columns = table.rows.columns
        self._rows = rows
        self._effort = effort

    def values(self, key: ColumnKey) -> Values:
        """Return what the devices have of one column."""
        column = self._columns.column(key)
        counts = np.bincount(column.codes[self._rows], minlength=1)
        having = len(self._rows) - int(counts[0])
        kind = cast(NameKind, key.kind)
        if not having:
            meant = self.suggestion(key)
            others = () if meant else self._others(key)
            shown = others[:_NAMED]
            return Values(kind, key.name, len(self._rows), 0, (), 0, (), "", "", meant, shown, len(others) - len(shown))
        codes = np.flatnonzero(counts)
        codes = codes[codes > 0]
        frequent = sorted(codes.tolist(), key=lambda code: -int(counts[code]))[:_TOLD]
        kinds, least, most = _range([column.values[code] for code in codes[:_COMPARED].tolist()])
        ordered = len(codes) <= _COMPARED
        return Values(
            kind,
            key.name,
            len(self._rows),
            having,
            tuple((value_text(column.values[code]), int(counts[code])) for code in frequent),
            len(codes),
            kinds,
            least if ordered else "",
            most if ordered else "",
        )

    def _others(self, key: ColumnKey) -> tuple[str, ...]:
        """Return the names of the same kind and domain that the devices have."""
        domain = key.name.rpartition("/")[0]
        parts = (one.name.rpartition("/") for one in self._columns.names(self._rows) if one.kind == key.kind)
        return tuple(name for other, _, name in parts if other == domain)

    def suggestion(self, key: ColumnKey) -> str:
        """Return how to write the name that was probably meant; an empty text if there is none like it."""
        if not self._effort.take_suggestion():
            return ""
        domain, _, name = key.name.rpartition("/")
        present = self._columns.names(self._rows)
        if not present:
            return ""
        same_domain = [one for one in present if one.name.rpartition("/")[0] == domain]
        for wanted in ((domain, name), (None, name)):
            for one in present:
                other_domain, _, other = one.name.rpartition("/")
                if other == wanted[1] and wanted[0] in (None, other_domain) and one != key:
                    return _spelled(one)
        for among in (same_domain, present):
            found = closest(name, (one.name.rpartition("/")[2] for one in among))
            if found is not None:
                return _spelled(next(one for one in among if one.name.endswith(f"/{found}")))
        return ""


def value_text(value: object) -> str:
    """Return a value as it would be written in an expression, without the function around it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, tuple):
        return f"[{', '.join(map(value_text, value))}]"
    return str(value)


def _range(values: Sequence[Any]) -> tuple[tuple[str, ...], str, str]:
    """Return the types of the values, and the least and the largest where all are of one type that has an order."""
    kinds = tuple(sorted({_TYPES.get(type(value), "list") for value in values}))
    if len(kinds) != 1 or kinds[0] not in _ORDERED:
        return kinds, "", ""
    return kinds, value_text(min(values)), value_text(max(values))


def _spelled(key: ColumnKey) -> str:
    domain, _, name = key.name.rpartition("/")
    where = "attributes" if key.kind == "attribute" else "capacity"
    return f'device.{where}["{domain}"].{name}'
