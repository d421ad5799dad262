"""Calls of functions and operators."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from dra_cel import plan_fields, plan_logic
from dra_cel.ast import Call, Literal
from dra_cel.call_steps import call_step
from dra_cel.checker import Resolution
from dra_cel.device import DeviceFields
from dra_cel.dispatch import settled
from dra_cel.errors import EvaluationError
from dra_cel.frame import Frame, Step
from dra_cel.functions.catalogue import OVERLOADS
from dra_cel.functions.charges import ONE
from dra_cel.functions.conversions import CONVERSIONS
from dra_cel.functions.regexes import compile_pattern
from dra_cel.functions.table import Overload
from dra_cel.plan import Plan, constant_plan
from dra_cel.plan_membership import membership_step
from dra_cel.types import BOOL, Type
from dra_cel.values import MISSING, CelMap, Optional

if TYPE_CHECKING:
    from dra_cel.planner import Planner

_GROWING = frozenset({"replace", "split", "findAll", "format", "join", "lists.range", "strings.quote"})
"""Functions whose result can be much longer than their arguments: never computed in advance."""
_CONTAINERS = frozenset({tuple, CelMap, Optional})
_BY_VALUES = {
    name: [entry for entry in OVERLOADS if entry.function == name]
    for name in ("_+_", "_-_", "_*_", "_/_", "_%_", "-_", "_<_", "_<=_", "_>_", "_>=_", "size")
}
"""Functions that look at the values only: which overload the checker chose for dynamic parts does not matter."""
_NO_DEVICE = DeviceFields("")
_LITERAL_CHECKS = frozenset({"duration", "timestamp", "matches"})
_PATTERN_POSITION = {"matches": 1, "find": 1, "findAll": 1}


def plan_call(planner: Planner, node: Call) -> Plan:
    """Compile a call.

    Raises:
        CompileError: a constant that can't be converted, or an invalid constant pattern.

    """
    resolution = planner.resolution(node)
    operands = list(node.args)
    if node.target is not None and not resolution.namespaced:
        operands.insert(0, node.target)
    plans = [planner.plan(operand) for operand in operands]
    type_ = planner.type_of(node)
    key = (id(resolution), id(type_), *map(id, plans))
    return planner.once(key, lambda: _plan_operands(planner, node, resolution, plans))


def _plan_operands(planner: Planner, node: Call, resolution: Resolution, plans: Sequence[Plan]) -> Plan:
    type_ = planner.type_of(node)
    name = resolution.overloads[0].function
    if name in ("_[_]", "_[?_]") and plans[1].constant and type(plans[1].value) not in plan_fields.KEYS:
        raise planner.error(node.offset, f"a '{plans[1].type}' can't be an index or a key")
    special = _SPECIAL.get(name)
    if special is not None:
        return special(plans, type_)
    if name == "@in" and len(resolution.overloads) == 1 and resolution.overloads[0].id == "in_list":
        step = membership_step(plans[0], plans[1])
        if step is not None:
            return Plan(step, type_) if plans[1].value else constant_plan(False, type_)
    if name in _PATTERN_POSITION:
        _check_constants(planner, node, name, plans)
    return _plan_function(planner, node, name, resolution.overloads, plans)


def _check_constants(planner: Planner, node: Call, name: str, plans: Sequence[Plan]) -> None:
    """Report what Kubernetes finds in literals before it evaluates anything."""
    position = _PATTERN_POSITION[name]
    if plans[position].constant and type(plans[position].value) is str:
        try:
            compile_pattern(plans[position].value)
        except EvaluationError as error:
            where = node.args[-1] if node.args else node
            raise planner.error(where.offset, f"invalid {name} argument: {error.message}") from error
    if name == "matches" and node.target is None and isinstance(node.args[0], Literal):
        # Kubernetes takes the first argument for the pattern here; what it refuses can't be stored.
        try:
            compile_pattern(str(node.args[0].value))
        except EvaluationError as error:
            raise planner.error(node.args[0].offset, f"invalid matches argument: {error.message}") from error


def _plan_function(
    planner: Planner, node: Call, name: str, overloads: Sequence[Overload], plans: Sequence[Plan]
) -> Plan:
    type_ = planner.type_of(node)
    charge = overloads[-1].charge if len(overloads) == 1 or overloads[-1].charge.by_function else ONE
    if charge.aborts:
        planner.aborts = True
    known = bool(plans) and name not in _GROWING and all(map(_is_known, plans))
    if known and charge.runtime is None and name not in CONVERSIONS:
        computed = _computed(overloads, plans, type_)
        if computed is not None:
            return computed
    step = call_step(name, overloads, plans, charge)
    if name in CONVERSIONS and len(plans) == 1 and plans[0].constant:
        return _converted(planner, node, name, step, type_)
    if known:
        return _folded(step, type_)
    return Plan(step, type_, certain=_is_certain(name, overloads, plans))


def _is_certain(name: str, overloads: Sequence[Overload], plans: Sequence[Plan]) -> bool:
    """Return whether the result surely is of the type that the checker found."""
    generic, is_bool = _results(tuple(overloads))
    return not generic and (is_bool or name not in _BY_VALUES or all(plan.certain for plan in plans))


@functools.lru_cache(maxsize=1024)
def _results(overloads: tuple[Overload, ...]) -> tuple[bool, bool]:
    """Return whether any of them has type parameters, and whether all of them return a bool."""
    return any(entry.generic for entry in overloads), all(entry.result is BOOL for entry in overloads)


def _is_known(plan: Plan) -> bool:
    return plan.value is not MISSING and type(plan.value) not in _CONTAINERS


def _converted(planner: Planner, node: Call, name: str, step: Step, type_: Type) -> Plan:
    try:
        return constant_plan(step(scratch_frame()), type_)
    except EvaluationError as error:
        if name in _LITERAL_CHECKS and isinstance(node.args[0], Literal):
            raise planner.error(node.args[0].offset, f"invalid {name} argument: {error.message}") from error
        raise planner.error(node.offset, error.message) from error


def _computed(overloads: Sequence[Overload], plans: Sequence[Plan], type_: Type) -> Plan | None:
    """Compute a call of known values that costs one unit, if its implementation is known and does not fail."""
    implementation = settled(overloads, plans) if len(plans) <= 2 else None
    if implementation is None:
        return None
    try:
        value = implementation(*[plan.value for plan in plans])
    except EvaluationError:
        return None
    return _known_plan(value, type_, sum([plan.cost for plan in plans]) + 1)


def _folded(step: Step, type_: Type) -> Plan:
    """Compute a call of known values in advance; evaluating it costs what it would have cost."""
    frame = scratch_frame()
    try:
        value = step(frame)
    except EvaluationError:
        return Plan(step, type_)  # it fails each time, at run time
    return _known_plan(value, type_, frame.cost)


def _known_plan(value: Any, type_: Type, cost: int) -> Plan:
    def folded(frame: Frame) -> Any:
        frame.cost += cost
        return value

    return Plan(folded, type_, value, cost, certain=True)


def scratch_frame() -> Frame:
    """Return a frame for evaluating what depends on no device."""
    return Frame(_NO_DEVICE, 0)


# --- functions with rules of their own


def _and(plans: Sequence[Plan], type_: Type) -> Plan:
    return Plan(plan_logic.and_step(plans[0].step, plans[1].step), type_)


def _or(plans: Sequence[Plan], type_: Type) -> Plan:
    return Plan(plan_logic.or_step(plans[0].step, plans[1].step), type_)


def _conditional(plans: Sequence[Plan], type_: Type) -> Plan:
    discounts = int(plans[1].based), int(plans[2].based)
    step = plan_logic.conditional_step(plans[0].step, plans[1].step, plans[2].step, discounts)
    return Plan(step, type_, chained=True, conditional=True)


def _index(plans: Sequence[Plan], type_: Type) -> Plan:
    return plan_fields.plan_index(plans[0], plans[1], type_)


def _optional_index(plans: Sequence[Plan], type_: Type) -> Plan:
    return plan_fields.plan_optional_index(plans[0], plans[1], type_)


def _optional_select(plans: Sequence[Plan], type_: Type) -> Plan:
    return plan_fields.plan_optional_select(plans[0], plans[1], type_)


def _optional_or(plans: Sequence[Plan], type_: Type) -> Plan:
    return Plan(_or_step(plans[0].step, plans[1].step, unwrap=False), type_)


def _optional_or_value(plans: Sequence[Plan], type_: Type) -> Plan:
    return Plan(_or_step(plans[0].step, plans[1].step, unwrap=True), type_)


def _or_step(left: Step, right: Step, unwrap: bool) -> Step:
    def step(frame: Frame) -> Any:
        value = left(frame)
        if type(value) is not Optional:
            raise EvaluationError("no such overload: or() and orValue() need an optional value on their left")
        if value.value is MISSING:
            return right(frame)
        return value.value if unwrap else value

    return step


_SPECIAL: dict[str, Callable[[Sequence[Plan], Type], Plan]] = {
    "_&&_": _and,
    "_||_": _or,
    "_?_:_": _conditional,
    "_[_]": _index,
    "_[?_]": _optional_index,
    "_?._": _optional_select,
    "or": _optional_or,
    "orValue": _optional_or_value,
}
