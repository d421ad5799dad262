"""The first use of a selector text: it is compiled and evaluated over all devices before anything can be counted."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from dra_api import decode
from dra_bench.allocate import objects
from dra_bench.allocate.loop import collector_off
from dra_bench.allocate.row import Row, memory_mib, percentile
from dra_bench.allocate.scenario import Scenario, Size
from dra_bench.allocate.workloads import plain
from dra_bench.allocate.world import World

D = objects.DRIVER
_TEXTS = 60


def vectorised(number: int, index: int = 0) -> str:
    """Return a text that becomes column operations, another one for each pair of numbers."""
    memory = f'device.capacity["{D}"].memory.compareTo(quantity("{40_000 + number}Mi")) >= 0'
    return f'device.attributes["{D}"].model == "H100" && device.attributes["{D}"].index >= {index} && {memory}'


def fallback(number: int) -> str:
    """Return a text that is evaluated for each of 104 pairs of values."""
    pair = f'string(device.attributes["{D}"].index) + "-" + string(device.attributes["{D}"].rack)'
    return f'({pair}).matches("^[0-6]-1[0-2]?$") && {number} >= 0'


def _slices(devices: int, number: int) -> list[objects.JSON]:
    rack = {"rack": {"int": number % 13}}
    found = [objects.gpu(at, model=number % 4, attributes=rack) for at in range(devices)]
    return [objects.resource_slice(number, found)]


def first_use(
    name: str, text: Callable[[int], str], nodes: int | None, seconds: float, progress: Callable[[float], None]
) -> Iterator[Row]:
    """Yield the row: decisions with a new text each."""
    size = Size(nodes or 5000, 8)
    claims = (objects.claim(objects.request(text(0))),)
    world = World(Scenario(size, partial(_slices, size.devices), claims, plain.half_held(size)))
    durations: list[float] = []
    begun = time.perf_counter()
    with collector_off():
        for number in range(1, _TEXTS + 1):
            claim = decode.resource_claim(objects.claim(objects.request(text(number))))
            claim = replace(claim, uid=f"first-{number}", name=f"first-{number}")
            started = time.perf_counter()
            world.decide((claim,), number)
            durations.append((time.perf_counter() - started) * 1000)
            progress(number / _TEXTS)
    yield Row(
        workload=name,
        nodes=size.nodes,
        devices=size.devices,
        allocations_per_s=round(_TEXTS / (time.perf_counter() - begun), 1),
        p50_ms=percentile(durations[1:], 50),
        p99_ms=percentile(durations[1:], 99),
        load_s=round(world.load_seconds, 3),
        rss_mib=memory_mib(),
    )
