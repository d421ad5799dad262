"""prioritized: eight big devices of a node that has them all free, or four, or one small one; half full."""

from __future__ import annotations

from dra_bench.allocate import objects
from dra_bench.allocate.scenario import Scenario, Size, Workload
from dra_bench.allocate.workloads import plain

D = objects.DRIVER


def _model(name: str) -> str:
    return f'device.attributes["{D}"].model == "{name}"'


def _prioritized(size: Size) -> Scenario:
    wanted = objects.alternatives(
        objects.request(_model("H100"), name="eight", count=8),
        objects.request(_model("A100"), name="four", count=4),
        objects.request(_model("T4"), name="one"),
    )
    return plain.half_full(size, objects.claim(wanted))


WORKLOADS = (Workload("prioritized", "eight H100, or four A100, or one T4, half full", _prioritized),)
