"""The abstract syntax tree, after macro expansion.

Nodes compare by identity, so that the checker can keep what it finds out in dictionaries keyed by
node. `offset` is the position in code points that error messages name (of the operator, where there
is one). Operators are calls of functions with the names that CEL gives them, `_==_` and so on.
"""

from __future__ import annotations

from dataclasses import dataclass

Constant = bool | int | float | str | bytes | None


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """Base class of all expressions."""

    offset: int


@dataclass(frozen=True, slots=True, eq=False)
class Literal(Node):
    """A constant; uint literals hold a `values.UInt`."""

    value: Constant


@dataclass(frozen=True, slots=True, eq=False)
class Ident(Node):
    """A variable, or the name of a type; a leading dot stays part of the name."""

    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Select(Node):
    """`operand.field`; with test_only it is `has(operand.field)`."""

    operand: Node
    field: str
    test_only: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Call(Node):
    """`function(args)` or `target.function(args)`."""

    function: str
    target: Node | None
    args: tuple[Node, ...]


@dataclass(frozen=True, slots=True, eq=False)
class ListExpr(Node):
    """`[a, ?b]`; `optional` has the indices of elements that are written with `?`."""

    elements: tuple[Node, ...]
    optional: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """`key: value` of a map."""

    offset: int
    key: Node
    value: Node
    optional: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class MapExpr(Node):
    """`{key: value, ?key: value}`."""

    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Field:
    """`name: value` of a message."""

    offset: int
    name: str
    value: Node
    optional: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Message(Node):
    """`type.name{field: value}`."""

    name: str
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True, eq=False)
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
