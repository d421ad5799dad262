"""Everything of a device that is not a column, shared by the many devices that have it in common."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dra_allocator.device import CapacityPolicy, CounterConsumption, Device, DeviceTaint, NodeResource, NodeScope


@dataclass(frozen=True, slots=True)
class Traits:
    """The parts of a `Device` besides name, attributes and the values of capacities.

    `policies` are the request policies by capacity name. Equal devices of a driver share one object.
    """

    consumes_counters: tuple[CounterConsumption, ...] = ()
    scope: NodeScope | None = None
    taints: tuple[DeviceTaint, ...] = ()
    binds_to_node: bool = False
    binding_conditions: tuple[str, ...] = ()
    binding_failure_conditions: tuple[str, ...] = ()
    allow_multiple_allocations: bool = False
    policies: Mapping[str, CapacityPolicy] = field(default_factory=dict)
    unsupported: str | None = None
    unreadable: str | None = None
    node_resources: Mapping[str, NodeResource] = field(default_factory=dict)

    @property
    def is_plain(self) -> bool:
        """Whether free or in use is all there is to know about the device when counting."""
        return not self.consumes_counters and not self.allow_multiple_allocations


PLAIN = Traits()


class TraitsStore:
    """Interned traits with small ids; id 0 is `PLAIN`. An id is free again when its last device has gone."""

    def __init__(self) -> None:
        self._items: list[Traits] = [PLAIN]
        self._uses: list[int] = [1]
        self._keys: list[object] = [None]
        self._ids: dict[object, int] = {}
        self._free: list[int] = []

    def __len__(self) -> int:
        return len(self._items)

    def __getitem__(self, traits_id: int) -> Traits:
        return self._items[traits_id]

    def acquire(self, device: Device) -> int:
        """Return the id of the device's traits, adding them if they are new."""
        if _is_default(device):
            return 0
        key = _key(device)
        traits_id = self._ids.get(key)
        if traits_id is None:
            traits_id = self._ids[key] = self._insert(_traits(device), key)
        self._uses[traits_id] += 1
        return traits_id

    def release(self, traits_id: int) -> None:
        """Undo one `acquire`."""
        if traits_id == 0:
            return
        self._uses[traits_id] -= 1
        if self._uses[traits_id] == 0:
            del self._ids[self._keys[traits_id]]
            self._free.append(traits_id)

    def _insert(self, traits: Traits, key: object) -> int:
        if self._free:
            traits_id = self._free.pop()
            self._items[traits_id], self._keys[traits_id] = traits, key
            return traits_id
        self._items.append(traits)
        self._keys.append(key)
        self._uses.append(0)
        return len(self._items) - 1


def _is_default(device: Device) -> bool:
    return not (
        device.consumes_counters
        or device.scope
        or device.taints
        or device.binds_to_node
        or device.binding_conditions
        or device.binding_failure_conditions
        or device.allow_multiple_allocations
        or device.unsupported
        or device.unreadable
        or device.node_resources
        or any(capacity.policy for capacity in device.capacity.values())
    )


def _policies(device: Device) -> dict[str, CapacityPolicy]:
    return {name: capacity.policy for name, capacity in device.capacity.items() if capacity.policy is not None}


def _key(device: Device) -> object:
    counters = tuple(
        (consumption.counter_set, tuple(consumption.counters.items()), consumption.compatibility_groups)
        for consumption in device.consumes_counters
    )
    return (
        counters,
        device.scope,
        device.taints,
        device.binds_to_node,
        device.binding_conditions,
        device.binding_failure_conditions,
        device.allow_multiple_allocations,
        repr(_policies(device)),
        device.unsupported,
        device.unreadable,
        repr(device.node_resources) if device.node_resources else "",
    )


def _traits(device: Device) -> Traits:
    return Traits(
        device.consumes_counters,
        device.scope,
        device.taints,
        device.binds_to_node,
        device.binding_conditions,
        device.binding_failure_conditions,
        device.allow_multiple_allocations,
        _policies(device),
        device.unsupported,
        device.unreadable,
        device.node_resources,
    )
