"""More in use than there is: devices held twice, shares beyond capacity, counters beyond their sets."""

from __future__ import annotations

from collections.abc import Iterator

from dra_cel.quantity import Quantity
from dra_scheduler.audit.finding import Finding
from dra_scheduler.audit.subject import Subject
from dra_scheduler.inventory.holding import Holding
from dra_scheduler.inventory.partitions import consumed, totals


def held_twice(subject: Subject) -> Iterator[Finding]:
    """Find devices with more than one holder of which one has the whole device. Admin access holds nothing."""
    for device_id, holders in subject.held.items():
        exclusive = [one for one in holders if not one.admin]
        published = subject.cluster.devices.device(device_id)
        shareable = published is None or published.allow_multiple_allocations
        if len(exclusive) > 1 and not (shareable and all(one.share_id is not None for one in exclusive)):
            yield Finding("device-held-twice", f"device {device_id}", f"held by {_named(exclusive)}")


def shares(subject: Subject) -> Iterator[Finding]:
    """Find devices whose shares consume more of a capacity than the device has (KEP-5075)."""
    for device_id, holders in subject.held.items():
        published = subject.cluster.devices.device(device_id)
        if published is None:
            continue
        capacities = {entry.published or name: entry.value for name, entry in published.capacity.items()}
        used: dict[str, Quantity] = {}
        for name, text in (item for one in holders if not one.admin for item in one.consumed.items()):
            amount = Quantity.parse(text)
            used[name] = used[name].add(amount) if name in used else amount
        for name, amount in sorted(used.items()):
            total = capacities.get(name)
            if total is not None and amount > total:
                text = f"capacity {name}: {amount} of {total} in use by {_named(holders)}"
                yield Finding("shares-exceed-capacity", f"device {device_id}", text)


def counters(subject: Subject) -> Iterator[Finding]:
    """Find counter sets of which the devices in use take more than there is (KEP-4815)."""
    if not subject.cluster.features.partitionable_devices:
        return
    for pool in subject.cluster.devices.pools.values():
        there = totals(pool)
        for (set_name, name), nanos in sorted(consumed(subject.cluster, subject.held, pool).items()):
            total = there.get((set_name, name))
            if total is not None and nanos > total.nanos:
                text = f"counter {name} of set {set_name}: {Quantity(nanos)} of {total} taken by the devices in use"
                yield Finding("counters-exceeded", f"pool {pool.id}", text)


def _named(holders: list[Holding]) -> str:
    return ", ".join(f"claim {one.claim}" + (f" (pods {', '.join(one.pods)})" if one.pods else "") for one in holders)
