"""The static worst-case cost of an expression, as Kubernetes' API server computes it.

The sizes of what a device can have are limits of the API: 63 characters a driver name, 64 characters a
value or elements a list, 32 entries a map. Unknown sizes count as 2^64-1.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field

from dra_cel.ast import Call, Comprehension, Ident, ListExpr, Literal, MapExpr, Message, Node, Select
from dra_cel.checker import Checked
from dra_cel.environment import DEVICE_VARIABLE
from dra_cel.functions.charges import Estimate, Operand
from dra_cel.functions.table import Overload
from dra_cel.path import NOWHERE, Path
from dra_cel.ranges import EMPTY_UNION, NOTHING, UNIT, UNKNOWN, Range, fixed
from dra_cel.slices import tick
from dra_cel.types import Kind, Type

_LIST = fixed(10)
_MAP = fixed(30)
_MESSAGE = fixed(40)
_MAX_DRIVER = 63
_MAX_DOMAIN = 63
_MAX_ID = 32
_MAX_VALUE = 64
_MAX_ENTRIES = 32
_SCALARS = frozenset({Kind.BOOL, Kind.DOUBLE, Kind.DURATION, Kind.INT, Kind.TIMESTAMP, Kind.UINT})
_COMPUTED = frozenset({Call, Comprehension, Ident, Select})
_CONTAINERS = frozenset({Kind.MAP, Kind.STRUCT, Kind.PARAM})


@dataclass(slots=True)
class _Entries:
    """Sizes of the keys (or indices) and values of a list or map."""

    kind: Kind
    key: Range
    value: Range


@dataclass(slots=True)
class _Variable:
    path: Path
    size: Range | None
    entries: _Entries | None


@dataclass(slots=True)
class _Arguments:
    """What a call is made with, what each argument costs, and all of them."""

    target: Operand | None = None
    operands: list[Operand] = field(default_factory=list)
    costs: list[Range] = field(default_factory=list)
    total: Range = NOTHING


def estimate(checked: Checked) -> int:
    """Return the most that evaluating an expression can cost."""
    return _Estimator(checked).cost(checked.root).high


class _Estimator:
    def __init__(self, checked: Checked) -> None:
        self._checked = checked
        self._costs: dict[Node, Range] = {}
        self._paths: dict[Node, Path] = {}
        self._sizes: dict[Node, Range] = {}
        self._entries: dict[Node, _Entries] = {}
        self._variables: dict[str, list[_Variable]] = {}

    def cost(self, node: Node) -> Range:
        known = self._costs.get(node)
        if known is None:
            tick()
            known = self._costs[node] = _RULES[type(node)](self, node)
        return known

    # --- variables

    def _variable(self, name: str) -> _Variable | None:
        stack = self._variables.get(name)
        return stack[-1] if stack else None

    def _push(self, name: str, variable: _Variable) -> None:
        self._variables.setdefault(name, []).append(variable)

    def _pop(self, name: str) -> None:
        self._variables[name].pop()

    # --- sizes

    def _path(self, node: Node) -> Path:
        if isinstance(node, Ident):
            variable = self._variable(node.name)
            if variable is not None:
                return variable.path
        return self._paths.get(node, NOWHERE)

    def _size(self, node: Node) -> Range | None:
        """Return the size of a node's value, or None where nothing is known."""
        if node in self._sizes:
            return self._sizes[node]
        size = _written_size(node)
        if size is not None:
            return size
        path = self._path(node)
        if path.variable == DEVICE_VARIABLE:
            size = _declared_size(path.names())
            if size is not None:
                self._sizes[node] = size
                return size
        if _is_scalar(self._checked.types[node]):
            return UNIT
        if isinstance(node, Ident):
            variable = self._variable(node.name)
            if variable is not None:
                return variable.size
        return None

    def _known_size(self, node: Node) -> Range:
        size = self._size(node)
        return UNKNOWN if size is None else size

    def _set_size(self, node: Node, size: Range | None) -> None:
        if size is not None:
            self._sizes[node] = size

    def _entries_of(self, node: Node) -> _Entries | None:
        if node in self._entries:
            return self._entries[node]
        if isinstance(node, Ident):
            variable = self._variable(node.name)
            if variable is not None:
                return variable.entries
        return None

    def _set_entries(self, node: Node, entries: _Entries | None) -> None:
        if entries is not None:
            self._entries[node] = entries

    # --- nodes

    def _literal(self, node: Node) -> Range:
        return NOTHING

    def _ident(self, node: Node) -> Range:
        assert isinstance(node, Ident)
        variable = self._variable(node.name)
        self._paths[node] = Path.of(node.name.removeprefix(".")) if variable is None else variable.path
        return UNIT

    def _select(self, node: Node) -> Range:
        assert isinstance(node, Select)
        if node in self._checked.resolutions:
            return UNIT
        total = self.cost(node.operand)
        if node.test_only:
            return total
        if self._checked.types[node.operand].kind in _CONTAINERS:
            total = total.plus(UNIT)
        self._paths[node] = self._path(node.operand).extended(node.field)
        return total

    def _list(self, node: Node) -> Range:
        assert isinstance(node, ListExpr)
        total = _LIST
        sizes = EMPTY_UNION if node.elements else NOTHING
        for element in node.elements:
            total = total.plus(self.cost(element))
            sizes = sizes.union(self._known_size(element))
        self._entries[node] = _Entries(Kind.LIST, UNIT, sizes)
        return total

    def _map(self, node: Node) -> Range:
        assert isinstance(node, MapExpr)
        total = _MAP
        keys = values = EMPTY_UNION if node.entries else NOTHING
        for entry in node.entries:
            total = total.plus(self.cost(entry.key)).plus(self.cost(entry.value))
            keys = keys.union(self._known_size(entry.key))
            values = values.union(self._known_size(entry.value))
        self._entries[node] = _Entries(Kind.MAP, keys, values)
        return total

    def _message(self, node: Node) -> Range:
        assert isinstance(node, Message)
        total = _MESSAGE
        for part in node.fields:
            total = total.plus(self.cost(part.value))
        return total

    # --- calls

    def _call(self, node: Node) -> Range:
        assert isinstance(node, Call)
        resolution = self._checked.resolutions[node]
        if node.function == "dyn" and node.target is None:
            argument = node.args[0]
            total = self.cost(argument).plus(UNIT)
            self._set_size(node, self._size(argument))
            self._set_entries(node, self._entries_of(argument))
            return total
        given = _Arguments()
        for argument in node.args:
            cost = self.cost(argument)
            given.costs.append(cost)
            given.total = given.total.plus(cost)
            given.operands.append(self._operand(argument))
        total = NOTHING
        if node.target is not None and not resolution.namespaced:
            total = self.cost(node.target)
            given.target = self._operand(node.target)
        return total.plus(self._overloads(node, resolution.overloads, given))

    def _overloads(self, node: Call, overloads: tuple[Overload, ...], given: _Arguments) -> Range:
        """Return the range that covers all overloads that may be called."""
        total = EMPTY_UNION
        result_size: Range | None = None
        for overload in _different(overloads):
            found = self._one(node, overload, given)
            total = total.union(found.cost)
            if found.result_size is not None:
                size = found.result_size
                result_size = size if result_size is None else result_size.union(size)
            if overload.id in ("index_list", "index_map"):
                entries = self._entries_of(node.args[0])
                result_size = None if entries is None else entries.value
                suffix = "@items" if overload.id == "index_list" else "@values"
                self._paths[node] = self._path(node.args[0]).extended(suffix)
            if result_size is None:
                result_size = self._size(node)
        self._set_size(node, result_size)
        return total

    def _one(self, node: Call, overload: Overload, given: _Arguments) -> Estimate:
        costs = given.costs
        if overload.id in ("logical_or", "logical_and"):
            return Estimate(Range(costs[0].low, costs[0].plus(costs[1]).high))
        rule = overload.charge.estimate
        found = rule(given.target, given.operands) if rule is not None else None
        if overload.id == "conditional":
            self._join_entries(node, node.args[1], node.args[2])
            assert found is not None
            return Estimate(costs[0].plus(costs[1].union(costs[2])), found.result_size)
        if overload.id in _JOINS_ENTRIES:
            self._join_entries(node, node.args[0], node.args[1])
        if found is None:
            return Estimate(UNIT.plus(given.total))
        return Estimate(found.cost.plus(given.total), found.result_size)

    def _join_entries(self, node: Node, left: Node, right: Node) -> None:
        mine, other = self._entries_of(left), self._entries_of(right)
        if mine is not None and other is not None:
            self._entries[node] = _Entries(mine.kind, mine.key.union(other.key), mine.value.union(other.value))

    def _operand(self, node: Node) -> Operand:
        type_ = self._checked.types[node]
        path = self._path(node)
        element: Range | None = None
        if path.variable == DEVICE_VARIABLE:
            element = _declared_size((*path.names(), "@items"))
        size = self._size(node)
        return Operand(node, type_, UNKNOWN if size is None else size, UNKNOWN if element is None else element, size)

    # --- loops

    def _comprehension(self, node: Node) -> Range:
        assert isinstance(node, Comprehension)
        total = self.cost(node.iter_range).plus(self.cost(node.initial))
        self._push(
            node.accumulator,
            _Variable(self._path(node.initial), self._size(node.initial), self._entries_of(node.initial)),
        )
        if node.macro == "bind":
            total = total.plus(self.cost(node.result))
            self._pop(node.accumulator)
            # The variable is out of scope already, so its size counts as unknown here: Kubernetes' rule.
            self._set_size(node, self._size(node.result))
            self._set_entries(node, self._entries_of(node.result))
            return total
        self._push_loop_variables(node)
        turn = self.cost(node.condition).plus(self.cost(node.step))
        self._pop(node.iter_var)
        if node.iter_var2:
            self._pop(node.iter_var2)
        total = total.plus(self.cost(node.result))
        self._pop(node.accumulator)
        count = self._known_size(node.iter_range)
        if isinstance(node.initial, Literal):
            self._set_size(node, self._size(node.initial))
        else:
            self._set_size(node, count)
            self._set_entries(node, self._entries_of(node.step))
        return total.plus(count.times(turn))

    def _push_loop_variables(self, node: Comprehension) -> None:
        entries = self._entries_of(node.iter_range)
        kind = self._checked.types[node.iter_range].kind if entries is None else entries.kind
        is_list = kind is Kind.LIST
        path = self._path(node.iter_range)
        key_size, value_size = (None, None) if entries is None else (entries.key, entries.value)
        key, value = ("@indices", "@items") if is_list else ("@keys", "@values")
        if node.iter_var2:
            self._push(node.iter_var, _Variable(path.extended(key), key_size, None))
            self._push(node.iter_var2, _Variable(path.extended(value), value_size, None))
        elif is_list:
            self._push(node.iter_var, _Variable(path.extended(value), value_size, None))
        else:
            self._push(node.iter_var, _Variable(path.extended(key), key_size, None))


