"""Devices as drivers publish them: ResourceSlice, device, taint, counters (resource.k8s.io/v1).

Attribute, capacity and counter names are fully qualified (`domain/name`); whoever decodes a slice qualifies them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from dra_allocator.node import NodeSelector
from dra_cel.device import AttributeValue
from dra_cel.quantity import Quantity

TaintEffect = Literal["None", "NoSchedule", "NoExecute"]


class DeviceID(NamedTuple):
    """The name of a device in the whole cluster."""

    driver: str
    pool: str
    device: str

    def __str__(self) -> str:
        return f"{self.driver}/{self.pool}/{self.device}"


@dataclass(frozen=True, slots=True)
class NodeScope:
    """Which nodes see a slice or a device: exactly one of the three is set (KEP-4381, KEP-4815).

    A selector that cannot be parsed is kept as `invalid` with the reason: it takes out its slice or device only.
    """

    node_name: str | None = None
    selector: NodeSelector | None = None
    all_nodes: bool = False
    invalid: str | None = None


@dataclass(frozen=True, slots=True)
class DeviceTaint:
    """A taint of a device (KEP-5055); `time_added` is RFC 3339 text as published."""

    key: str
    value: str = ""
    effect: TaintEffect = "NoSchedule"
    time_added: str | None = None


@dataclass(frozen=True, slots=True)
class CapacityRange:
    """`requestPolicy.validRange` (KEP-5075)."""

    minimum: Quantity
    maximum: Quantity | None = None
    step: Quantity | None = None


@dataclass(frozen=True, slots=True)
class CapacityPolicy:
    """`requestPolicy` of a capacity (KEP-5075). Neither values nor range: any amount up to the capacity."""

    default: Quantity | None = None
    valid_values: tuple[Quantity, ...] = ()
    valid_range: CapacityRange | None = None


@dataclass(frozen=True, slots=True)
class DeviceCapacity:
    """A capacity with its total and, where shares of it may be requested, the policy.

    `published` is the name as the slice spells it (with or without domain): requests and results use that spelling,
    Kubernetes compares it literally.
    """

    value: Quantity
    policy: CapacityPolicy | None = None
    published: str = ""


@dataclass(frozen=True, slots=True)
class CounterConsumption:
    """What a partition takes from a counter set (KEP-4815), with its compatibility groups (Kubernetes 1.37)."""

    counter_set: str
    counters: Mapping[str, Quantity]
    compatibility_groups: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NodeResource:
    """How much of a resource of its node a device takes (Kubernetes 1.37, DRANodeAllocatableResources).

    `mapped`: the device stands for that much of the resource, `capacity_multiplier` times what is consumed of the
    capacity `capacity_key` (spelled as published), or `per_device`. `per_pod` and `per_container` are overhead.
    """

    mapped: bool = False
    capacity_key: str | None = None
    capacity_multiplier: Quantity | None = None
    per_device: Quantity | None = None
    per_pod: Quantity | None = None
    per_container: Quantity | None = None


@dataclass(frozen=True, slots=True)
class CounterSet:
    """Counters that the partitions of one pool share (KEP-4815)."""

    name: str
    counters: Mapping[str, Quantity]


@dataclass(frozen=True, slots=True)
class Device:
    """One device of a slice.

    `scope` is set only where the slice has `perDeviceNodeSelection`. `unsupported` names what the decoder did not
    understand (an unknown kind of device, say): such a device is never picked, and the text says why.
    `unreadable` is set where an attribute has no value of a known type: every selector fails on the device with
    this text, as in Kubernetes. `node_resources` says by resource name what it takes of its node; the allocator does
    not look at it.
    """

    name: str
    attributes: Mapping[str, AttributeValue] = field(default_factory=dict)
    capacity: Mapping[str, DeviceCapacity] = field(default_factory=dict)
    consumes_counters: tuple[CounterConsumption, ...] = ()
    scope: NodeScope | None = None
    taints: tuple[DeviceTaint, ...] = ()
    binds_to_node: bool = False
    binding_conditions: tuple[str, ...] = ()
    binding_failure_conditions: tuple[str, ...] = ()
    allow_multiple_allocations: bool = False
    unsupported: str | None = None
    unreadable: str | None = None
    node_resources: Mapping[str, NodeResource] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ResourceSlice:
    """A ResourceSlice: devices or counter sets of one generation of one pool."""

    name: str
    resource_version: str
    driver: str
    pool: str
    generation: int
    slice_count: int
    scope: NodeScope | None
    devices: tuple[Device, ...] = ()
    shared_counters: tuple[CounterSet, ...] = ()
    per_device_node_selection: bool = False
    skip_node_operations: tuple[str, ...] = ()
    unsupported: str | None = None


@dataclass(frozen=True, slots=True)
class DeviceTaintRule:
    """A DeviceTaintRule: a taint for all devices that the selector names (absent parts match everything).

    `matches_nothing` is true for a v1 rule without `deviceSelector`.
    """

    name: str
    taint: DeviceTaint
    driver: str | None = None
    pool: str | None = None
    device: str | None = None
    device_class: str | None = None
    selectors: tuple[str, ...] = ()
    matches_nothing: bool = False
