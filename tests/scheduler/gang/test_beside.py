"""Pods of a gang on different nodes that compete for devices which all nodes reach."""

from __future__ import annotations

import asyncio
import itertools
import random

from hypothesis import given, settings
from hypothesis import strategies as st

from dra_allocator.allocator import Allocator
from dra_scheduler.cache.cluster import Cluster
from dra_scheduler.cycle.cycle import Cycle
from dra_scheduler.cycle.decision import Bind
from dra_scheduler.feature_gates import NEWEST_MINOR, FeatureGates
from dra_scheduler.gang.group_cycle import GroupCycle
from dra_scheduler.settings import Settings
from support.fake_clock import FakeClock
from support.gangs import GATES
from support.objects import make_class, make_node, make_pod, meta

DEVICES = ("d0", "d1", "d2", "d3", "d4")
Want = list[frozenset[str]]
"""A pod: for each device that it wants, which of them will do."""

WANTS = st.lists(st.lists(st.frozensets(st.sampled_from(DEVICES), min_size=1), min_size=1, max_size=2), max_size=3)


def can_be_placed(wants: list[Want]) -> bool:
    """Try every way."""
    choices = [choice for want in wants for choice in want]
    return any(
        all(device in choice for device, choice in zip(given_, choices, strict=True))
        for given_ in itertools.permutations(DEVICES, len(choices))
    )


def make_gang(wants: list[Want]) -> Cluster:
    """As many nodes as pods, with room for one each."""
    gates = FeatureGates.of(GATES, NEWEST_MINOR)
    cluster = Cluster(gates.features(), gates)
    cluster.use(gates)
    cluster.apply_class(None, make_class())
    pool = {"name": "net", "generation": 1, "resourceSliceCount": 1}
    devices = [{"name": name, "attributes": {"name": {"string": name}}} for name in DEVICES]
    spec = {"driver": "gpu.example.com", "allNodes": True, "pool": pool, "devices": devices}
    cluster.apply_slice(None, {"metadata": meta("net", None), "spec": spec})
    policy = {"schedulingPolicy": {"gang": {"minCount": len(wants)}}}
    cluster.apply_pod_group(None, {"metadata": meta("g"), "spec": policy})
    for number, want in enumerate(wants):
        cluster.apply_node(None, make_node(f"n{number}", pods="1"))
        name = f"p{number}"
        requests = []
        for index, choice in enumerate(want):
            text = f'device.attributes["gpu.example.com"].name in {sorted(choice)}'
            exactly = {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1}
            requests.append({"name": f"r{index}", "exactly": exactly | {"selectors": [{"cel": {"expression": text}}]}})
        cluster.apply_claim(None, {"metadata": meta(name), "spec": {"devices": {"requests": requests}}, "status": {}})
        claims = [{"name": "own", "resourceClaimName": name}]
        cluster.apply_pod(None, make_pod(name, claims=claims, schedulingGroup={"podGroupName": "g"}))
    return cluster


@settings(max_examples=60, deadline=None)
@given(WANTS.filter(lambda wants: len(wants) > 1), st.integers(0, 3))
def test_they_all_get_devices_exactly_if_there_is_a_way(wants: list[Want], seed: int) -> None:
    cluster = make_gang(wants)
    allocator = Allocator(share_ids=lambda: "00000000-0000-4000-8000-000000000000")
    clock, setup = FakeClock(), Settings()
    cycle = Cycle(cluster, allocator, setup, clock, random.Random(seed))
    work = GroupCycle(cluster, cycle, allocator, setup, clock).decide(("default", "g"), list(cluster.pods))
    decision = asyncio.run(work)
    assert decision is not None
    assert decision.scheduled == can_be_placed(wants)
    assert not cluster.ledger.conflicts()
    binds = [bind for _, bind in decision.decisions if isinstance(bind, Bind)]
    assert len({bind.node for bind in binds}) == len(binds) == (len(wants) if decision.scheduled else 0)
