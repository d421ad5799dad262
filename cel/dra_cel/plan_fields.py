"""The variable `device` and selections: `a.b`, `a.?b`, `has(a.b)`, `a[b]`, `a[?b]`.

A selection of the form `device.attributes["domain"].name`, with constants, is one dictionary lookup.
"""

from __future__ import annotations

from typing import Any

from dra_cel import types as t
from dra_cel.errors import EvaluationError
from dra_cel.frame import Frame, Step
from dra_cel.functions.operators import index_list, optional_index
from dra_cel.plan import Plan
from dra_cel.types import Type
from dra_cel.uint import UInt
from dra_cel.values import EMPTY_MAP, MISSING, NONE, CelMap, Optional, type_name

KEYS = frozenset({bool, int, UInt, float, str})
"""Classes of values that can be an index or a key of a selection."""


def _device(frame: Frame) -> CelMap:
    frame.cost += 1
    return frame.object()


def device_plan() -> Plan:
    """Return the plan of the variable `device`."""
    return Plan(_device, t.DEVICE, field=("device",), chained=True)


def lookup(container: Any, key: Any) -> Any:
    """Return `container[key]`, or MISSING where a map lacks the key.

    Raises:
        EvaluationError: the container can't be indexed, or a list index is out of range.

    """
    kind = type(container)
    if kind is CelMap:
        return container.get(key)
    if kind is tuple:
        return index_list(container, key)
    raise EvaluationError(f"no such overload: {type_name(container)}[{type_name(key)}]")


def plan_select(operand: Plan, field: str, type_: Type, test_only: bool) -> Plan:
    """Compile `operand.field`, or `has(operand.field)`."""
    if operand.field is not None:
        known = _plan_device_field((*operand.field, field), type_, test_only)
        if known is not None:
            return known
    start = 0 if operand.chained else 1
    if test_only:
        return Plan(_presence_step(operand.step, field, start), type_)
    return Plan(_select_step(operand.step, field, start), type_, chained=True)


def plan_index(operand: Plan, key: Plan, type_: Type) -> Plan:
    """Compile `operand[key]`."""
    if operand.field is not None and key.constant and type(key.value) is str:
        known = _plan_device_field((*operand.field, key.value), type_, False)
        if known is not None:
            return known
    start = 0 if operand.chained else 1
    container_step, key_step = operand.step, key.step
    charge = _key_charge(key)

    def step(frame: Frame) -> Any:
        try:
            container = container_step(frame)
        finally:
            frame.cost += start
        if type(container) is Optional:
            return _optional_element(frame, container, key_step, charge)
        try:
            key = key_step(frame)
        finally:
            frame.cost += charge
        value = lookup(container, _checked_key(key))
        if value is MISSING:
            raise EvaluationError(f"no such key: {key}")
        return value

    return Plan(step, type_, chained=True)


def _key_charge(key: Plan) -> int:
    """Return what a look-up costs besides its key; a name or selection as a key is free of its base cost."""
    return 0 if key.based else 1


def _checked_key(key: Any) -> Any:
    if type(key) not in KEYS:
        raise EvaluationError(f"a value of type '{type_name(key)}' can't be an index or a key")
    return key


def _optional_element(frame: Frame, container: Any, key_step: Step, charge: int) -> Optional:
    """Return `container[?key]`; the key is not even evaluated where there is no container."""
    if type(container) is Optional and not container.present:
        return NONE
    frame.cost += charge - 1
    result = optional_index(container, _checked_key(key_step(frame)))
    if result.present:
        frame.cost += 1
    return result


def _select_step(operand: Step, field: str, start: int) -> Step:
    """Return the step of a selection; `start` is what a selection costs that does not continue another one."""
    cost = start + 1

    def step(frame: Frame) -> Any:
        try:
            container = operand(frame)
        except EvaluationError:
            frame.cost += start
            raise
        frame.cost += cost
        if type(container) is CelMap:
            value = container.get(field)
            if value is MISSING:
                raise EvaluationError(f"no such key: {field}")
            return value
        if type(container) is Optional:
            frame.cost -= 1
            return _charged(frame, _from_optional(container, field))
        return lookup(container, field)

    return step


def _charged(frame: Frame, result: Optional) -> Optional:
    """Charge a selection from what may be absent only if it found something."""
    if result.value is not MISSING:
        frame.cost += 1
    return result


def _from_optional(container: Optional, field: str) -> Optional:
    inner = container.value
    if type(inner) is tuple:
        raise _no_field(field)
    value = inner.get(field) if type(inner) is CelMap else MISSING
    return NONE if value is MISSING else Optional(value)


def _no_field(field: str) -> EvaluationError:
    return EvaluationError(f"a list has no field {field!r}: its index is an int")


def _presence_step(operand: Step, field: str, cost: int) -> Step:
    def step(frame: Frame) -> bool:
        try:
            container = operand(frame)
        except EvaluationError:
            frame.cost += cost - 1
            raise
        frame.cost += cost
        if type(container) is Optional:
            frame.cost -= 1
            return _charged(frame, _from_optional(container, field)).present
        if type(container) is tuple:
            raise _no_field(field)
        return type(container) is CelMap and container.get(field) is not MISSING

    return step


