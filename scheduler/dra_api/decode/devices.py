"""Devices of a slice: attributes, capacity, counters, taints. Hot: runs for every device that is published."""

from __future__ import annotations

from collections.abc import Mapping
from sys import intern

from dra_allocator.device import (
    CapacityPolicy,
    CapacityRange,
    CounterConsumption,
    CounterSet,
    Device,
    DeviceCapacity,
    DeviceTaint,
    NodeResource,
    TaintEffect,
)
from dra_api.decode.fields import (
    Raw,
    Unsupported,
    boolean,
    items,
    mapping,
    optional_mapping,
    optional_text,
    sequence,
    text,
    texts,
    wrong_type,
)
from dra_api.decode.nodes import node_scope
from dra_api.decode.values import attribute, check_quantity, optional_quantity, qualified, quantity
from dra_api.errors import DecodeError
from dra_cel.device import AttributeValue
from dra_cel.quantity import Quantity

UNKNOWN_DEVICE = "unsupported"
"""Our mark in the v1 form of a device whose kind is unknown (a v1beta1 or v1alpha3 device without `basic`)."""

_OLD_NODE_RESOURCES = "nodeAllocatableResourceMappings"
"""Kubernetes 1.36's form of nodeAllocatableResources, alpha there and gone since."""
_SCOPE = frozenset(("nodeName", "nodeSelector", "allNodes"))
_KNOWN_EFFECTS: dict[str, TaintEffect] = {"NoSchedule": "NoSchedule", "NoExecute": "NoExecute"}


def device(obj: Raw, driver: str, per_device_scope: bool) -> Device:
    """Return a device of a slice of `driver`.

    What is not understood makes the device unsupported, with the reason, and leaves the others of the slice alone.
    Raises DecodeError for wrong types.
    """
    name = intern(text(obj, "name"))
    if (unknown := obj.get(UNKNOWN_DEVICE)) is not None:
        return Device(name, unsupported=str(unknown))
    scope = None
    if per_device_scope or not _SCOPE.isdisjoint(obj):
        found = node_scope(obj)  # wrong types are errors also where the slice has the scope
        scope = found if per_device_scope else None
    try:
        if obj.get(_OLD_NODE_RESOURCES):
            raise Unsupported(f"{_OLD_NODE_RESOURCES} (alpha in Kubernetes 1.36 only) is not implemented here")
        attributes, problem = _attributes(obj, driver)
        return Device(
            name=name,
            attributes=attributes,
            capacity=_capacity(obj, driver),
            consumes_counters=items(obj, "consumesCounters", _consumption),
            scope=scope,
            taints=items(obj, "taints", taint),
            binds_to_node=boolean(obj, "bindsToNode"),
            binding_conditions=texts(obj, "bindingConditions"),
            binding_failure_conditions=texts(obj, "bindingFailureConditions"),
            allow_multiple_allocations=boolean(obj, "allowMultipleAllocations"),
            unreadable=problem,
            node_resources=_node_resources(obj) if obj.get("nodeAllocatableResources") else {},
        )
    except Unsupported as unsupported:
        return Device(name, scope=scope, unsupported=str(unsupported))


def _attributes(obj: Raw, driver: str) -> tuple[Mapping[str, AttributeValue], str | None]:
    result: dict[str, AttributeValue] = {}
    problem = None
    for name, value in mapping(obj, "attributes").items():
        key = qualified(name, driver)
        try:
            read = attribute(value)
        except DecodeError as error:
            raise error.within(f"attributes[{name}]") from error
        except Unsupported as unsupported:
            problem = problem or f"attribute {name}: {unsupported}"
            continue
        if key not in result or "/" in name:  # the explicit spelling wins over the bare one, whatever their order
            result[key] = read
    return result, problem


def _capacity(obj: Raw, driver: str) -> Mapping[str, DeviceCapacity]:
    result: dict[str, DeviceCapacity] = {}
    for name, value in mapping(obj, "capacity").items():
        if not isinstance(value, dict):
            raise wrong_type(f"capacity[{name}]", "an object", value)
        key = qualified(name, driver)
        if key in result and "/" not in name:
            continue
        try:
            policy = optional_mapping(value, "requestPolicy")
            result[key] = DeviceCapacity(
                quantity(value, "value"), None if policy is None else _policy(policy), intern(name)
            )
        except DecodeError as error:
            raise error.within(f"capacity[{name}]") from error
        except Unsupported as unsupported:
            raise Unsupported(f"capacity {name!r} {unsupported}") from unsupported
    return result


def _policy(obj: Raw) -> CapacityPolicy:
    allowed = optional_mapping(obj, "validRange")
    values = [check_quantity(f"validValues[{i}]", value) for i, value in enumerate(sequence(obj, "validValues"))]
    return CapacityPolicy(
        default=optional_quantity(obj, "default"),
        valid_values=tuple(values),
        valid_range=None if allowed is None else _range(allowed),
    )


def _range(obj: Raw) -> CapacityRange:
    minimum = optional_quantity(obj, "min")
    if minimum is None:
        raise Unsupported("has a requestPolicy.validRange without min")
    return CapacityRange(minimum, optional_quantity(obj, "max"), optional_quantity(obj, "step"))


def _node_resources(obj: Raw) -> Mapping[str, NodeResource]:
    result = {}
    for name, value in mapping(obj, "nodeAllocatableResources").items():
        if not isinstance(value, dict):
            raise wrong_type(f"nodeAllocatableResources[{name}]", "an object", value)
        try:
            mapped, overhead = optional_mapping(value, "mapping"), optional_mapping(value, "overhead") or {}
            result[intern(name)] = NodeResource(
                mapped=mapped is not None,
                capacity_key=optional_text(mapped or {}, "capacityKey"),
                capacity_multiplier=optional_quantity(mapped or {}, "capacityMultiplier"),
                per_device=optional_quantity(mapped or {}, "deviceMultiplier"),
                per_pod=optional_quantity(overhead, "perPod"),
                per_container=optional_quantity(overhead, "perContainer"),
            )
        except DecodeError as error:
            raise error.within(f"nodeAllocatableResources[{name}]") from error
    return result


def _counters(obj: Raw) -> Mapping[str, Quantity]:
    result = {}
    for name, value in mapping(obj, "counters").items():
        if not isinstance(value, dict):
            raise wrong_type(f"counters[{name}]", "an object", value)
        try:
            result[intern(name)] = quantity(value, "value")
        except DecodeError as error:
            raise error.within(f"counters[{name}]") from error
    return result


def _consumption(obj: Raw) -> CounterConsumption:
    return CounterConsumption(intern(text(obj, "counterSet")), _counters(obj), texts(obj, "compatibilityGroups"))


def counter_set(obj: Raw) -> CounterSet:
    """Return one entry of `sharedCounters`. Raises DecodeError."""
    return CounterSet(intern(text(obj, "name")), _counters(obj))


def taint(obj: Raw) -> DeviceTaint:
    """Return a taint; the API asks consumers to treat an unknown effect like None. Raises DecodeError."""
    return DeviceTaint(
        key=intern(text(obj, "key")),
        value=intern(text(obj, "value")),
        effect=_KNOWN_EFFECTS.get(text(obj, "effect"), "None"),
        time_added=optional_text(obj, "timeAdded"),
    )
