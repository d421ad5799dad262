"""distinct: four devices on four NUMA nodes, half full. distinct-none asks for five of the four."""

from __future__ import annotations

from dra_bench.allocate import objects
from dra_bench.allocate.scenario import Scenario, Size, Workload
from dra_bench.allocate.workloads import plain


def _distinct(size: Size) -> Scenario:
    claim = objects.claim(objects.request(count=4), constraints=[objects.distinct("numa")])
    return plain.half_full(size, claim)


def _none(size: Size) -> Scenario:
    claim = objects.claim(objects.request(count=5), constraints=[objects.distinct("numa")])
    return plain.half_full(size, claim, turnover="none", fits=False)


WORKLOADS = (
    Workload("distinct", "four devices on different NUMA nodes, half full", _distinct),
    Workload("distinct-none", "five devices on different ones of four NUMA nodes: no node fits", _none),
)
