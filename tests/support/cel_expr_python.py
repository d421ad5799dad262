"""cel-expr-python (bindings of the C++ implementation of CEL) as an opinion on the language, if it is installed."""

from __future__ import annotations

import importlib
from typing import Any

from dra_cel import DeviceFields


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value if isinstance(value, bool | int) else str(value)


def _activation(device: DeviceFields) -> dict[str, Any]:
    domains: dict[str, dict[str, Any]] = {}
    for name, value in device.attributes.items():
        domain, _, id_ = name.partition("/")
        domains.setdefault(domain, {})[id_] = _plain(value)
    sharing = device.allow_multiple_allocations
    return {"device": {"driver": device.driver, "allowMultipleAllocations": sharing, "attributes": domains}}


def third_opinion(text: str, device: DeviceFields) -> str:
    """Return T, F, E (a run-time error or no bool) or C (it does not compile)."""
    cel = importlib.import_module("cel_expr_python.cel")
    environment = cel.NewEnv(variables={"device": cel.Type.DYN})
    try:
        expression = environment.compile(text)
    except Exception:  # it raises its own status errors, which have no common class
        return "C"
    result = expression.eval(data=_activation(device)).value()
    if not isinstance(result, bool):
        return "E"
    return "T" if result else "F"
