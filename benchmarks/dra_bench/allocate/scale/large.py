"""A large cluster, streamed by another process as a watch would; then one slice of it changes again and again."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial

import orjson

from dra_api import decode
from dra_bench.allocate import objects
from dra_bench.allocate.errors import WorkerDiedError
from dra_bench.allocate.loop import collector_off
from dra_bench.allocate.row import Row, memory_mib, percentile
from dra_bench.allocate.scenario import Scenario, Size
from dra_bench.allocate.workloads import plain
from dra_bench.allocate.workloads.selector import SELECTOR
from dra_bench.allocate.world import World

_CHANGES = 200
_DEVICES = 8


def large(name: str, nodes: int | None, seconds: float, progress: Callable[[float], None]) -> Iterator[Row]:
    """Yield two rows: how loading goes, and a decision after one slice of all has changed."""
    size = Size(nodes or 100_000, _DEVICES)
    scenario = Scenario(size, partial(plain.slices, size.devices), (objects.claim(objects.request(SELECTOR)),))
    with collector_off():
        begun = time.perf_counter()
        world = World(scenario, lines=_streamed(size.nodes, progress))
        world.decide(world.claims(0), 0)
        loaded = round(time.perf_counter() - begun, 3)
        yield Row(f"{name}/stream", size.nodes, size.devices, load_s=loaded, rss_mib=memory_mib())
        durations = [_change(world, scenario, number) for number in range(_CHANGES + 1)][1:]
    yield Row(
        workload=f"{name}/change",
        nodes=size.nodes,
        devices=size.devices,
        allocations_per_s=round(1000 * len(durations) / sum(durations), 1),
        p50_ms=percentile(durations, 50),
        p99_ms=percentile(durations, 99),
        rss_mib=memory_mib(),
    )


def _change(world: World, scenario: Scenario, number: int) -> float:
    """Publish a node's slice with one device less or more; return the milliseconds until a decision knows it."""
    node = (number * 7919) % scenario.size.nodes
    raw = scenario.slices(node)[0]
    devices = raw["spec"]["devices"]
    raw["spec"]["devices"] = devices[: len(devices) - number % 2]
    raw["metadata"]["resourceVersion"] = str(number + 2)
    line = orjson.dumps(raw)
    claims = world.claims(number + 1)
    started = time.perf_counter()
    world.table.apply_slice(decode.resource_slice(orjson.loads(line)))
    world.decide(claims, node)
    return (time.perf_counter() - started) * 1000


def _streamed(nodes: int, progress: Callable[[float], None]) -> Iterator[bytes]:
    """Yield the slices as another process writes them. Raises WorkerDiedError."""
    command = [sys.executable, "-m", "dra_bench.allocate.scale.large", str(nodes)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        for number, line in enumerate(process.stdout):
            yield line
            progress(number / nodes)
    if process.returncode:
        raise WorkerDiedError(f"the process that streams ended with exit code {process.returncode}")


def main() -> int:
    """Write the slices of a cluster of so many nodes to stdout, one a line."""
    for number in range(int(sys.argv[1])):
        for one in plain.slices(_DEVICES, number):
            sys.stdout.buffer.write(orjson.dumps(one) + b"\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
