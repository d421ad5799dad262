"""Many different selector texts in a row: what is kept for them is bounded."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from dra_api import decode
from dra_bench.allocate import objects
from dra_bench.allocate.loop import collector_off
from dra_bench.allocate.row import Row, memory_mib, percentile
from dra_bench.allocate.scale.first import vectorised
from dra_bench.allocate.scenario import Scenario, Size
from dra_bench.allocate.workloads import plain
from dra_bench.allocate.world import World

TEXTS = 100_000
_ROWS_AT = (10_000, 20_000, 50_000, 100_000)


def texts(
    name: str,
    nodes: int | None,
    seconds: float,
    progress: Callable[[float], None],
    *,
    every: Sequence[int] = _ROWS_AT,
) -> Iterator[Row]:
    """Yield a row after so many texts each: `rss_mib` tells whether memory grows."""
    size = Size(nodes or 50, 8)
    plain_claim = objects.claim(objects.request(vectorised(0)))
    world = World(Scenario(size, lambda number: plain.slices(size.devices, number), (plain_claim,)))
    durations: list[float] = []
    with collector_off():
        for number in range(1, every[-1] + 1):
            claim = decode.resource_claim(objects.claim(objects.request(vectorised(number % 40_000, number // 40_000))))
            claim = replace(claim, uid="text", name="text")
            started = time.perf_counter()
            world.decide((claim,), number)
            durations.append((time.perf_counter() - started) * 1000)
            world.release("text")
            if number in every:
                yield _row(f"{name}/{number}", size, durations)
                durations.clear()
            progress(number / every[-1])


def _row(name: str, size: Size, durations: list[float]) -> Row:
    return Row(
        workload=name,
        nodes=size.nodes,
        devices=size.devices,
        allocations_per_s=round(1000 * len(durations) / sum(durations), 1),
        p50_ms=percentile(durations, 50),
        p99_ms=percentile(durations, 99),
        rss_mib=memory_mib(),
    )
