"""How long it takes from ResourceSlices to a scheduler that is ready, its first decision included."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from dra_bench.allocate.loop import measure
from dra_bench.allocate.registry import WORKLOADS
from dra_bench.allocate.row import Row, memory_mib, rates
from dra_bench.allocate.world import World


def load(name: str, nodes: int | None, seconds: float, progress: Callable[[float], None]) -> Iterator[Row]:
    """Yield the row: `load_s` ends with the first decision."""
    world = World(WORKLOADS["selector"].scenario(nodes))
    started = time.perf_counter()
    world.decide(world.claims(0), 0)
    loaded = world.load_seconds + time.perf_counter() - started
    size = world.scenario.size
    figures = rates(measure(world, min(seconds, 1.0), progress))
    yield Row(name, size.nodes, size.devices, **figures, load_s=round(loaded, 3), rss_mib=memory_mib())