_JOINS_ENTRIES = frozenset({"add_string", "add_bytes", "add_list"})
_RULES_OF_THEIR_OWN = frozenset({"logical_or", "logical_and", "conditional", "index_list", "index_map"})


@functools.lru_cache(maxsize=1024)
def _different(overloads: tuple[Overload, ...]) -> tuple[Overload, ...]:
    """Return the first overload of each rule: the others say the same about a call."""
    rules: dict[object, Overload] = {}
    for overload in overloads:
        own = overload.id if overload.id in _RULES_OF_THEIR_OWN else overload.id in _JOINS_ENTRIES
        rules.setdefault((overload.charge.estimate, own), overload)
    return tuple(rules.values())


_RULES: dict[type[Node], Callable[[_Estimator, Node], Range]] = {
    Literal: _Estimator._literal,
    Ident: _Estimator._ident,
    Select: _Estimator._select,
    Call: _Estimator._call,
    ListExpr: _Estimator._list,
    MapExpr: _Estimator._map,
    Message: _Estimator._message,
    Comprehension: _Estimator._comprehension,
}


def _written_size(node: Node) -> Range | None:
    """Return the size of what is written out."""
    if type(node) in _COMPUTED:
        return None
    if isinstance(node, Literal):
        return fixed(len(node.value) if isinstance(node.value, str | bytes) else 1)
    if isinstance(node, ListExpr):
        return fixed(len(node.elements))
    if isinstance(node, MapExpr):
        return fixed(len(node.entries))
    return None


