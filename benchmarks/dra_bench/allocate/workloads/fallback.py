"""fallback: selectors that cannot be turned into column operations.

One reads two attributes in one expression: it is evaluated once per pair of values. The other goes over all attributes
of a device with a macro: it is evaluated device by device on the nodes that are visited.
"""

from __future__ import annotations

from dra_bench.allocate import objects
from dra_bench.allocate.scenario import Scenario, Size, Workload
from dra_bench.allocate.workloads import plain

D = objects.DRIVER
PAIRS = f'(device.attributes["{D}"].model + "-" + string(device.attributes["{D}"].index)).matches("^H100-[0-6]$")'
WHOLE_MAP = f'device.attributes["{D}"].exists(name, name == "model") && device.attributes["{D}"].model.startsWith("H1")'


def _pairs(size: Size) -> Scenario:
    return plain.half_full(size, objects.claim(objects.request(PAIRS)))


def _whole_map(size: Size) -> Scenario:
    return plain.half_full(size, objects.claim(objects.request(WHOLE_MAP)))


WORKLOADS = (
    Workload("fallback", "a selector evaluated per pair of attribute values, half full", _pairs),
    Workload("fallback-map", "a selector with a macro over all attributes, half full", _whole_map),
)
