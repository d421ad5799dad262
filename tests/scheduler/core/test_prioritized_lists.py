"""Prioritized lists: nodes that serve earlier alternatives win, without a look at every node."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dra_allocator.allocator import Allocator
from dra_allocator.claim import DeviceRequest, ResourceClaim
from dra_allocator.device import DeviceID
from dra_allocator.outcome import AllocationResult, DeviceResult
from dra_scheduler.cycle.decision import Bind
from dra_scheduler.cycle.preference import WEIGHT, normalized, points, to_compare, total_points
from support.known import decide, known_cluster, known_pod, make_cycle
from support.objects import Raw, make_claim, make_class, make_node, make_pod, make_slice

MAX_INT32 = 2**31 - 1


def lists(*lengths: int, uid: str = "c") -> ResourceClaim:
    requests = tuple(
        DeviceRequest(f"r{number}", first_available=tuple(DeviceRequest(f"s{place}", "gpu") for place in range(length)))
        for number, length in enumerate(lengths)
    )
    return ResourceClaim(uid, "default", uid, requests)


def picked(*places: int) -> AllocationResult:
    device = DeviceID("gpu.example.com", "pool", "gpu")
    return AllocationResult(tuple(DeviceResult(f"r{n}/s{place}", device) for n, place in enumerate(places)))


@pytest.mark.parametrize(
    ("lengths", "places", "score"),
    [((1,), (0,), 8), ((8,), (7,), 1), ((8, 8), (3, 4), 9), ((8, 8), (7, 0), 9)],
)
def test_a_list_is_worth_the_more_the_earlier_its_alternative(
    lengths: tuple[int, ...], places: tuple[int, ...], score: int
) -> None:
    assert points(lists(*lengths), picked(*places)) == score


def test_points_of_several_claims_add_up() -> None:
    claims = [(lists(8, uid="a"), None), (lists(8, uid="b"), None)]
    assert total_points(claims, {"a": picked(7), "b": picked(7)}) == 2
    assert total_points(claims, {"a": picked(0), "b": picked(0)}) == 16


def test_a_claim_without_lists_is_worth_nothing_and_an_allocated_one_what_it_has() -> None:
    plain = ResourceClaim("p", "default", "p", (DeviceRequest("r0", "gpu"),))
    assert total_points([(plain, None), (lists(8), picked(1))], {"p": picked()}) == 7


def test_a_claim_without_an_allocation_is_a_mistake() -> None:
    with pytest.raises(KeyError):
        total_points([(lists(1, uid="a"), None), (lists(1, uid="b"), None)], {"a": picked(0)})


@pytest.mark.parametrize(
    ("values", "scores"),
    [
        ([], []),
        ([42], [100]),
        ([8, 8], [100, 100]),
        ([MAX_INT32, MAX_INT32], [100, 100]),
        ([MAX_INT32, 0], [100, 0]),
        ([99, 98, 97], [100, 98, 97]),
        ([MAX_INT32, MAX_INT32 - 1, 1, 0], [100, 99, 0, 0]),
        ([0, 0], [0, 0]),
    ],
)
def test_points_are_brought_to_a_hundred_by_the_highest(values: list[int], scores: list[int]) -> None:
    assert normalized(values) == scores


def test_as_many_nodes_are_compared_as_kube_scheduler_compares() -> None:
    assert [to_compare(nodes) for nodes in (1, 99, 100, 1000, 5000, 10_000)] == [1, 99, 100, 420, 500, 500]


def claim_with(name: str, *lists_of_classes: Sequence[str]) -> Raw:
    made = make_claim(name)
    made["spec"]["devices"]["requests"] = [
        {
            "name": f"req-{number}",
            "firstAvailable": [
                {"name": f"sub-{place}", "deviceClassName": name, "allocationMode": "ExactCount", "count": 1}
                for place, name in enumerate(classes)
            ],
        }
        for number, classes in enumerate(lists_of_classes)
    ]
    return made


def class_of(driver: str) -> Raw:
    made = make_class(driver)
    made["spec"] = {"selectors": [{"cel": {"expression": f'device.driver == "{driver}"'}}]}
    return made


def picked_by(nodes: dict[str, Raw], has: dict[str, dict[str, int]], *claims: Raw) -> str:
    """The node that a pod with these claims goes to; `has`: devices by node and class."""
    cluster = known_cluster(nodes.values())
    for name in {kind for kinds in has.values() for kind in kinds}:
        cluster.apply_class(None, class_of(name))
    for node, kinds in has.items():
        for kind, count in kinds.items():
            cluster.apply_slice(None, make_slice(node, count, driver=kind, name=f"{node}-{kind}"))
    for claim in claims:
        cluster.apply_claim(None, claim)
    entries = [{"name": c["metadata"]["name"], "resourceClaimName": c["metadata"]["name"]} for c in claims]
    decision = decide(cluster, make_pod("p", claims=entries))
    assert isinstance(decision, Bind)
    return decision.node


def equal_nodes(*names: str) -> dict[str, Raw]:
    return {name: make_node(name) for name in names}


def test_the_node_with_the_first_alternative_is_chosen() -> None:
    has = {"n1": {"good": 1}, "n2": {"fair": 1}}
    assert picked_by(equal_nodes("n1", "n2"), has, claim_with("c", ["good", "fair"])) == "n1"
    assert picked_by(equal_nodes("n1", "n2"), has, claim_with("c", ["fair", "good"])) == "n2"


def test_the_sum_over_claims_decides() -> None:
    has = {"n1": {"one": 2}, "n2": {"two": 2}, "n3": {"three": 2}}
    first, second = claim_with("c1", ["one", "two", "three"]), claim_with("c2", ["two", "three", "one"])
    assert picked_by(equal_nodes("n1", "n2", "n3"), has, first, second) == "n2"


def test_the_sum_over_requests_decides() -> None:
    has = {"n1": {"good": 2}, "n2": {"good": 1, "fair": 1}, "n3": {"fair": 2}}
    claim = claim_with("c", ["good", "fair"], ["good", "fair"])
    assert picked_by(equal_nodes("n1", "n2", "n3"), has, claim) == "n1"


def test_much_more_room_makes_up_for_a_worse_alternative() -> None:
    full = make_node("n1", cpu="100m", memory="200Mi")
    nodes = {"n1": full, "n2": make_node("n2")}
    has = {"n1": {"good": 1}, "n2": {"fair": 1}}
    # 100 points for the list, none for room, against 87 and nearly all.
    assert picked_by(nodes, has, claim_with("c", ["good", "fair"])) == "n2"


class CountingAllocator:
    """Counts the attempts."""

    def __init__(self) -> None:
        self.real = Allocator(share_ids=str)
        self.attempts = 0
        self.possible = self.real.possible
        self.explain = self.real.explain

    def allocate(self, *args: object, **kwargs: object) -> object:
        self.attempts += 1
        return self.real.allocate(*args, **kwargs)  # type: ignore[arg-type]


@pytest.mark.parametrize(("good", "most"), [(["n199"], 2), ([], 1), ([f"n{i}" for i in range(200)], 1)])
def test_among_many_equal_nodes_few_are_tried(good: list[str], most: int) -> None:
    cluster = known_cluster([make_node(f"n{i}") for i in range(200)])
    cluster.apply_class(None, class_of("good"))
    cluster.apply_class(None, class_of("fair"))
    for number in range(200):
        node = f"n{number}"
        kind = "good" if node in good else "fair"
        cluster.apply_slice(None, make_slice(node, 1, driver=kind))
    cluster.apply_claim(None, claim_with("c", ["good", "fair"]))
    allocator = CountingAllocator()
    raw = make_pod("p", claims=[{"name": "c", "resourceClaimName": "c"}])
    decision = asyncio.run(make_cycle(cluster, allocator=allocator).decide(known_pod(cluster, raw)))
    assert isinstance(decision, Bind)
    assert decision.node in (good or decision.node)
    assert allocator.attempts <= most


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_no_node_would_have_been_better(data: st.DataObject) -> None:
    """Against a look at every node: room and points of the chosen one are the highest sum."""
    names = [f"n{i}" for i in range(data.draw(st.integers(1, 6), label="nodes"))]
    kinds = ["a", "b", "c"]
    counts = st.dictionaries(st.sampled_from(kinds), st.integers(1, 2))
    has = {name: data.draw(counts, label=name) for name in names}
    free = {name: data.draw(st.integers(1, 10), label=f"free {name}") for name in names}
    wanted = data.draw(
        st.lists(st.lists(st.sampled_from(kinds), min_size=1, max_size=3, unique=True), min_size=1, max_size=2)
    )
    got = {name: _points(wanted, dict(has[name])) for name in names}
    fitting = {name: value for name, value in got.items() if value is not None}
    if not fitting or not any(has.values()):
        return
    # All of a node's cpu and memory is free for one more pod of 1/free of it.
    nodes = {name: make_node(name, cpu=f"{free[name] * 100}m", memory=f"{free[name] * 200}Mi") for name in names}
    everywhere = has | {"spare": dict.fromkeys(kinds, 1)}
    chosen = picked_by(nodes, {name: everywhere[name] for name in [*names, "spare"]}, claim_with("c", *wanted))
    room = {name: 100 * (free[name] - 1) // free[name] for name in names}
    scores = dict(zip(fitting, normalized(list(fitting.values())), strict=True))
    totals = {name: room[name] + WEIGHT * scores[name] for name in fitting}
    assert totals[chosen] == max(totals.values())


def _points(wanted: list[list[str]], free: dict[str, int]) -> int | None:
    """What the first solution of a backtracking search is worth; None: there is none."""
    if not wanted:
        return 0
    for place, kind in enumerate(wanted[0]):
        if free.get(kind, 0):
            rest = _points(wanted[1:], free | {kind: free[kind] - 1})
            if rest is not None:
                return 8 - place + rest
    return None
