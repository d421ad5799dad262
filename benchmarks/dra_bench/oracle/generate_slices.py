"""Random pools: several slices, generations that are incomplete or on their way out, counters in own slices."""

from __future__ import annotations

from typing import Any

from dra_bench.oracle.draw import Draw
from dra_bench.oracle.generate_devices import COUNTER_SETS, COUNTERS, DeviceMaker, scope

JSON = dict[str, Any]
API_VERSION = "resource.k8s.io/v1"
DRIVERS = ("a.example.com", "b.example.com")
POOLS = ("pool-1", "pool-2")
CROWD = "crowd"
"""The aspect of clusters with many devices and large counts."""


def slices(draw: Draw, aspects: frozenset[str]) -> list[JSON]:
    """The slices of one to four pools, in a random order."""
    pools = draw.some([(driver, pool) for driver in DRIVERS for pool in POOLS], 1, draw.weighted({1: 3, 2: 5, 4: 3}))
    made = [slice_ for driver, pool in pools for slice_ in PoolMaker(draw, aspects, driver, pool).make()]
    names = draw.shuffled(range(len(made)))
    for number, slice_ in zip(names, made, strict=True):
        slice_["metadata"]["name"] = f"slice-{number}"
    return draw.shuffled(made)


class PoolMaker:
    """Makes the slices of one pool; all of a generation usually have one scope."""

    def __init__(self, draw: Draw, aspects: frozenset[str], driver: str, pool: str) -> None:
        self._draw = draw
        self._aspects = aspects
        self._driver = driver
        self._pool = pool
        self._devices = DeviceMaker(draw, aspects, driver)

    def make(self) -> list[JSON]:
        """The newest generation, and sometimes what is left of the one before."""
        made = self._generation(2)
        if self._draw.chance(0.15):
            left = self._generation(1)
            made += left if self._draw.chance(0.5) else left[:1]
        return made

    def _generation(self, generation: int) -> list[JSON]:
        draw = self._draw
        counters = "counters" in self._aspects and draw.chance(0.7)
        common = scope(draw)
        specs = []
        first = 0
        for _ in range(draw.weighted({1: 6, 2: 3, 3: 1})):
            per_device = "counters" in self._aspects and draw.chance(0.25)
            own = {"perDeviceNodeSelection": True} if per_device else scope(draw) if draw.chance(0.2) else common
            count = draw.weighted({0: 1, 1: 3, 2: 8, 3: 10, 4: 8, 5: 5})
            if CROWD in self._aspects:
                count = draw.number(5, 12)
            if draw.chance(0.03):
                first = 0  # the names of the slice before, again: the pool is invalid
            devices = [
                self._devices.device(f"dev-{first + number}", per_device=per_device, counters=counters)
                for number in range(count)
            ]
            first += count
            spec = {**own, "devices": devices}
            if "operations" in self._aspects and draw.chance(0.4):
                spec["skipNodeOperations"] = draw.one(
                    [["*"], ["NodeUnprepareResources"], ["NodePrepareResources", "NodeUnprepareResources"]]
                )
            specs.append(spec)
        if counters:
            specs += self._counter_slices(common)
        total = len(specs) + (1 if draw.chance(0.06) else 0)  # one more than there is: the pool is incomplete
        return [self._slice(spec, generation, total) for spec in specs]

    def _counter_slices(self, common: JSON) -> list[JSON]:
        draw = self._draw
        sets = [
            {"name": name, "counters": {counter: {"value": draw.one(["2", "3", "4", "6"])} for counter in COUNTERS}}
            for name in COUNTER_SETS
        ]
        if draw.chance(0.04):
            sets = sets[:1]  # a device may consume from the other one: the pool is then invalid
        if len(sets) == 2 and draw.chance(0.3):
            return [{**common, "sharedCounters": [one]} for one in sets]
        return [{**(scope(draw) if draw.chance(0.2) else common), "sharedCounters": sets}]

    def _slice(self, spec: JSON, generation: int, total: int) -> JSON:
        pool = {"name": self._pool, "generation": generation, "resourceSliceCount": total}
        return {
            "apiVersion": API_VERSION,
            "kind": "ResourceSlice",
            "metadata": {"name": ""},
            "spec": {"driver": self._driver, "pool": pool, **spec},
        }
