"""churn: half full, one device of a class per claim, and for each claim that comes a random one goes."""

from __future__ import annotations

from dra_bench.allocate import objects
from dra_bench.allocate.scenario import Scenario, Size, Workload
from dra_bench.allocate.workloads import plain


def _churn(size: Size) -> Scenario:
    return plain.half_full(size, objects.claim(objects.request()), turnover="random")


WORKLOADS = (Workload("churn", "one device of a class, half full, claims come and go", _churn),)
