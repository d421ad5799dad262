"""Macros: calls that the parser replaces by comprehensions and presence tests.

`has`, `all`, `exists`, `exists_one`, `map`, `filter`, their two-variable forms, `transformList`,
`transformMap`, `transformMapEntry`, `optMap`, `optFlatMap`, `sortBy` and `cel.bind`. The shapes are
CEL's own, because Kubernetes' cost limits count their parts. A node may occur twice in the result
(`optMap`): whoever walks the tree has to remember nodes it has seen.
"""

from __future__ import annotations

from collections.abc import Callable

from dra_cel.ast import Call, Comprehension, Ident, ListExpr, Literal, MapExpr, Node, Select
from dra_cel.errors import CompileError

ACCUMULATOR = "@result"
UNUSED_VARIABLE = "#unused"
SORT_INPUT = "@__sortBy_input__"
MAP_INSERT = "cel.@mapInsert"
SORT_BY_KEYS = "@sortByAssociatedKeys"

_RESERVED_VARIABLES = (ACCUMULATOR, "__result__")


class Expander:
    """Expands the macros of one expression."""

    def __init__(self, expression: str) -> None:
        self._expression = expression

    def expand_global(self, offset: int, function: str, args: tuple[Node, ...]) -> Node | None:
        """Return what `function(args)` stands for, or None where it is no macro."""
        if function != "has" or len(args) != 1:
            return None
        argument = args[0]
        if not isinstance(argument, Select) or argument.test_only:
            raise self._error(argument, "has() takes a field selection, as in has(a.b)")
        return Select(offset, argument.operand, argument.field, test_only=True)

    def expand_member(self, offset: int, function: str, target: Node, args: tuple[Node, ...]) -> Node | None:
        """Return what `target.function(args)` stands for, or None where it is no macro.

        Raises:
            CompileError: the macro's variables are no simple names.

        """
        expand = _MEMBER_MACROS.get((function, len(args)))
        return expand(self, offset, target, args) if expand else None

    def _error(self, node: Node, message: str) -> CompileError:
        return CompileError(message, self._expression, node.offset)

    def _variable(self, node: Node) -> str:
        if not isinstance(node, Ident):
            raise self._error(node, "the macro's variable must be a simple name")
        if node.name in _RESERVED_VARIABLES:
            raise self._error(node, f"the macro's variable can't have the reserved name {node.name}")
        return node.name

    def _two_variables(self, first: Node, second: Node) -> tuple[str, str]:
        names = self._variable(first), self._variable(second)
        if names[0] == names[1]:
            raise self._error(second, f"duplicate variable name {names[1]}")
        return names

    def _variables(self, args: tuple[Node, ...], count: int) -> tuple[str, str]:
        return self._two_variables(args[0], args[1]) if count == 2 else (self._variable(args[0]), "")


Macro = Callable[[Expander, int, Node, tuple[Node, ...]], Node | None]


def _accu(offset: int) -> Ident:
    return Ident(offset, ACCUMULATOR)


def _call(offset: int, function: str, *args: Node) -> Call:
    return Call(offset, function, None, args)


def _all(variables: int) -> Macro:
    def expand(expander: Expander, at: int, target: Node, args: tuple[Node, ...]) -> Node:
        first, second = expander._variables(args, variables)
        condition = _call(at, "@not_strictly_false", _accu(at))
        step = _call(at, "_&&_", _accu(at), args[-1])
        return Comprehension(
            at, "all", target, first, second, ACCUMULATOR, Literal(at, True), condition, step, _accu(at)
        )

    return expand


def _exists(variables: int) -> Macro:
    def expand(expander: Expander, at: int, target: Node, args: tuple[Node, ...]) -> Node:
        first, second = expander._variables(args, variables)
        condition = _call(at, "@not_strictly_false", _call(at, "!_", _accu(at)))
        step = _call(at, "_||_", _accu(at), args[-1])
        return Comprehension(
            at, "exists", target, first, second, ACCUMULATOR, Literal(at, False), condition, step, _accu(at)
        )

    return expand


def _exists_one(variables: int) -> Macro:
    def expand(expander: Expander, at: int, target: Node, args: tuple[Node, ...]) -> Node:
        first, second = expander._variables(args, variables)
        step = _call(at, "_?_:_", args[-1], _call(at, "_+_", _accu(at), Literal(at, 1)), _accu(at))
        result = _call(at, "_==_", _accu(at), Literal(at, 1))
        return Comprehension(
            at, "exists_one", target, first, second, ACCUMULATOR, Literal(at, 0), Literal(at, True), step, result
        )

    return expand


