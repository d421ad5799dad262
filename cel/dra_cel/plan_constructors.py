"""Lists, maps and protobuf wrappers that an expression constructs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dra_cel.errors import EvaluationError
from dra_cel.frame import Frame, Step
from dra_cel.uint import UInt
from dra_cel.values import CelMap, Optional, type_name

_LIST_COST = 10
_MAP_COST = 30
_MESSAGE_COST = 40
_INT32 = 2**31
_UINT32 = 2**32


def list_step(steps: Sequence[Step], optional: frozenset[int]) -> Step:
    """Return the step of a list that is not constant."""

    def plain(frame: Frame) -> tuple[Any, ...]:
        frame.cost += _LIST_COST
        return tuple([step(frame) for step in steps])

    def with_optionals(frame: Frame) -> tuple[Any, ...]:
        frame.cost += _LIST_COST
        items = []
        for index, step in enumerate(steps):
            item = step(frame)
            if index in optional:
                if not _unwrap(item).present:
                    continue
                item = item.value
            items.append(item)
        return tuple(items)

    return with_optionals if optional else plain


def _unwrap(value: Any) -> Optional:
    if type(value) is not Optional:
        raise EvaluationError(f"an element written with ? must be optional, not '{type_name(value)}'")
    return value


def map_step(entries: Sequence[tuple[Step, Step, bool]]) -> Step:
    """Return the step of a map that is not constant; entries are key, value, optional."""

    def step(frame: Frame) -> CelMap:
        frame.cost += _MAP_COST
        result = CelMap()
        for key_step, value_step, optional in entries:
            key, value = key_step(frame), value_step(frame)
            if optional:
                if not _unwrap(value).present:
                    result.discard(key)
                    continue
                value = value.value
            result.put(key, value)
        return result

    return step


_ZERO: dict[str, Any] = {
    "google.protobuf.BoolValue": False,
    "google.protobuf.BytesValue": b"",
    "google.protobuf.DoubleValue": 0.0,
    "google.protobuf.FloatValue": 0.0,
    "google.protobuf.Int32Value": 0,
    "google.protobuf.Int64Value": 0,
    "google.protobuf.StringValue": "",
    "google.protobuf.UInt32Value": UInt(0),
    "google.protobuf.UInt64Value": UInt(0),
}


def wrapper_step(name: str, fields: Sequence[tuple[Step, bool]]) -> Step:
    """Return the step of a protobuf wrapper: its value is that of the field `value`, or zero."""
    zero = _ZERO[name]

    def step(frame: Frame) -> Any:
        frame.cost += _MESSAGE_COST
        result = zero
        for value_step, optional in fields:
            value = value_step(frame)
            if optional:
                if not _unwrap(value).present:
                    continue
                value = value.value
            result = _fit(name, zero, value)
        return result

    return step


def _fit(name: str, zero: Any, value: Any) -> Any:
    if type(value) is not type(zero):
        raise EvaluationError(f"{name} can't hold a '{type_name(value)}'")
    if name.endswith(".Int32Value") and not -_INT32 <= value < _INT32:
        raise EvaluationError(f"{name}: integer overflow")
    if name.endswith(".UInt32Value") and value >= _UINT32:
        raise EvaluationError(f"{name}: unsigned integer overflow")
    return value
