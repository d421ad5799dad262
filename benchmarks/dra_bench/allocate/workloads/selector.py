"""selector: half full, a CEL selector on model and memory."""

from __future__ import annotations

from dra_bench.allocate import objects
from dra_bench.allocate.scenario import Scenario, Size, Workload
from dra_bench.allocate.workloads import plain

D = objects.DRIVER
SELECTOR = f'device.attributes["{D}"].model == "H100" && device.capacity["{D}"].memory.compareTo(quantity("40Gi")) >= 0'


def _selector(size: Size) -> Scenario:
    return plain.half_full(size, objects.claim(objects.request(SELECTOR)))


WORKLOADS = (Workload("selector", "a selector on model and memory, half full", _selector),)
