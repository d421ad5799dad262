"""A `World` of the strategies as a cluster for the allocator."""

from __future__ import annotations

from dra_allocator.outcome import AllocationResult, DeviceResult
from dra_cel.quantity import Quantity
from support.clusters import NODES, World
from support.devices import Cluster


def cluster_of(world: World) -> Cluster:
    cluster = Cluster(*world.slices, nodes=NODES)
    for number, (device, holders) in enumerate(world.held.items()):
        for holder in holders:
            amounts = {name: Quantity(nanos) for name, nanos in (holder or {}).items()}
            share = None if holder is None else "share"
            result = DeviceResult("r", device, share_id=share, consumed_capacity=amounts)
            cluster.ledger.observe(f"holder-{number}", AllocationResult((result,)))
    return cluster
