"""The joint search against all ways to place a small gang."""

from __future__ import annotations

import asyncio
import itertools
import random
from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st

from dra_allocator.allocator import Allocator
from dra_scheduler.cache.cluster import Cluster
from dra_scheduler.cache.pod_info import PodInfo
from dra_scheduler.cycle.cycle import Cycle
from dra_scheduler.cycle.decision import Bind
from dra_scheduler.feature_gates import NEWEST_MINOR, FeatureGates
from dra_scheduler.gang.group_cycle import GroupCycle
from dra_scheduler.settings import Settings
from support.fake_clock import FakeClock
from support.gangs import GATES, counters_slice, halves_slice
from support.objects import Raw, make_class, make_node, make_pod, meta

SHARED = "shared"


@dataclass(frozen=True)
class Room:
    """A node: how many pods have room, its plain devices, its cards that can be had whole or in halves, its CPUs."""

    pods: int
    plain: int
    cards: int
    cpu: int = 8


@dataclass(frozen=True)
class Want:
    """A pod: how many plain devices of its own, half a card or more, a part in the shared claim, only one node."""

    plain: int = 0
    card: bool = False
    shared: bool = False
    only: int | None = None


ROOMS = st.lists(st.builds(Room, st.integers(0, 3), st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=3)
WANTS = st.lists(
    st.builds(Want, st.integers(0, 2), st.booleans(), st.booleans(), st.none() | st.integers(0, 2)),
    min_size=2,
    max_size=4,
)


def can_be_placed(rooms: list[Room], wants: list[Want]) -> bool:
    """Try every way."""
    return any(
        all(
            _fits(room, [w for w, at in zip(wants, places, strict=True) if at == number])
            for number, room in enumerate(rooms)
        )
        and len({at for w, at in zip(wants, places, strict=True) if w.shared}) <= 1
        and all(w.only is None or w.only == at for w, at in zip(wants, places, strict=True))
        for places in itertools.product(range(len(rooms)), repeat=len(wants))
    )


def _fits(room: Room, wants: list[Want]) -> bool:
    plain = sum(want.plain for want in wants) + any(want.shared for want in wants)
    return len(wants) <= room.pods and plain <= room.plain and sum(want.card for want in wants) <= 2 * room.cards


def make_claim(name: str, *requests: Raw) -> Raw:
    return {"metadata": meta(name), "spec": {"devices": {"requests": list(requests)}}, "status": {}}


def exactly(count: int) -> Raw:
    return {"name": "plain", "exactly": {"deviceClassName": "plain", "allocationMode": "ExactCount", "count": count}}


def part(kind: str) -> Raw:
    selector = {"cel": {"expression": f'device.attributes["gpu.example.com"].kind == "{kind}"'}}
    return {
        "name": kind,
        "deviceClassName": "cards",
        "selectors": [selector],
        "allocationMode": "ExactCount",
        "count": 1,
    }


def make_cluster(rooms: list[Room]) -> Cluster:
    gates = FeatureGates.of(GATES, NEWEST_MINOR)
    cluster = Cluster(gates.features(), gates)
    cluster.use(gates)
    for name, driver in (("plain", "plain.example.com"), ("cards", "gpu.example.com")):
        selector = {"cel": {"expression": f'device.driver == "{driver}"'}}
        cluster.apply_class(None, make_class(name) | {"spec": {"selectors": [selector]}})
    for number, room in enumerate(rooms):
        node = f"n{number}"
        cluster.apply_node(None, make_node(node, pods=str(room.pods), cpu=str(room.cpu + number)))
        devices = [{"name": f"d{i}"} for i in range(room.plain)]
        pool = {"name": node, "generation": 1, "resourceSliceCount": 1}
        spec = {"driver": "plain.example.com", "nodeName": node, "pool": pool, "devices": devices}
        cluster.apply_slice(None, {"metadata": meta(f"plain-{node}", None), "spec": spec})
        for made in (halves_slice(node, room.cards), counters_slice(node, room.cards)) if room.cards else ():
            cluster.apply_slice(None, made | {"metadata": meta(made["metadata"]["name"], None)})
    return cluster


def make_gang(cluster: Cluster, wants: list[Want]) -> list[PodInfo]:
    if any(want.shared for want in wants):
        cluster.apply_claim(None, make_claim(SHARED, exactly(1)))
    policy = {"schedulingPolicy": {"gang": {"minCount": len(wants)}}}
    cluster.apply_pod_group(None, {"metadata": meta("g"), "spec": policy})
    pods = []
    for number, want in enumerate(wants):
        name, claims = f"p{number}", []
        requests = [exactly(want.plain)] if want.plain else []
        if want.card:
            requests.append({"name": "card", "firstAvailable": [part("whole"), part("half")]})
        if requests:
            cluster.apply_claim(None, make_claim(name, *requests))
            claims.append({"name": "own", "resourceClaimName": name})
        if want.shared:
            claims.append({"name": "shared", "resourceClaimName": SHARED})
        at = {} if want.only is None else {"nodeSelector": {"kubernetes.io/hostname": f"n{want.only}"}}
        cluster.apply_pod(None, make_pod(name, claims=claims, schedulingGroup={"podGroupName": "g"}, **at))
        pod = cluster.pods.get(f"uid-{name}")
        assert pod is not None
        pods.append(pod)
    return pods


def decide(rooms: list[Room], wants: list[Want], seed: int = 0) -> dict[str, Bind] | None:
    """Decide a gang that needs all of its pods; None: it has no place. Checks what was assumed, and what was not."""
    cluster = make_cluster(rooms)
    pods = make_gang(cluster, wants)
    allocator = Allocator(share_ids=lambda: "00000000-0000-4000-8000-000000000000")
    clock, setup = FakeClock(), Settings()
    cycle = Cycle(cluster, allocator, setup, clock, random.Random(seed))
    before = cluster.ledger.held()
    decision = asyncio.run(GroupCycle(cluster, cycle, allocator, setup, clock).decide(("default", "g"), pods))
    assert decision is not None
    if not decision.scheduled:
        assert set(cluster.ledger.held()) == set(before) == set()
        assert not list(cluster.pods.placed())
        assert all(claim.assumed is None for claim in cluster.claims)
        return None
    binds = {pod.name: bind for pod, bind in decision.decisions if isinstance(bind, Bind)}
    assert len(binds) == len(pods)
    assert not cluster.ledger.conflicts()
    for pod in pods:
        assert cluster.pods.assumed_node(pod.uid) == binds[pod.name].node
        for plan in binds[pod.name].claims:
            claim = cluster.claims.by_uid(plan.uid)
            assert claim is not None
            assert plan.allocation == claim.assumed == cluster.ledger.result(plan.uid)
    return binds


def test_pods_that_need_nothing_make_room_for_those_that_share_a_claim() -> None:
    rooms = [Room(1, 0, 1), Room(1, 0, 0), Room(2, 1, 1)]
    wants = [Want(), Want(card=True), Want(shared=True), Want(shared=True)]
    for order in itertools.permutations(wants):
        assert decide(rooms, list(order)) is not None


def test_a_shared_claim_moves_to_where_a_gang_of_many_has_room() -> None:
    """2 ^ 12 ways to give each pod a node are too many to try: what the pod that missed says has to do."""
    rooms = [Room(12, 1, 0), Room(3, 1, 0, cpu=800)]
    (alone,) = (decide(rooms, [Want(shared=True)]) or {}).values()
    assert alone.node == "n1"
    binds = decide(rooms, [Want(shared=True)] * 12)
    assert binds is not None
    assert {bind.node for bind in binds.values()} == {"n0"}


@settings(max_examples=300, deadline=None)
@given(ROOMS, WANTS, st.integers(0, 3))
def test_a_gang_is_placed_exactly_if_there_is_a_way_to_place_it(
    rooms: list[Room], wants: list[Want], seed: int
) -> None:
    binds = decide(rooms, wants, seed)
    assert (binds is not None) == can_be_placed(rooms, wants)
    if binds is None:
        return
    at = [int(binds[f"p{number}"].node[1:]) for number in range(len(wants))]
    for number, room in enumerate(rooms):
        assert _fits(room, [want for want, place in zip(wants, at, strict=True) if place == number])


def test_a_search_in_vain_is_not_repeated_at_once() -> None:
    clock = FakeClock()
    cluster = make_cluster([Room(2, 1, 0)])
    pods = make_gang(cluster, [Want(plain=1), Want(plain=1)])
    allocator = Allocator(share_ids=lambda: "00000000-0000-4000-8000-000000000000")
    cycle = Cycle(cluster, allocator, Settings(), clock, random.Random(0))
    groups = GroupCycle(cluster, cycle, allocator, Settings(), clock)
    decide_one = cycle.decide
    calls = 0

    async def slow(pod: PodInfo, *rest: object) -> object:
        nonlocal calls
        calls += 1
        clock.advance(0.1)
        return await decide_one(pod, *rest)  # type: ignore[arg-type]

    cycle.decide = slow  # type: ignore[method-assign,assignment]
    plugins = []
    for _ in range(2):
        decision = asyncio.run(groups.decide(("default", "g"), pods))
        assert decision is not None
        plugins.append({bool(getattr(reject, "plugins", None)) for _, reject in decision.decisions})
    # The second time it was not searched for, and the pods are to be tried again whatever happens.
    assert plugins == [{True}, {False}]
    searched = calls
    clock.advance(60)
    asyncio.run(groups.decide(("default", "g"), pods))
    assert calls - searched > 2