def _is_scalar(type_: Type) -> bool:
    return type_.kind in _SCALARS or (type_.is_optional and _is_scalar(type_.params[0]))


def _declared_size(path: tuple[str, ...]) -> Range | None:
    """Return the limit of what a path leads to."""
    if not path or path[0] != DEVICE_VARIABLE:
        return None
    most = _limit(path[1:])
    return None if most is None else Range(0, most)


def _limit(path: tuple[str, ...]) -> int | None:
    """Return the most that a field of the device, given by the rest of its path, can have."""
    if not path:
        return 0
    field, *rest = path
    if field == "driver":
        return _MAX_DRIVER if not rest else None
    if field == "allowMultipleAllocations":
        return 1 if not rest else None
    if field not in ("attributes", "capacity"):
        return None
    return _limit_in_map(rest, field == "attributes")


def _limit_in_map(rest: list[str], attributes: bool) -> int | None:
    if not rest:
        return _MAX_ENTRIES
    if rest[0] == "@keys":
        return _MAX_DOMAIN if len(rest) == 1 else None
    if rest[0] not in ("@values", "@items"):
        return None
    if len(rest) == 1:
        return _MAX_ENTRIES
    if rest[1] == "@keys":
        return _MAX_ID if len(rest) == 2 else None
    if len(rest) > 2 or (not attributes and rest[1] not in ("@values", "@items")):
        return None
    return _MAX_VALUE if attributes else 0