def plan_optional_select(operand: Plan, key: Plan, type_: Type) -> Plan:
    """Compile `operand.?field`."""
    field = str(key.value)
    start = 0 if operand.chained else 1
    inner = operand.step
    if operand.field is not None and len(operand.field) == 3:
        return Plan(_optional_read_step((*operand.field, field)), type_, chained=True)

    def step(frame: Frame) -> Optional:
        try:
            container = inner(frame)
        finally:
            frame.cost += start
        if type(container) is not Optional:
            container = Optional(container)
        return _charged(frame, _from_optional(container, field))

    return Plan(step, type_, chained=True)


def plan_optional_index(operand: Plan, key: Plan, type_: Type) -> Plan:
    """Compile `operand[?key]`."""
    start = 0 if operand.chained else 1
    container_step, key_step, charge = operand.step, key.step, _key_charge(key)
    if operand.field is not None and len(operand.field) == 3 and key.constant and type(key.value) is str:
        return Plan(_optional_read_step((*operand.field, key.value)), type_, chained=True)

    def step(frame: Frame) -> Optional:
        try:
            container = container_step(frame)
        finally:
            frame.cost += start
        return _optional_element(frame, container, key_step, charge)

    return Plan(step, type_, chained=True)


# --- fields of the device

_MAPS = ("attributes", "capacity")


def _plan_device_field(path: tuple[str, ...], type_: Type, test_only: bool) -> Plan | None:
    """Compile a path that starts with `device`; None where it is not a plain field."""
    if len(path) == 2:
        return _plan_own_field(path, type_, test_only)
    if path[1] not in _MAPS or len(path) > 4:
        return None
    if len(path) == 3:
        step = _constant_true_step(2) if test_only else _domain_step(path[1], path[2])
        return Plan(step, type_, field=None if test_only else path, chained=not test_only)
    step = _presence_of_step(path) if test_only else read_step(path)
    return Plan(step, type_, field=None if test_only else path, chained=not test_only)


def _plan_own_field(path: tuple[str, ...], type_: Type, test_only: bool) -> Plan:
    if test_only:
        return Plan(_constant_true_step(1), type_)
    return Plan(_OWN_FIELDS[path[1]], type_, field=path, chained=True, certain=True)


def _constant_true_step(cost: int) -> Step:
    def step(frame: Frame) -> bool:
        frame.cost += cost
        return True

    return step


def _driver(frame: Frame) -> str:
    frame.cost += 2
    return frame.device.driver


def _sharing(frame: Frame) -> bool:
    frame.cost += 2
    return frame.device.allow_multiple_allocations


def _attributes(frame: Frame) -> CelMap:
    frame.cost += 2
    return frame.attributes()


def _capacity(frame: Frame) -> CelMap:
    frame.cost += 2
    return frame.capacity()


_OWN_FIELDS: dict[str, Step] = {
    "driver": _driver,
    "allowMultipleAllocations": _sharing,
    "attributes": _attributes,
    "capacity": _capacity,
}


def _domain_step(field: str, domain: str) -> Step:
    attributes = field == "attributes"

    def step(frame: Frame) -> CelMap:
        frame.cost += 3
        found = (frame.attributes() if attributes else frame.capacity()).get(domain)
        return EMPTY_MAP if found is MISSING else found

    return step


def read_step(path: tuple[str, ...]) -> Step:
    """Return the step of `device.attributes["domain"].id` or the same of capacity."""
    name = f"{path[2]}/{path[3]}"
    message = f"no such key: {path[3]}"
    if "/" in path[2]:
        return _absent_step(message)

    def attribute(frame: Frame) -> Any:
        frame.cost += 4
        value = frame.device.attributes.get(name)
        if value is None:
            raise EvaluationError(message)
        return value

    def capacity(frame: Frame) -> Any:
        frame.cost += 4
        value = frame.device.capacity.get(name)
        if value is None:
            raise EvaluationError(message)
        return value

    return attribute if path[1] == "attributes" else capacity


def _absent_step(message: str) -> Step:
    def step(frame: Frame) -> Any:
        frame.cost += 4
        raise EvaluationError(message)

    return step


def _presence_of_step(path: tuple[str, ...]) -> Step:
    name = f"{path[2]}/{path[3]}" if "/" not in path[2] else ""
    attributes = path[1] == "attributes"

    def step(frame: Frame) -> bool:
        frame.cost += 3
        device = frame.device
        return name in (device.attributes if attributes else device.capacity)

    return step


def _optional_read_step(path: tuple[str, ...]) -> Step:
    name = f"{path[2]}/{path[3]}" if "/" not in path[2] else ""
    attributes = path[1] == "attributes"

    def step(frame: Frame) -> Optional:
        frame.cost += 3
        device = frame.device
        value = (device.attributes if attributes else device.capacity).get(name)
        return _charged(frame, NONE if value is None else Optional(value))

    return step
