"""fill: an empty cluster, one device of a class per claim, until it is full; then again."""

from __future__ import annotations

from functools import partial

from dra_bench.allocate import objects
from dra_bench.allocate.scenario import Scenario, Size, Workload
from dra_bench.allocate.workloads import plain


def _fill(size: Size) -> Scenario:
    return Scenario(size, partial(plain.slices, size.devices), (objects.claim(objects.request()),), turnover="fill")


WORKLOADS = (Workload("fill", "one device of a class, from empty to full", _fill),)
