"""nofit: claims that fit nowhere, decided and explained.

nofit asks for a model with more memory than it has, nofit-held for as many devices as a node has while half are held.
"""

from __future__ import annotations

from dra_bench.allocate import objects
from dra_bench.allocate.scenario import Scenario, Size, Workload
from dra_bench.allocate.workloads import plain

D = objects.DRIVER
_SELECTOR = (
    f'device.attributes["{D}"].model == "H100" && device.capacity["{D}"].memory.compareTo(quantity("81Gi")) >= 0'
)


def _nofit(size: Size) -> Scenario:
    claim = objects.claim(objects.request(_SELECTOR))
    return plain.half_full(size, claim, turnover="none", fits=False, explained=True)


def _held(size: Size) -> Scenario:
    model = f'device.attributes["{D}"].model == "H100"'
    claim = objects.claim(objects.request(model, count=size.devices + 1))
    return plain.half_full(size, claim, turnover="none", fits=False, explained=True)


WORKLOADS = (
    Workload("nofit", "a selector that nothing matches, half full, with its explanation", _nofit),
    Workload("nofit-held", "more devices than nodes have, half of them held, with its explanation", _held),
)
