"""The static checker: names, types and overloads, by the rules of CEL's own checker."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dra_cel import types as t
from dra_cel.ast import (
    Call,
    Comprehension,
    Ident,
    ListExpr,
    Literal,
    MapExpr,
    Message,
    Node,
    Select,
)
from dra_cel.environment import DEVICE_VARIABLE, MESSAGE_FIELDS, UNSUPPORTED_MESSAGES, Environment
from dra_cel.errors import CompileError
from dra_cel.functions.table import Overload
from dra_cel.overloads import match
from dra_cel.slices import paced, tick
from dra_cel.suggestion import closest, for_arguments
from dra_cel.types import Kind, Type
from dra_cel.uint import UInt
from dra_cel.unification import Unifier

MAX_TYPE_SIZE = 10_000
"""Types with more parts than this are refused: they could double with every nested literal."""

_LITERAL_TYPES: dict[type, Type] = {
    bool: t.BOOL,
    int: t.INT,
    UInt: t.UINT,
    float: t.DOUBLE,
    str: t.STRING,
    bytes: t.BYTES,
    type(None): t.NULL,
}


@dataclass(slots=True, eq=False)
class Resolution:
    """What the checker found a name or a call to be. Nothing changes it; see `ast` for why it is not frozen.

    Attributes:
        type_name: set where the node is the name of a type.
        overloads: for calls, those that can apply.
        namespaced: the call's target is part of the function's name (`lists.range`), not a value.

    """

    type_name: str | None = None
    overloads: tuple[Overload, ...] = ()
    namespaced: bool = False


_EQUALITY = frozenset({"_==_", "_!=_"})


@dataclass(frozen=True, slots=True)
class Checked:
    """A checked expression.

    Attributes:
        text: the expression.
        root: its tree.
        types: static type of every node.
        resolutions: of calls, and of names that are not variables.
        uniform: whether the elements of each list and map are surely of one type, and nothing is formatted.

    """

    text: str
    root: Node
    types: dict[Node, Type]
    resolutions: dict[Node, Resolution]
    uniform: bool

    @property
    def result(self) -> Type:
        """Static type of the whole expression."""
        return self.types[self.root]


def check(text: str, root: Node, environment: Environment) -> Checked:
    """Check an expression.

    Raises:
        CompileError: an unknown name, no matching overload, or types that do not fit.

    """
    return _Checker(text, environment).run(root)


class _Checker:
    def __init__(self, text: str, environment: Environment) -> None:
        self._text = text
        self._environment = environment
        self._unifier = Unifier()
        self._types: dict[Node, Type] = {}
        self._open: list[Node] = []
        self._uniform = True
        self._resolutions: dict[Node, Resolution] = {}
        self._names: dict[Node, str | None] = {}
        self._scopes: list[dict[str, Type]] = [{DEVICE_VARIABLE: t.DEVICE}]
        self._index = environment.functions
        self._shared: dict[int, Resolution] = {}

    def run(self, root: Node) -> Checked:
        self._check(root)
        known: dict[int, Type] = {}
        closed: dict[Node, Type] = {}
        for node in paced(self._open):
            closed[node] = self._unifier.closed(self._types[node], known)
        self._types.update(closed)
        return Checked(self._text, root, self._types, self._resolutions, self._uniform)

    def _error(self, offset: int, message: str, suggestion: str | None = None) -> CompileError:
        return CompileError(message, self._text, offset, suggestion)

    def _check(self, node: Node) -> Type:
        known = self._types.get(node)
        if known is None:
            tick()
            known = _RULES[type(node)](self, node)
            if known.size > MAX_TYPE_SIZE:
                raise self._error(node.offset, f"the type has more than {MAX_TYPE_SIZE} parts")
            if known.is_open:
                self._open.append(node)
            self._types[node] = known
        return known

    def _expect(self, offset: int, source: Type, target: Type) -> None:
        if not self._unifier.assignable(source, target):
            raise self._mismatch(offset, source, target)

    def _mismatch(self, offset: int, expected: Type, found: Type) -> CompileError:
        expected, found = (self._unifier.closed(type_, {}) for type_ in (expected, found))
        return self._error(offset, f"expected type '{expected}' but found '{found}'")

    # --- names

    def _qualified_name(self, node: Node) -> str | None:
        """Return `a.b.c` where the node is a chain of plain names, else None."""
        if isinstance(node, Ident):
            return node.name
        if not isinstance(node, Select) or node.test_only:
            return None
        if node not in self._names:
            operand = self._qualified_name(node.operand)
            self._names[node] = None if operand is None else f"{operand}.{node.field}"
        return self._names[node]

    def _lookup(self, name: str) -> Type | None:
        if name.startswith("."):
            return self._scopes[0].get(name[1:])
        for scope in reversed(self._scopes):
            if name in scope:
                return scope[name]
        return None

    def _type_name(self, node: Node, name: str) -> Type | None:
        type_ = self._environment.type_names.get(name.removeprefix("."))
        if type_ is None:
            return None
        self._resolutions[node] = Resolution(type_name=name.removeprefix("."))
        return t.type_of(type_)

    def _literal(self, node: Node) -> Type:
        assert isinstance(node, Literal)
        return _LITERAL_TYPES[type(node.value)]

    def _ident(self, node: Node) -> Type:
        assert isinstance(node, Ident)
        found = self._lookup(node.name) or self._type_name(node, node.name)
        if found is None:
            names = {name for scope in self._scopes for name in scope} | set(self._environment.type_names)
            raise self._error(node.offset, f"undeclared reference to '{node.name}'", closest(node.name, names))
        return found

    def _select(self, node: Node) -> Type:
        assert isinstance(node, Select)
        name = self._qualified_name(node)
        if name is not None and self._lookup(name.split(".", 1)[0]) is None:
            found = self._type_name(node, name)
            if found is not None:
                return found
        result = self._field(node.offset, node.operand, node.field, optional=False)
        return t.BOOL if node.test_only else result

    def _field(self, offset: int, operand: Node, field: str, optional: bool) -> Type:
        target = self._unifier.substitute(self._check(operand))
        if target.is_optional:
            optional = True
            target = target.params[0]
        if target.kind is Kind.MAP:
            result = target.params[1]
        elif target.kind is Kind.STRUCT:
            result = self._struct_field(offset, target, field)
        elif target.kind is Kind.PARAM:
            self._unifier.assignable(t.DYN, target)
            result = t.DYN
        elif target.is_dyn:
            result = t.DYN
        else:
            raise self._error(offset, f"type '{target}' does not support field selection")
        return self._unifier.substitute(t.optional_of(result) if optional else result)

    def _struct_field(self, offset: int, target: Type, field: str) -> Type:
        fields = self._environment.device_fields if target == t.DEVICE else {}
        if field not in fields:
            raise self._error(offset, f"undefined field '{field}'", closest(field, fields))
        return fields[field]

    # --- calls

    def _call(self, node: Node) -> Type:
        assert isinstance(node, Call)
        if node.function == "_?._":
            return self._optional_select(node)
        for argument in node.args:
            self._check(argument)
        if node.target is None:
            return self._resolve(node, node.function, None)
        prefix = self._qualified_name(node.target)
        if prefix is not None and f"{prefix}.{node.function}".removeprefix(".") in self._index:
            return self._resolve(node, f"{prefix}.{node.function}", None, namespaced=True)
        self._check_target(node, prefix)
        return self._resolve(node, node.function, node.target)

    def _check_target(self, node: Call, prefix: str | None) -> None:
        """Check a receiver; for an unknown namespace the closest function with one is suggested."""
        assert node.target is not None
        root = "" if prefix is None else prefix.split(".", 1)[0]
        if root and self._lookup(root) is None and root not in self._environment.type_names:
            hint = closest(f"{prefix}.{node.function}", (known for known in self._index if "." in known))
            if hint is not None:
                raise self._error(node.target.offset, f"undeclared reference to '{root}'", hint)
        self._check(node.target)

    def _optional_select(self, node: Call) -> Type:
        operand, field = node.args
        assert isinstance(field, Literal)
        self._check(field)
        self._resolutions[node] = self._resolution(self._index[node.function])
        return self._field(node.offset, operand, str(field.value), optional=True)

    def _resolve(self, node: Call, name: str, target: Node | None, namespaced: bool = False) -> Type:
        name = name.removeprefix(".")
        entries = self._index.get(name)
        if entries is None:
            names = (known for known in self._index if "." not in known)
            raise self._error(node.offset, f"undeclared reference to '{name}'", closest(name, names))
        operands = node.args if target is None else (target, *node.args)
        args = [self._types[operand] for operand in operands]
        if name in ("_&&_", "_||_"):
            for operand, arg in zip(operands, args, strict=True):
                self._expect_bool(operand, arg)
            self._resolutions[node] = self._resolution(entries)
            return t.BOOL
        if name in _EQUALITY and len(args) == 2:
            # The general rule would bind a fresh parameter to the left side and then try the right one.
            if args[0] is not args[1] and not self._unifier.assignable(args[1], args[0]):
                raise self._no_overload(node, name, args, False)
            self._resolutions[node] = self._resolution(entries)
            return t.BOOL
        result, applicable = match(self._environment, self._unifier, name, args, target is not None)
        if result is None:
            raise self._no_overload(node, name, args, target is not None)
        if name == "format":
            self._uniform = False
        self._resolutions[node] = self._resolution(applicable, namespaced)
        return result

    def _resolution(self, overloads: tuple[Overload, ...], namespaced: bool = False) -> Resolution:
        """Return what a call is; calls with the same overloads share it."""
        known = self._shared.get(id(overloads))
        if known is None or known.namespaced is not namespaced:
            known = self._shared[id(overloads)] = Resolution(None, overloads, namespaced)
        return known

    def _expect_bool(self, operand: Node, type_: Type) -> None:
        if type_ is not t.BOOL and not self._unifier.assignable(type_, t.BOOL):
            raise self._mismatch(operand.offset, t.BOOL, type_)

    def _no_overload(self, node: Call, name: str, args: Sequence[Type], member: bool) -> CompileError:
        shown = [self._unifier.closed(arg, {}) for arg in args]
        signature = f"({', '.join(map(str, shown))})"
        if member:
            signature = f"{shown[0]}.({', '.join(map(str, shown[1:]))})"
        message = f"found no matching overload for '{name}' applied to '{signature}'"
        return self._error(node.offset, message, for_arguments(name, shown))

    # --- constructors

    def _join(self, previous: Type | None, current: Type) -> Type:
        """Return the common type of two elements; mixed literals are refused later, see `literal_types`."""
        if previous is None or previous is current:
            return current
        self._uniform = False
        return self._unifier.union(previous, current) or t.DYN

    def _element(self, node: Node, optional: bool) -> Type:
        type_ = self._check(node)
        if not optional or type_.is_dyn:
            return type_
        if not type_.is_optional:
            raise self._mismatch(node.offset, t.optional_of(type_), type_)
        return type_.params[0]

    def _list(self, node: Node) -> Type:
        assert isinstance(node, ListExpr)
        element: Type | None = None
        for index, item in enumerate(node.elements):
            current = self._element(item, True) if index in node.optional else self._check(item)
            element = current if element is current else self._join(element, current)
        return t.list_of(element or self._unifier.fresh())

    def _map(self, node: Node) -> Type:
        assert isinstance(node, MapExpr)
        key: Type | None = None
        value: Type | None = None
        for entry in node.entries:
            key = self._join(key, self._check(entry.key))
            value = self._join(value, self._element(entry.value, entry.optional))
        return t.map_of(key or self._unifier.fresh(), value or self._unifier.fresh())

    def _message(self, node: Node) -> Type:
        assert isinstance(node, Message)
        name = node.name.removeprefix(".")
        type_ = self._environment.type_names.get(name)
        if name in UNSUPPORTED_MESSAGES:
            raise self._error(node.offset, f"not supported yet: constructing objects of type '{name}'")
        if type_ is None:
            known = closest(name, self._environment.type_names)
            raise self._error(node.offset, f"undeclared reference to '{name}'", known)
        fields = MESSAGE_FIELDS.get(name)
        if fields is None:
            raise self._error(node.offset, f"'{name}' is not a message type")
        for field in node.fields:
            value = self._element(field.value, field.optional)
            if field.name not in fields:
                raise self._error(field.offset, f"undefined field '{field.name}'", closest(field.name, fields))
            self._expect(field.offset, fields[field.name], value)
        return type_

    # --- loops

    def _comprehension(self, node: Node) -> Type:
        assert isinstance(node, Comprehension)
        range_type = self._unifier.substitute(self._check(node.iter_range))
        accumulator = self._check(node.initial)
        variables = self._loop_variables(node, range_type)
        self._scopes.append({node.accumulator: accumulator})
        self._scopes.append(variables)
        self._expect(node.condition.offset, t.BOOL, self._check(node.condition))
        self._expect(node.step.offset, accumulator, self._check(node.step))
        self._scopes.pop()
        result = self._check(node.result)
        self._scopes.pop()
        return self._unifier.substitute(result)

    def _loop_variables(self, node: Comprehension, range_type: Type) -> dict[str, Type]:
        if range_type.kind is Kind.LIST:
            first, second = t.INT, range_type.params[0]
            if not node.iter_var2:
                first = second
        elif range_type.kind is Kind.MAP:
            first, second = range_type.params
        elif range_type.kind is Kind.DYN or range_type.kind is Kind.PARAM:
            self._unifier.assignable(t.DYN, range_type)
            first = second = t.DYN
        else:
            raise self._not_a_range(node, range_type)
        return {node.iter_var: first, node.iter_var2: second} if node.iter_var2 else {node.iter_var: first}

    def _not_a_range(self, node: Comprehension, range_type: Type) -> CompileError:
        shown = "any" if range_type.kind is Kind.ANY else range_type
        return self._error(
            node.iter_range.offset,
            f"expression of type '{shown}' cannot be range of a comprehension (must be list, map, or dynamic)",
        )


_RULES: dict[type[Node], Callable[[_Checker, Node], Type]] = {
    Literal: _Checker._literal,
    Ident: _Checker._ident,
    Select: _Checker._select,
    Call: _Checker._call,
    ListExpr: _Checker._list,
    MapExpr: _Checker._map,
    Message: _Checker._message,
    Comprehension: _Checker._comprehension,
}
