"""Which columns an expression reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dra_cel.ast import Call, Comprehension, Ident, Node, Select
from dra_cel.checker import Checked
from dra_cel.columns import ColumnKey
from dra_cel.environment import DEVICE_VARIABLE
from dra_cel.literal_types import children

Path = tuple[str, ...]
"""A selection that starts with `device`: `("device", "attributes", "domain", "id")`."""
Aliases = Mapping[str, "Path | frozenset[ColumnKey] | None"]
"""What a local variable stands for: a path, or a value that depends on columns (None: on everything)."""

_MAPS = ("attributes", "capacity")


class Reader:
    """Finds the columns that parts of one expression read.

    Args:
        checked: the expression.
        constant: returns the constant value of a node, or something that is no string.

    """

    def __init__(self, checked: Checked, constant: Callable[[Node], Any]) -> None:
        self._checked = checked
        self._constant = constant
        self._aliases: dict[Node, Path | frozenset[ColumnKey] | None] = {}

    def reads(self, node: Node, aliases: Aliases) -> frozenset[ColumnKey] | None:
        """Return the columns that a node reads; None where it may read everything."""
        found: set[ColumnKey] = set()
        return frozenset(found) if self._collect(node, aliases, found, set()) else None

    def alias(self, node: Node, aliases: Aliases) -> Path | frozenset[ColumnKey] | None:
        """Return what a variable with this initial value stands for."""
        if node not in self._aliases:
            path = self._path(node, aliases)
            short = path is not None and len(path) < 4
            self._aliases[node] = path if short else self.reads(node, aliases)
        return self._aliases[node]

    def _path(self, node: Node, aliases: Aliases) -> Path | None:
        if isinstance(node, Ident):
            if node.name in aliases:
                target = aliases[node.name]
                return target if isinstance(target, tuple) else None
            return ("device",) if node.name.removeprefix(".") == DEVICE_VARIABLE else None
        if isinstance(node, Select) and not node.test_only:
            path = self._path(node.operand, aliases)
            return None if path is None else (*path, node.field)
        if isinstance(node, Call) and node.function == "_[_]":
            path = self._path(node.args[0], aliases)
            key = self._constant(node.args[1])
            return (*path, key) if path is not None and type(key) is str else None
        return None

    def _collect(self, node: Node, aliases: Aliases, found: set[ColumnKey], seen: set[Node]) -> bool:
        """Add what a node reads; return False where that is everything."""
        if node in seen:
            return True
        seen.add(node)
        path = self._path(node, aliases)
        if path is not None:
            return _add_path(path, found)
        if isinstance(node, Ident):
            columns = aliases.get(node.name, frozenset())
            if columns is None:
                return False
            found.update(key for key in columns if isinstance(key, ColumnKey))
            return True
        if isinstance(node, Comprehension):
            return self._collect_loop(node, aliases, found, seen)
        container, key = self._tested(node)
        if container is not None:
            path = self._path(container, aliases)
            if path is not None and len(path) < 3 and isinstance(node, Select):
                return True  # has() of a field of the device, or of a domain, is always true
            if path is not None and type(key) is str:
                return _add_test((*path, key), found)
        return all(self._collect(part, aliases, found, seen) for part in children(node))

    def _tested(self, node: Node) -> tuple[Node | None, Any]:
        """Return container and key where a node looks up a key that may be absent."""
        if isinstance(node, Select):
            return node.operand, node.field
        if isinstance(node, Call):
            if node.function in ("_?._", "_[?_]"):
                return node.args[0], self._constant(node.args[1])
            if node.function == "@in":
                return node.args[1], self._constant(node.args[0])
        return None, None

    def _collect_loop(self, node: Comprehension, aliases: Aliases, found: set[ColumnKey], seen: set[Node]) -> bool:
        if node.macro == "bind":
            inner: dict[str, Path | frozenset[ColumnKey] | None] = dict(aliases)
            inner[node.accumulator] = self.alias(node.initial, aliases)
            return self._collect(node.result, inner, found, seen)
        if not self._collect(node.iter_range, aliases, found, seen):
            return False
        inner = {**aliases, node.iter_var: frozenset(), node.accumulator: frozenset()}
        if node.iter_var2:
            inner[node.iter_var2] = frozenset()
        return self._collect(node.step, inner, found, seen)


def _add_path(path: Path, found: set[ColumnKey]) -> bool:
    if len(path) == 2 and path[1] == "driver":
        found.add(ColumnKey("driver"))
        return True
    if len(path) == 2 and path[1] == "allowMultipleAllocations":
        found.add(ColumnKey("sharing"))
        return True
    return len(path) >= 4 and _add_test(path[:4], found)


def _add_test(path: Path, found: set[ColumnKey]) -> bool:
    """Add what a look-up of the last part of a path reads."""
    if len(path) == 4 and path[1] in _MAPS:
        if "/" not in path[2]:
            found.add(ColumnKey("attribute" if path[1] == "attributes" else "capacity", f"{path[2]}/{path[3]}"))
        return True
    if len(path) > 4:
        return _add_path(path, found)
    return False
