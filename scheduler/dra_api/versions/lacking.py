"""Which fields a version lacks, as data: paths in the v1 shape, `[]` for each item of a list, `{}` of a map."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

_CLASSIC = {
    "ResourceClaim": ("spec.controller", "status.deallocationRequested", "status.allocation.controller"),
    "ResourceClaimTemplate": ("spec.spec.controller",),
    "DeviceClass": ("spec.suitableNodes",),
}
_RULE_SELECTORS = ("spec.deviceSelector.deviceClassName", "spec.deviceSelector.selectors")
_CLAIM_SPEC_ALPHA = (
    "devices.requests[].exactly.capacity",
    "devices.requests[].exactly.derivedAttributes",
    "devices.requests[].firstAvailable[].capacity",
    "devices.requests[].firstAvailable[].derivedAttributes",
    "devices.constraints[].distinctAttribute",
)

LACKING: dict[str, dict[str, tuple[str, ...]]] = {
    "v1": _CLASSIC | {"DeviceTaintRule": _RULE_SELECTORS},
    "v1beta2": _CLASSIC | {"DeviceTaintRule": _RULE_SELECTORS},
    "v1beta1": _CLASSIC,
    "v1alpha3": {
        "ResourceClaim": (
            *(f"spec.{path}" for path in _CLAIM_SPEC_ALPHA),
            "status.allocation.allocationTimestamp",
            "status.allocation.devices.results[].bindingConditions",
            "status.allocation.devices.results[].bindingFailureConditions",
            "status.allocation.devices.results[].shareID",
            "status.allocation.devices.results[].consumedCapacity",
            "status.allocation.devices.results[].skipNodeOperations",
            "status.devices[].shareID",
        ),
        "ResourceClaimTemplate": tuple(f"spec.spec.{path}" for path in _CLAIM_SPEC_ALPHA),
        "DeviceClass": ("spec.extendedResourceName",),
        "ResourceSlice": (
            "spec.devices[].bindsToNode",
            "spec.devices[].bindingConditions",
            "spec.devices[].bindingFailureConditions",
            "spec.devices[].allowMultipleAllocations",
            "spec.devices[].nodeAllocatableResources",
            "spec.devices[].nodeAllocatableResourceMappings",
            "spec.devices[].attributes{}.ints",
            "spec.devices[].attributes{}.bools",
            "spec.devices[].attributes{}.strings",
            "spec.devices[].attributes{}.versions",
            "spec.devices[].capacity{}.requestPolicy",
            "spec.devices[].consumesCounters[].compatibilityGroups",
            "spec.partitionTypeAttribute",
            "spec.skipNodeOperations",
        ),
    },
}


_ALL = ("[]", "{}")
"""Steps to each item of a list, or of a map."""


@dataclass(frozen=True, slots=True)
class LackingField:
    """A field that is set: its concrete path, and the versions of its kind that do have it."""

    path: str
    fitting: tuple[str, ...]


def lacking_field(obj: dict[str, Any], kind: str, version: str) -> LackingField | None:
    """Return the first field (v1 shape) that is set in `obj` and that `version` does not have, or None."""
    for pattern in LACKING[version].get(kind, ()):
        found = _find(obj, _steps(pattern), "")
        if found is not None:
            fitting = [other for other, kinds in LACKING.items() if pattern not in kinds.get(kind, ())]
            if kind == "DeviceTaintRule":
                fitting.remove("v1beta1")  # which has no such kind
            return LackingField(found, tuple(fitting))
    return None


@cache
def _steps(pattern: str) -> tuple[str, ...]:
    return tuple(pattern.replace("[]", ".[]").replace("{}", ".{}").split("."))


def _find(value: Any, steps: tuple[str, ...], path: str) -> str | None:
    while steps and steps[0] not in _ALL:
        if not isinstance(value, dict) or steps[0] not in value:
            return None
        value = value[steps[0]]
        path, steps = f"{path}.{steps[0]}" if path else steps[0], steps[1:]
    if not steps:
        return path if value else None  # null, false and empty say the same as absent
    step, rest = steps[0], steps[1:]
    children: Iterable[tuple[str, Any]] = ()
    if step == "[]":
        children = ((f"{path}[{i}]", item) for i, item in enumerate(value)) if isinstance(value, list) else ()
    elif isinstance(value, dict):
        children = ((f"{path}[{key}]", item) for key, item in value.items())
    return next((found for where, item in children if (found := _find(item, rest, where)) is not None), None)
