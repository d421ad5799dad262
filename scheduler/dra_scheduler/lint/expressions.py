"""With what an expression compares the attributes that it reads, as far as its text tells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dra_cel.ast import Call, Comprehension, Ident, ListExpr, Literal, Node, Select, children
from dra_cel.errors import CompileError
from dra_cel.parser import parse
from dra_cel.semver import Semver
from dra_cel.uint import UInt

Steps = tuple[str, ...]
"""A selection that starts with `device`, such as `("device", "attributes", "domain", "name")`."""

DRIVER = "device.driver"

_COMPARISONS = frozenset(("_==_", "_!=_", "_<_", "_<=_", "_>_", "_>=_"))
_LOOKUPS = frozenset(("_[_]", "_[?_]", "_?._"))
_METHODS: Mapping[str, type] = {
    **dict.fromkeys(("compareTo", "isLessThan", "isGreaterThan", "major", "minor", "patch"), Semver),
    **dict.fromkeys(
        ("startsWith", "endsWith", "contains", "matches", "lowerAscii", "upperAscii", "split", "replace", "trim"), str
    ),
}
"""What a method can be called on, for those that have one receiver among the types of attributes."""

TYPE_NAMES: Mapping[type, str] = {bool: "a bool", int: "an int", str: "a string", Semver: "a version", tuple: "a list"}


@dataclass(frozen=True, slots=True)
class Use:
    """An attribute, or the driver (`DRIVER`), and what its value has to be for the expression to make sense.

    Attributes:
        attribute: fully qualified name, or DRIVER.
        types: the types that go with it.
        how: what is done with it, for messages.
        values: the constants that it is compared with.
        is_equality: it has to equal one of them.

    """

    attribute: str
    types: frozenset[type]
    how: str
    values: tuple[Any, ...] = ()
    is_equality: bool = False


def uses(text: str) -> list[Use]:
    """Return the uses of attributes in an expression whose types are plain; empty where it does not parse."""
    try:
        return list(_walk(parse(text), {}))
    except CompileError:
        return []


def _walk(node: Node, scope: Mapping[str, Steps]) -> Iterator[Use]:
    if isinstance(node, Call):
        yield from _of_call(node, scope)
    if isinstance(node, Comprehension) and node.macro == "bind":
        yield from _walk(node.initial, scope)
        target = _steps(node.initial, scope)
        yield from _walk(node.result, {**scope, node.accumulator: target or ()})
        return
    if isinstance(node, Comprehension):  # its variables hide outer ones of the same name
        scope = {**scope, node.iter_var: (), node.iter_var2: ()}
    for child in children(node):
        yield from _walk(child, scope)


def _of_call(node: Call, scope: Mapping[str, Steps]) -> Iterator[Use]:
    if node.function in _COMPARISONS:
        for subject, other in (node.args, node.args[::-1]):
            attribute, kind = _attribute(subject, scope), _constant_type(other)
            if attribute is not None and kind is not None:
                how = f"compared with {TYPE_NAMES[kind]}"
                yield Use(attribute, frozenset((kind,)), how, _values(other), node.function == "_==_")
    elif node.function == "@in" and isinstance(node.args[1], ListExpr):
        attribute, kinds = _attribute(node.args[0], scope), [_constant_type(one) for one in node.args[1].elements]
        if attribute is not None and kinds and None not in kinds:
            found = frozenset(kind for kind in kinds if kind is not None)
            shown = " or ".join(sorted(TYPE_NAMES[kind] for kind in found))
            values = tuple(value for one in node.args[1].elements for value in _values(one))
            yield Use(attribute, found, f"compared with {shown}", values, True)
    elif node.target is not None and node.function in _METHODS:
        attribute, kind = _attribute(node.target, scope), _METHODS[node.function]
        if attribute is not None:
            yield Use(attribute, frozenset((kind,)), f"used as {TYPE_NAMES[kind]} ({node.function})")


def _attribute(node: Node, scope: Mapping[str, Steps]) -> str | None:
    """Return the attribute whose value a node is, through `orValue` too, or None."""
    if isinstance(node, Call) and node.function in ("orValue", "value") and node.target is not None:
        node = node.target
    steps = _steps(node, scope)
    if steps == ("device", "driver"):
        return DRIVER
    if steps is None or len(steps) != 4 or steps[:2] != ("device", "attributes"):
        return None
    return f"{steps[2]}/{steps[3]}"


def _steps(node: Node, scope: Mapping[str, Steps]) -> Steps | None:
    if isinstance(node, Ident):
        if node.name in scope:
            return scope[node.name] or None
        return ("device",) if node.name == "device" else None
    if isinstance(node, Select) and not node.test_only:
        holder = _steps(node.operand, scope)
        return None if holder is None else (*holder, node.field)
    if isinstance(node, Call) and node.function in _LOOKUPS:
        holder, key = _steps(node.args[0], scope), node.args[1]
        if holder is not None and isinstance(key, Literal) and isinstance(key.value, str):
            return (*holder, key.value)
    return None


def _constant_type(node: Node) -> type | None:
    """Return the type of attributes that a constant can equal, or None where that is not plain."""
    if isinstance(node, Literal):
        if isinstance(node.value, bool | str):
            return type(node.value)
        return int if isinstance(node.value, int | float | UInt) else None
    if isinstance(node, Call) and node.function == "semver" and node.target is None:
        return Semver
    return tuple if isinstance(node, ListExpr) else None


def _values(node: Node) -> tuple[Any, ...]:
    return (node.value,) if isinstance(node, Literal) else ()
