"""Which columns an expression reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dra_cel.ast import Call, Comprehension, Ident, Node, Select, children
from dra_cel.checker import Checked
from dra_cel.columns import ColumnKey
from dra_cel.environment import DEVICE_VARIABLE
from dra_cel.slices import tick

Path = tuple[str, ...]
"""A selection that starts with `device`: `("device", "attributes", "domain", "id")`."""
Reads = frozenset[ColumnKey] | None
"""Columns that a value depends on; None: on everything."""
Aliases = Mapping[str, "Path | Reads"]
"""What a local variable stands for: a path, or a value that depends on columns (None: on everything)."""

NOTHING: frozenset[ColumnKey] = frozenset()
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
        self._reads: dict[Node, Reads] = {}
        self._paths: dict[Node, Path | None] = {}

    def reads(self, node: Node, aliases: Aliases) -> Reads:
        """Return the columns that a node reads; None where it may read everything.

        A node has one scope, so its result is remembered.
        """
        if node not in self._reads:
            tick()
            self._reads[node] = self._find(node, aliases)
        return self._reads[node]

    def alias(self, node: Node, aliases: Aliases) -> Path | Reads:
        """Return what a variable with this initial value stands for."""
        path = self._path(node, aliases)
        return path if path is not None and len(path) < 4 else self.reads(node, aliases)

    def _path(self, node: Node, aliases: Aliases) -> Path | None:
        if node not in self._paths:
            self._paths[node] = self._find_path(node, aliases)
        return self._paths[node]

    def _find_path(self, node: Node, aliases: Aliases) -> Path | None:
        if isinstance(node, Ident):
            if node.name in aliases:
                target = aliases[node.name]
                return target if isinstance(target, tuple) else None
            return ("device",) if node.name.removeprefix(".") == DEVICE_VARIABLE else None
        if isinstance(node, Select) and not node.test_only:
            path = self._path(node.operand, aliases)
            return _longer(path, node.field)
        if isinstance(node, Call) and node.function == "_[_]":
            path = self._path(node.args[0], aliases)
            key = self._constant(node.args[1])
            return _longer(path, key) if type(key) is str else None
        return None

    def _find(self, node: Node, aliases: Aliases) -> Reads:
        path = self._path(node, aliases)
        if path is not None:
            return _path_reads(path)
        if isinstance(node, Ident):
            target = aliases.get(node.name, NOTHING)
            assert not isinstance(target, tuple)
            return target
        if isinstance(node, Comprehension):
            return self._loop_reads(node, aliases)
        container, key = self._tested(node)
        if container is not None:
            path = self._path(container, aliases)
            if path is not None and len(path) < 3 and isinstance(node, Select):
                return NOTHING  # has() of a field of the device, or of a domain, is always true
            if path is not None and type(key) is str:
                return _test_reads((*path, key))
        return _union([self.reads(part, aliases) for part in children(node)])

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

    def _loop_reads(self, node: Comprehension, aliases: Aliases) -> Reads:
        inner: dict[str, Path | Reads] = dict(aliases)
        if node.macro == "bind":
            inner[node.accumulator] = self.alias(node.initial, aliases)
            return self.reads(node.result, inner)
        inner[node.iter_var] = inner[node.accumulator] = NOTHING
        if node.iter_var2:
            inner[node.iter_var2] = NOTHING
        return _union([self.reads(node.iter_range, aliases), self.reads(node.step, inner)])


def _longer(path: Path | None, name: str) -> Path | None:
    """Return a path with one more name; what is selected from a value does not matter."""
    return path if path is None or len(path) > 4 else (*path, name)


def _union(parts: list[Reads]) -> Reads:
    result = NOTHING
    for part in parts:
        if part is None:
            return None
        result = result | part if result else part
    return result


def _path_reads(path: Path) -> Reads:
    """Return what the value at a path depends on."""
    if len(path) == 2 and path[1] == "driver":
        return frozenset({ColumnKey("driver")})
    if len(path) == 2 and path[1] == "allowMultipleAllocations":
        return frozenset({ColumnKey("sharing")})
    return _test_reads(path[:4]) if len(path) >= 4 else None


def _test_reads(path: Path) -> Reads:
    """Return what a look-up of the last part of a path depends on."""
    if len(path) > 4:
        return _path_reads(path)
    if len(path) < 4 or path[1] not in _MAPS:
        return None
    if "/" in path[2]:
        return NOTHING
    return frozenset({ColumnKey("attribute" if path[1] == "attributes" else "capacity", f"{path[2]}/{path[3]}")})