def _transform(expander: Expander, at: int, target: Node, args: tuple[Node, ...], variables: int) -> Node:
    first, second = expander._variables(args, variables)
    step: Node = _call(at, "_+_", _accu(at), ListExpr(at, (args[-1],)))
    if len(args) == variables + 2:
        step = _call(at, "_?_:_", args[-2], step, _accu(at))
    return Comprehension(
        at, "list", target, first, second, ACCUMULATOR, ListExpr(at, ()), Literal(at, True), step, _accu(at)
    )


def _transform_list(variables: int) -> Macro:
    def expand(expander: Expander, at: int, target: Node, args: tuple[Node, ...]) -> Node:
        return _transform(expander, at, target, args, variables)

    return expand


def _filter(expander: Expander, at: int, target: Node, args: tuple[Node, ...]) -> Node:
    return _transform(expander, at, target, (args[0], args[1], args[0]), 1)


def _transform_map(with_key: bool) -> Macro:
    def expand(expander: Expander, at: int, target: Node, args: tuple[Node, ...]) -> Node:
        first, second = expander._variables(args, 2)
        inserted = (Ident(at, first), args[-1]) if with_key else (args[-1],)
        step: Node = _call(at, MAP_INSERT, _accu(at), *inserted)
        if len(args) == 4:
            step = _call(at, "_?_:_", args[-2], step, _accu(at))
        return Comprehension(
            at,
            "map" if with_key else "map_entry",
            target,
            first,
            second,
            ACCUMULATOR,
            MapExpr(at, ()),
            Literal(at, True),
            step,
            _accu(at),
        )

    return expand


def bind(at: int, name: str, initial: Node, result: Node) -> Comprehension:
    """Return `cel.bind(name, initial, result)`: a loop over nothing whose accumulator is the variable."""
    return Comprehension(
        at,
        "bind",
        ListExpr(at, ()),
        UNUSED_VARIABLE,
        "",
        name,
        initial,
        Literal(at, False),
        Ident(at, name),
        result,
    )


def _bind(expander: Expander, at: int, target: Node, args: tuple[Node, ...]) -> Node | None:
    if not isinstance(target, Ident) or target.name not in ("cel", ".cel"):
        return None
    return bind(at, _simple_name(expander, args[0], "cel.bind()"), args[1], args[2])


def _optional_map(flat: bool) -> Macro:
    def expand(expander: Expander, at: int, target: Node, args: tuple[Node, ...]) -> Node:
        name = _simple_name(expander, args[0], "optFlatMap()" if flat else "optMap()")
        mapped: Node = bind(at, name, Call(at, "value", target, ()), args[1])
        if not flat:
            mapped = _call(at, "optional.of", mapped)
        return _call(at, "_?_:_", Call(at, "hasValue", target, ()), mapped, _call(at, "optional.none"))

    return expand


def _sort_by(expander: Expander, at: int, target: Node, args: tuple[Node, ...]) -> Node:
    if isinstance(target, Literal | MapExpr):
        raise expander._error(target, "sortBy() can't be applied to a literal or a map")
    keys = _transform(expander, at, Ident(at, SORT_INPUT), args, 1)
    return bind(at, SORT_INPUT, target, Call(at, SORT_BY_KEYS, Ident(at, SORT_INPUT), (keys,)))


def _simple_name(expander: Expander, node: Node, macro: str) -> str:
    if not isinstance(node, Ident):
        raise expander._error(node, f"the variable of {macro} must be a simple name")
    return node.name


_MEMBER_MACROS: dict[tuple[str, int], Macro] = {
    ("all", 2): _all(1),
    ("all", 3): _all(2),
    ("exists", 2): _exists(1),
    ("exists", 3): _exists(2),
    ("exists_one", 2): _exists_one(1),
    ("exists_one", 3): _exists_one(2),
    ("existsOne", 3): _exists_one(2),
    ("map", 2): _transform_list(1),
    ("map", 3): _transform_list(1),
    ("filter", 2): _filter,
    ("transformList", 3): _transform_list(2),
    ("transformList", 4): _transform_list(2),
    ("transformMap", 3): _transform_map(True),
    ("transformMap", 4): _transform_map(True),
    ("transformMapEntry", 3): _transform_map(False),
    ("transformMapEntry", 4): _transform_map(False),
    ("bind", 3): _bind,
    ("optMap", 2): _optional_map(False),
    ("optFlatMap", 2): _optional_map(True),
    ("sortBy", 2): _sort_by,
}
