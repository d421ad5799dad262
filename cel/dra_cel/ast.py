"""The abstract syntax tree, after macro expansion.

Nodes compare by identity, so that the checker can keep what it finds out in dictionaries keyed by
node. Nothing changes them; they are not frozen, because it takes seven times as long to make those, and
10 KiB of macros are ten thousand nodes. `offset` is the position in code points that error messages name
(of the operator, where there is one). Operators are calls of functions with the names that CEL gives
them, `_==_` and so on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Constant = bool | int | float | str | bytes | None


@dataclass(slots=True, eq=False)
class Node:
    """Base class of all expressions."""

    offset: int


@dataclass(slots=True, eq=False)
class Literal(Node):
    """A constant; uint literals hold a `values.UInt`."""

    value: Constant


@dataclass(slots=True, eq=False)
class Ident(Node):
    """A variable, or the name of a type; a leading dot stays part of the name."""

    name: str


@dataclass(slots=True, eq=False)
class Select(Node):
    """`operand.field`; with test_only it is `has(operand.field)`."""

    operand: Node
    field: str
    test_only: bool = False


@dataclass(slots=True, eq=False)
class Call(Node):
    """`function(args)` or `target.function(args)`."""

    function: str
    target: Node | None
    args: tuple[Node, ...]


@dataclass(slots=True, eq=False)
class ListExpr(Node):
    """`[a, ?b]`; `optional` has the indices of elements that are written with `?`."""

    elements: tuple[Node, ...]
    optional: frozenset[int] = frozenset()


@dataclass(slots=True, eq=False)
class Entry:
    """`key: value` of a map."""

    offset: int
    key: Node
    value: Node
    optional: bool = False


@dataclass(slots=True, eq=False)
class MapExpr(Node):
    """`{key: value, ?key: value}`."""

    entries: tuple[Entry, ...]


@dataclass(slots=True, eq=False)
class Field:
    """`name: value` of a message."""

    offset: int
    name: str
    value: Node
    optional: bool = False


@dataclass(slots=True, eq=False)
class Message(Node):
    """`type.name{field: value}`."""

    name: str
    fields: tuple[Field, ...]


@dataclass(slots=True, eq=False)
class Comprehension(Node):
    """A loop, which is what the macros over lists and maps expand to.

    `macro` tells what it computes: `all`, `exists`, `exists_one`, `list`, `map`, `map_entry` or `bind`.

    `accumulator` starts as `initial`; while `condition` holds, each element of `iter_range` is bound to
    `iter_var` (with `iter_var2`: index and element, or key and value) and `accumulator` becomes `step`;
    `result` is evaluated at the end.
    """

    macro: str
    iter_range: Node
    iter_var: str
    iter_var2: str
    accumulator: str
    initial: Node
    condition: Node
    step: Node
    result: Node


def qualified_name(node: Node) -> str | None:
    """Return `a.b.c` where the node is a chain of plain names, else None."""
    parts: list[str] = []
    while isinstance(node, Select):
        if node.test_only:
            return None
        parts.append(node.field)
        node = node.operand
    if not isinstance(node, Ident):
        return None
    return ".".join([node.name, *reversed(parts)])


def children(node: Node) -> Sequence[Node]:
    """Return the parts of a node, in the order in which they are written."""
    kind = type(node)
    if kind is Literal or kind is Ident:
        return ()
    if isinstance(node, Call):
        return node.args if node.target is None else (node.target, *node.args)
    if isinstance(node, Select):
        return (node.operand,)
    if isinstance(node, ListExpr):
        return node.elements
    if isinstance(node, MapExpr):
        return [part for entry in node.entries for part in (entry.key, entry.value)]
    if isinstance(node, Message):
        return [field.value for field in node.fields]
    assert isinstance(node, Comprehension)
    return node.iter_range, node.initial, node.condition, node.step, node.result
