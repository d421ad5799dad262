"""Lists and maps must have elements of one type, dyn included, where they are written."""

from __future__ import annotations

from dra_cel.ast import Call, ListExpr, MapExpr, Node, children
from dra_cel.checker import Checked
from dra_cel.errors import CompileError
from dra_cel.format_check import check_format
from dra_cel.slices import tick
from dra_cel.types import Type


def check_literals(checked: Checked) -> None:
    """Check every list and map that is written in an expression; what is formatted may be mixed.

    Raises:
        CompileError: two elements, keys or values of one literal differ in type.

    """
    if checked.uniform:
        return
    pending = [checked.root]
    seen: set[Node] = set()
    exempt: set[Node] = set()
    while pending:
        tick()
        node = pending.pop()
        if node in seen:
            continue
        seen.add(node)
        parts = children(node)
        if isinstance(node, Call) and node.function == "format" and node.target is not None:
            check_format(checked, node)
            exempt.update(parts)
        elif node in exempt:
            exempt.update(parts)
        elif isinstance(node, ListExpr):
            _check_list(checked, node)
        elif isinstance(node, MapExpr):
            _check_map(checked, node)
        pending.extend(reversed(parts))


def _check_list(checked: Checked, node: ListExpr) -> None:
    expected: Type | None = None
    for index, element in enumerate(node.elements):
        found = _unwrapped(checked.types[element], index in node.optional)
        expected = _same(checked, element, expected, found)


def _check_map(checked: Checked, node: MapExpr) -> None:
    key_type: Type | None = None
    value_type: Type | None = None
    for entry in node.entries:
        key_type = _same(checked, entry.key, key_type, checked.types[entry.key])
        value_type = _same(checked, entry.value, value_type, _unwrapped(checked.types[entry.value], entry.optional))


def _unwrapped(type_: Type, optional: bool) -> Type:
    return type_.params[0] if optional and type_.params else type_


def _same(checked: Checked, node: Node, expected: Type | None, found: Type) -> Type:
    tick()
    if expected is None:
        return found
    if expected is not found and expected != found:
        message = f"expected type '{expected}' but found '{found}'"
        raise CompileError(message, checked.text, node.offset)
    return expected
