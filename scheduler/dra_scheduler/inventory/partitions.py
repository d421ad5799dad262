"""Partitions of one device: what the devices in use take of shared counters, and which devices that keeps away."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from dra_allocator.device import DeviceID
from dra_allocator.facts import amount_text
from dra_allocator.pools import counter_sets
from dra_allocator.records import PoolRecord
from dra_cel.quantity import Quantity
from dra_scheduler.cache.cluster import Cluster
from dra_scheduler.inventory.holding import Holding

Held = Mapping[DeviceID, Sequence[Holding]]
Nanos = Mapping[tuple[str, str], int]
"""Nano-units by counter set and counter."""


def consumed(cluster: Cluster, held: Held, pool: PoolRecord) -> Nanos:
    """Return what the pool's held devices take, each device once (KEP-4815)."""
    rows = cluster.devices.rows
    used: dict[tuple[str, str], int] = defaultdict(int)
    counted: set[DeviceID] = set()
    for record in pool.newest_slices():
        for row in record.rows.tolist():
            device_id = rows.device_id(row)
            if device_id in counted or all(one.admin for one in held.get(device_id, ())):
                continue
            counted.add(device_id)
            for consumption in rows.traits_of(row).consumes_counters:
                for name, amount in consumption.counters.items():
                    used[consumption.counter_set, name] += amount.nanos
    return used


def totals(pool: PoolRecord) -> Mapping[tuple[str, str], Quantity]:
    """Return what there is of every counter of the pool, by counter set and counter."""
    return {
        (set_name, name): amount
        for set_name, counters in counter_sets(pool.newest_slices()).items()
        for name, amount in counters.counters.items()
    }


def blocked(cluster: Cluster, held: Held) -> dict[int, str]:
    """Return by row why a device cannot be had, even alone: other devices in use take too much of a counter."""
    if not cluster.features.partitionable_devices:
        return {}
    found = {}
    for pool in cluster.devices.pools.values():
        there = {key: amount.nanos for key, amount in totals(pool).items()}
        if there:
            used = consumed(cluster, held, pool)
            for record in pool.newest_slices():
                for row in record.rows.tolist():
                    why = next(_short(cluster, row, there, used), "")
                    if why:
                        found[row] = why
    return found


def _short(cluster: Cluster, row: int, there: Nanos, used: Nanos) -> Iterator[str]:
    for consumption in cluster.devices.rows.traits_of(row).consumes_counters:
        for name, amount in consumption.counters.items():
            key = consumption.counter_set, name
            left = there.get(key, 0) - used.get(key, 0)
            if amount.nanos > left:
                whose = f"counter {name} of {consumption.counter_set}"
                yield f"{whose}: {amount_text(amount.nanos)} needed, {amount_text(max(0, left))} left"
