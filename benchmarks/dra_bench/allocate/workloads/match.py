"""match: five devices on one PCIe root, of which most are in part in use: counting alone does not find the node.

Five devices share a root. A quarter of the roots are free; of the others one to four devices are held. match-none asks
for six: nodes have six devices free, but never on one root.
"""

from __future__ import annotations

from functools import partial
from random import Random
from typing import Any

from dra_bench.allocate import objects
from dra_bench.allocate.scenario import Hold, Scenario, Size, Workload
from dra_bench.allocate.workloads import plain


def _held(size: Size) -> tuple[tuple[Hold, ...], ...]:
    random = Random(plain.SEED)
    found = []
    for node in range(size.nodes):
        for first in range(0, size.devices, 5):
            root = range(first, min(first + 5, size.devices))
            count = random.choice((0, 1, 2, 3, 4)) if random.random() < 0.9 else 0
            found += [(Hold(node, f"gpu-{device}"),) for device in random.sample(root, min(count, len(root)))]
    return tuple(found)


def _scenario(size: Size, count: int, **more: Any) -> Scenario:
    claim = objects.claim(objects.request(count=count), constraints=[objects.match("pciRoot")])
    return Scenario(size, partial(plain.slices, size.devices), (claim,), _held(size), **more)


def _match(size: Size) -> Scenario:
    return _scenario(size, 5)


def _none(size: Size) -> Scenario:
    return _scenario(size, 6, turnover="none", fits=False)


WORKLOADS = (
    Workload("match", "five devices with the same pciRoot, roots in part in use", _match),
    Workload("match-none", "six devices with the same pciRoot where five have it: no node fits", _none),
)
