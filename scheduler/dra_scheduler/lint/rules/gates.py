"""Fields that an API server drops in silence, or an object that it does not serve, while a feature gate is off."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from dra_cel.errors import CompileError
from dra_cel.selector import compile_selector
from dra_scheduler.lint.finding import Fault, Rule
from dra_scheduler.lint.inputs import Inputs

_LISTS = "DRAListTypeAttributes"
"""Without this gate an attribute that is a list has no value, and that is invalid."""

_REQUEST: tuple[tuple[str, str], ...] = (
    ("tolerations", "DRADeviceTaints"),
    ("capacity", "DRAConsumableCapacity"),
    ("derivedAttributes", "DRADerivedAttributes"),
)
_CLAIM = (
    ("devices.requests[].exactly.adminAccess", "DRAAdminAccess"),
    ("devices.requests[].firstAvailable", "DRAPrioritizedList"),
    ("devices.constraints[].distinctAttribute", "DRAConsumableCapacity"),
    *((f"devices.requests[].exactly.{name}", gate) for name, gate in _REQUEST),
    *((f"devices.requests[].firstAvailable[].{name}", gate) for name, gate in _REQUEST),
)
FIELDS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "ResourceClaim": tuple((f"spec.{path}", gate) for path, gate in _CLAIM),
    "ResourceClaimTemplate": tuple((f"spec.spec.{path}", gate) for path, gate in _CLAIM),
    "DeviceClass": (("spec.extendedResourceName", "DRAExtendedResource"),),
    "DeviceTaintRule": (("spec", "DRADeviceTaintRules"),),
    "ResourceSlice": (
        ("spec.sharedCounters", "DRAPartitionableDevices"),
        ("spec.perDeviceNodeSelection", "DRAPartitionableDevices"),
        ("spec.skipNodeOperations", "DRAOptionalNodeOperations"),
        ("spec.partitionTypeAttribute", "DRAPartitionableDevicesType"),
        ("spec.devices[].consumesCounters", "DRAPartitionableDevices"),
        ("spec.devices[].consumesCounters[].compatibilityGroups", "DRADeviceCompatibilityGroups"),
        ("spec.devices[].taints", "DRADeviceTaints"),
        ("spec.devices[].bindsToNode", "DRADeviceBindingConditions"),
        ("spec.devices[].bindingConditions", "DRADeviceBindingConditions"),
        ("spec.devices[].allowMultipleAllocations", "DRAConsumableCapacity"),
        ("spec.devices[].capacity{}.requestPolicy", "DRAConsumableCapacity"),
        ("spec.devices[].nodeAllocatableResources", "DRANodeAllocatableResources"),
        *(
            (f"spec.devices[].attributes{{}}.{name}", "DRAListTypeAttributes")
            for name in ("ints", "bools", "strings", "versions")
        ),
    ),
    "Pod": (("spec.schedulingGroup", "GenericWorkload"),),
    "PodGroup": (("spec.resourceClaims", "DRAWorkloadResourceClaims"),),
}
"""By kind: a path in the v1 shape (`[]` each item of a list, `{}` each value of a map) and the gate that it needs."""


def _gate_needed(inputs: Inputs) -> Iterator[Fault]:
    for document in inputs.documents:
        for pattern, gate in FIELDS.get(document.object["kind"], ()):
            if _is_on(inputs, gate) or inputs.is_stored(document):
                continue
            path = first_set(document.object, _steps(pattern))
            if path is not None:
                yield Fault(document, path, *_explained(gate, inputs.scope.minor))
    if not _is_on(inputs, _LISTS):
        yield from _list_functions(inputs)


def _is_on(inputs: Inputs, gate: str) -> bool:
    return inputs.scope.gates.values.get(gate, False)


def _explained(gate: str, minor: int) -> tuple[str, str]:
    outcome = "the slice is refused" if gate == _LISTS else "it is dropped in silence"
    problem = f"needs feature gate {gate}, which is off here (Kubernetes 1.{minor}): {outcome}"
    return problem, f"turn the gate on in the cluster, and say --feature-gates={gate}=true here"


def _list_functions(inputs: Inputs) -> Iterator[Fault]:
    """Find new selectors that compile with attributes that are lists, and only then."""
    for source in inputs.claims:
        if inputs.is_stored(source.document):
            continue
        for ask in source.asks():
            for i, text in enumerate(ask.request.selectors):
                if _needs_lists(text):
                    field = f"{ask.field}.selectors[{i}].cel.expression"
                    problem = "needs feature gate DRAListTypeAttributes to compile, which is off here"
                    hint = "turn the gate on in the cluster, and say --feature-gates=DRAListTypeAttributes=true here"
                    yield Fault(source.document, field, problem, hint)


def _needs_lists(text: str) -> bool:
    return _compiles(text, True) and not _compiles(text, False)


@cache
def _compiles(text: str, lists: bool) -> bool:
    try:
        compile_selector(text, new_expression=True, list_attributes=lists)
    except CompileError:
        return False
    return True


@cache
def _steps(pattern: str) -> tuple[str, ...]:
    return tuple(pattern.replace("[]", ".[]").replace("{}", ".{}").split("."))


def first_set(value: Any, steps: tuple[str, ...], path: str = "") -> str | None:
    """Return the path of the first value that a pattern leads to and that is set, or None."""
    if not steps:
        return path if value else None
    step, rest = steps[0], steps[1:]
    children: list[tuple[str, Any]] = []
    if step == "[]" and isinstance(value, list):
        children = [(f"{path}[{i}]", item) for i, item in enumerate(value)]
    elif step == "{}" and isinstance(value, dict):
        children = [(f"{path}[{key}]", item) for key, item in value.items()]
    elif isinstance(value, dict) and step in value:
        children = [(f"{path}.{step}" if path else step, value[step])]
    return next((found for where, item in children if (found := first_set(item, rest, where)) is not None), None)


RULES = (Rule("gate-needed", "warning", "a field needs a feature gate that is off by default", _gate_needed),)
