"""From a checked expression to closures: one per node, compiled once, run per device."""

from __future__ import annotations

from collections.abc import Callable

from dra_cel import types as t
from dra_cel.ast import Call, Comprehension, Ident, ListExpr, Literal, MapExpr, Message, Node, Select
from dra_cel.checker import Checked, Resolution
from dra_cel.environment import DEVICE_VARIABLE
from dra_cel.errors import CompileError, EvaluationError
from dra_cel.frame import Step
from dra_cel.plan import Plan, constant_plan
from dra_cel.plan_calls import plan_call
from dra_cel.plan_constructors import list_step, map_step, wrapper_step
from dra_cel.plan_fields import device_plan, plan_select
from dra_cel.plan_loops import plan_comprehension
from dra_cel.slices import tick
from dra_cel.values import CelMap, TypeValue

_SHORT = 16
"""Constant lists with at most so many elements are looked for among those that are there."""


class Planner:
    """Compiles one checked expression. Equal parts of it share a plan, unless they have variables of their own.

    Attributes:
        checked: the expression.
        slots: number of local variables that a frame needs.
        aborts: whether some call may raise an error that `&&` and `||` do not absorb.

    """

    def __init__(self, checked: Checked) -> None:
        self.checked = checked
        self.slots = 0
        self.aborts = False
        self._plans: dict[Node, Plan] = {}
        self._shared: dict[tuple[object, ...], Plan] = {}
        """Plans by what they are made from; what identities in the keys stand for lives as long as the planner."""
        self._device = device_plan()
        self._scopes: list[dict[str, Step]] = []

    def plan(self, node: Node) -> Plan:
        """Compile a node; each node is compiled once.

        Raises:
            CompileError: a constant that can't be converted, or an invalid constant pattern.

        """
        known = self._plans.get(node)
        if known is None:
            tick()
            known = self._plans[node] = _RULES[type(node)](self, node)
        return known

    def once(self, key: tuple[object, ...], make: Callable[[], Plan]) -> Plan:
        """Return the plan of equal parts, made for the first of them; `key` says what it is made from.

        Numbers with fractions are not shared: what is no number differs from itself, and zero is equal to minus zero.
        """
        known = self._shared.get(key)
        if known is None:
            known = make()
            if type(known.value) is not float:
                self._shared[key] = known
        return known

    def type_of(self, node: Node) -> t.Type:
        """Return the static type of a node."""
        return self.checked.types[node]

    def resolution(self, node: Node) -> Resolution:
        """Return what the checker found a call to be."""
        return self.checked.resolutions[node]

    def error(self, offset: int, message: str) -> CompileError:
        """Return an error at a position of the expression."""
        return CompileError(message, self.checked.text, offset)

    def new_slot(self) -> int:
        """Reserve a local variable."""
        self.slots += 1
        return self.slots - 1

    def enter(self, variables: dict[str, Step]) -> None:
        """Open a scope with variables."""
        self._scopes.append(variables)

    def leave(self) -> None:
        """Close the innermost scope."""
        self._scopes.pop()

    def _variable(self, name: str) -> Step | None:
        for scope in reversed(self._scopes):
            if name in scope:
                return scope[name]
        return None

    def _literal(self, node: Node) -> Plan:
        assert isinstance(node, Literal)
        value, type_ = node.value, self.type_of(node)
        return self.once((type(value), value), lambda: constant_plan(value, type_))

    def _ident(self, node: Node) -> Plan:
        assert isinstance(node, Ident)
        step = self._variable(node.name)
        if step is not None:
            type_ = self.type_of(node)
            return self.once((id(step), id(type_)), lambda: Plan(step, type_, chained=True))
        if node.name.removeprefix(".") == DEVICE_VARIABLE:
            return self._device
        return self._type_value(node)

    def _type_value(self, node: Node) -> Plan:
        type_ = self.type_of(node).params[0]
        name = type_.kind.value if type_.kind.value not in ("struct", "opaque") else type_.name
        return constant_plan(TypeValue(name), self.type_of(node))

    def _select(self, node: Node) -> Plan:
        assert isinstance(node, Select)
        if node in self.checked.resolutions:
            return self._type_value(node)
        operand, type_ = self.plan(node.operand), self.type_of(node)
        key = (id(operand), id(type_), node.field, node.test_only)
        return self.once(key, lambda: plan_select(operand, node.field, type_, node.test_only))

    def _call(self, node: Node) -> Plan:
        assert isinstance(node, Call)
        return plan_call(self, node)

    def _list(self, node: Node) -> Plan:
        assert isinstance(node, ListExpr)
        plans = [self.plan(element) for element in node.elements]
        type_ = self.type_of(node)
        if not node.optional and all(plan.constant for plan in plans):
            return self._constant_list(plans, type_)
        return Plan(list_step([plan.step for plan in plans], node.optional), type_)

    def _constant_list(self, plans: list[Plan], type_: t.Type) -> Plan:
        def make() -> Plan:
            return constant_plan(tuple([plan.value for plan in plans]), type_)

        return make() if len(plans) > _SHORT else self.once(("[]", id(type_), *map(id, plans)), make)

    def _map(self, node: Node) -> Plan:
        assert isinstance(node, MapExpr)
        pairs = [(self.plan(entry.key), self.plan(entry.value), entry.optional) for entry in node.entries]
        if all(key.constant and value.constant and not optional for key, value, optional in pairs):
            return self._constant_map(node, pairs)
        step = map_step([(key.step, value.step, optional) for key, value, optional in pairs])
        return Plan(step, self.type_of(node))

    def _constant_map(self, node: MapExpr, pairs: list[tuple[Plan, Plan, bool]]) -> Plan:
        result = CelMap()
        for key, value, _ in pairs:
            try:
                result.put(key.value, value.value)
            except EvaluationError as error:
                raise self.error(node.offset, error.message) from error
        return constant_plan(result, self.type_of(node))

    def _message(self, node: Node) -> Plan:
        assert isinstance(node, Message)
        steps = [(self.plan(field.value).step, field.optional) for field in node.fields]
        return Plan(wrapper_step(node.name.removeprefix("."), steps), self.type_of(node))

    def _comprehension(self, node: Node) -> Plan:
        assert isinstance(node, Comprehension)
        return plan_comprehension(self, node)


_RULES: dict[type[Node], Callable[[Planner, Node], Plan]] = {
    Literal: Planner._literal,
    Ident: Planner._ident,
    Select: Planner._select,
    Call: Planner._call,
    ListExpr: Planner._list,
    MapExpr: Planner._map,
    Message: Planner._message,
    Comprehension: Planner._comprehension,
}
