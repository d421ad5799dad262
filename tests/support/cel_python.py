"""cel-python as a second opinion on the language itself, without Kubernetes' types."""

from __future__ import annotations

from typing import Any

import celpy
from celpy import celtypes

from dra_cel import DeviceFields

_ENVIRONMENT = celpy.Environment()


def _value(value: Any) -> Any:
    if isinstance(value, bool):
        return celtypes.BoolType(value)
    if isinstance(value, int):
        return celtypes.IntType(value)
    if isinstance(value, tuple):
        return celtypes.ListType([_value(item) for item in value])
    return celtypes.StringType(str(value))


def _activation(device: DeviceFields) -> dict[str, Any]:
    domains: dict[str, dict[Any, Any]] = {}
    for name, value in device.attributes.items():
        domain, _, id_ = name.partition("/")
        domains.setdefault(domain, {})[celtypes.StringType(id_)] = _value(value)
    attributes = {celtypes.StringType(domain): celtypes.MapType(items) for domain, items in domains.items()}
    fields = {
        "driver": celtypes.StringType(device.driver),
        "allowMultipleAllocations": celtypes.BoolType(device.allow_multiple_allocations),
        "attributes": celtypes.MapType(attributes),
    }
    return {"device": celtypes.MapType({celtypes.StringType(name): value for name, value in fields.items()})}


def second_opinion(text: str, device: DeviceFields) -> str:
    """Return T, F, E (a run-time error or no bool) or C (it does not compile)."""
    try:
        program = _ENVIRONMENT.program(_ENVIRONMENT.compile(text))
    except celpy.CELParseError:
        return "C"
    try:
        result = program.evaluate(_activation(device))
    except (celpy.CELEvalError, ValueError):  # it fails with ValueError where a macro has two variables
        return "E"
    if not isinstance(result, bool | celtypes.BoolType):
        return "E"
    return "T" if result else "F"
