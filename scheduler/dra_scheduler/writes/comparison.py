"""Is the allocation that the API server stored the one that was sent?

API servers drop a field whose feature gate is off there without a word. A pod that is bound all the same would start on
a device that is not attached (bindingConditions), or two pods would share what neither may (consumedCapacity). So every
answer is compared with what was sent, in Kubernetes' own notion of equal: an empty list is no list, `1Gi` is `1024Mi`,
`adminAccess: false` is none, a toleration without operator means Equal.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dra_cel.quantity import Quantity, QuantityError

GATES: Mapping[str, str] = {
    "adminAccess": "DRAAdminAccess",
    "tolerations": "DRADeviceTaints",
    "bindingConditions": "DRADeviceBindingConditions",
    "bindingFailureConditions": "DRADeviceBindingConditions",
    "shareID": "DRAConsumableCapacity",
    "consumedCapacity": "DRAConsumableCapacity",
    "skipNodeOperations": "DRAOptionalNodeOperations",
}
"""The field of `status.allocation.devices.results[]` and the feature gate without which it is dropped."""

KNOWN = frozenset(
    {"devices", "results", "config", "nodeSelector", "request", "driver", "pool", "device", "source", "requests"}
    | {"opaque", "parameters", "nodeSelectorTerms", "matchFields", "matchExpressions", "key", "operator", "values"}
    | {"value", "effect", "tolerationSeconds"}
    | set(GATES)
)
"""Fields that matter when the answer has them and the request did not. A newer server's own additions do not."""

IGNORED = frozenset({"allocationTimestamp"})
"""Dropped by servers before 1.34, and by some later ones with gates off: nothing depends on the answer having it."""


def first_difference(sent: Mapping[str, Any], answered: Mapping[str, Any] | None) -> str | None:
    """Return the path (`devices.results[0].shareID`) of the first difference of two allocations; None: none."""
    if answered is None:
        return "devices"
    return _mapping(sent, answered, "")


def is_same(sent: Any, answered: Any) -> bool:
    """Whether a value of a status is what was sent; an empty one is none, and the order of lists matters."""
    return _value("", sent, answered, "") is None


def gate_of(path: str) -> str | None:
    """Return the feature gate that a path from `first_difference` depends on; None: none is known."""
    for part in _parts(path):
        if part in GATES:
            return GATES[part]
    return None


def is_dropped(path: str, answered: Mapping[str, Any]) -> bool:
    """Return whether an answer has nothing at a path from `first_difference` that a feature gate could have dropped.

    Another value there is nothing that a server makes of what was sent: somebody else has written it.
    """
    parts = _parts(path)
    value: Any = answered
    for part in parts:
        value = value[int(part)] if isinstance(value, list) else value.get(part)
        if value is None:
            break
    return parts[-1] in GATES and not _present(value)


def _parts(path: str) -> list[str]:
    return path.replace("]", "").replace("[", ".").split(".")


def _mapping(sent: Mapping[str, Any], answered: Mapping[str, Any], path: str) -> str | None:
    for key in sorted(sent.keys() | answered.keys(), key=str):
        if key in IGNORED or (key not in sent and key not in KNOWN and not path.endswith("consumedCapacity")):
            continue
        found = _value(key, sent.get(key), answered.get(key), f"{path}.{key}" if path else key)
        if found is not None:
            return found
    return None


def _value(key: str, sent: Any, answered: Any, path: str) -> str | None:
    if sent == answered:  # nearly always
        return None
    if key == "parameters":  # the driver's own: compared as it is
        return path
    if key == "operator" and ".tolerations[" in path:
        sent, answered = sent or "Equal", answered or "Equal"
    if not _present(sent) and not _present(answered):
        return None
    if isinstance(sent, Mapping) and isinstance(answered, Mapping):
        return _mapping(sent, answered, path)
    if isinstance(sent, list) and isinstance(answered, list):
        if len(sent) != len(answered):
            return path
        pairs = enumerate(zip(sent, answered, strict=True))
        return next((d for i, (s, a) in pairs if (d := _value("", s, a, f"{path}[{i}]")) is not None), None)
    if sent == answered or (".consumedCapacity." in path and _same_quantity(sent, answered)):
        return None
    return path


def _present(value: Any) -> bool:
    """False for what Kubernetes does not tell from an absent field."""
    return value is not None and value is not False and value not in ([], {}, "")


def _same_quantity(sent: Any, answered: Any) -> bool:
    try:
        return Quantity.parse(str(sent)) == Quantity.parse(str(answered))
    except QuantityError:
        return False
