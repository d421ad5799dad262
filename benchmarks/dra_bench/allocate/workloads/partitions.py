"""partitions: GPUs that can be cut into 19 partitions whose counters allow at most seven at once (KEP-4815)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from random import Random
from typing import Any, NamedTuple

from dra_bench.allocate import objects
from dra_bench.allocate.scenario import Hold, Scenario, Size, Workload
from dra_bench.allocate.workloads.plain import SEED

JSON = dict[str, Any]
_IN_SLICE = 64
"""Most devices of a slice that consume counters."""


class _Profile(NamedTuple):
    """A kind of partition: memory in GiB, compute slices, and at which memory slices it may start, with its length."""

    name: str
    memory: int
    compute: int
    starts: tuple[int, ...]
    length: int
    media: int = 0


PROFILES = (
    _Profile("1g.10gb", 10, 1, (0, 1, 2, 3, 4, 5, 6), 1),
    _Profile("1g.10gb.me", 10, 1, (0,), 1, media=1),
    _Profile("1g.20gb", 20, 1, (0, 2, 4, 6), 2),
    _Profile("2g.20gb", 20, 2, (0, 2, 4), 2),
    _Profile("3g.40gb", 40, 3, (0, 4), 4),
    _Profile("4g.40gb", 40, 4, (0,), 4),
    _Profile("7g.80gb", 80, 7, (0,), 8),
)
PER_GPU = sum(len(profile.starts) for profile in PROFILES)


def _partitions(gpu: int) -> Iterator[JSON]:
    for profile in PROFILES:
        for start in profile.starts:
            counters = {"compute": {"value": str(profile.compute)}, "media": {"value": str(profile.media)}}
            counters |= {f"memory-slice-{at}": {"value": "1"} for at in range(start, start + profile.length)}
            yield {
                "name": f"gpu-{gpu}-{profile.name.replace('.', '-')}-{start}",
                "attributes": {"profile": {"string": profile.name}, "parent": {"string": f"gpu-{gpu}"}},
                "capacity": {"memory": {"value": f"{profile.memory}Gi"}},
                "consumesCounters": [{"counterSet": f"gpu-{gpu}", "counters": counters}],
            }


def _counters(gpu: int) -> JSON:
    counters = {"compute": {"value": "7"}, "media": {"value": "1"}}
    counters |= {f"memory-slice-{at}": {"value": "1"} for at in range(8)}
    return {"name": f"gpu-{gpu}", "counters": counters}


def slices(devices: int, number: int) -> Sequence[JSON]:
    """Return the slices of a node: the counters of its GPUs, and their partitions."""
    gpus = range(max(1, devices // PER_GPU))
    found = [one for gpu in gpus for one in _partitions(gpu)]
    chunks = [found[start : start + _IN_SLICE] for start in range(0, len(found), _IN_SLICE)]
    parts = len(chunks) + 1
    counters = objects.resource_slice(number, (), parts=parts, sharedCounters=[_counters(gpu) for gpu in gpus])
    rest = [objects.resource_slice(number, one, part=at, parts=parts) for at, one in enumerate(chunks, start=1)]
    return [counters, *rest]


def _holds(size: Size) -> tuple[tuple[Hold, ...], ...]:
    """Return holds of about half of the GPUs' memory: two GPUs in four are held as a whole or cut in parts."""
    random = Random(SEED)
    choices = (("7g-80gb-0",), ("3g-40gb-0", "3g-40gb-4"), ("4g-40gb-0", "2g-20gb-4"), ("1g-10gb-5",), (), (), ())
    found = []
    for node in range(size.nodes):
        for gpu in range(max(1, size.devices // PER_GPU)):
            found += [(Hold(node, f"gpu-{gpu}-{name}"),) for name in random.choice(choices)]
    return tuple(found)


def _scenario(size: Size, profile: str, **more: Any) -> Scenario:
    selector = f'device.attributes["{objects.DRIVER}"].profile == "{profile}"'
    claim = objects.claim(objects.request(selector))
    return Scenario(size, partial(slices, size.devices), (claim,), _holds(size), **more)


def _small(size: Size) -> Scenario:
    return _scenario(size, "2g.20gb")


def _none(size: Size) -> Scenario:
    """Every GPU has a small partition in use, so that none can be had as a whole."""
    gpus = [(node, gpu) for node in range(size.nodes) for gpu in range(max(1, size.devices // PER_GPU))]
    whole = _scenario(size, "7g.80gb").claims
    holds = tuple((Hold(node, f"gpu-{gpu}-1g-10gb-5"),) for node, gpu in gpus)
    return Scenario(size, partial(slices, size.devices), whole, holds, turnover="none", fits=False)


WORKLOADS = (
    Workload("partitions", "a 2g.20gb partition of GPUs with 19 partitions and counters", _small, devices=4 * PER_GPU),
    Workload(
        "partitions-none", "a whole GPU where each has a partition in use: no node fits", _none, 5000, 4 * PER_GPU
    ),
)
