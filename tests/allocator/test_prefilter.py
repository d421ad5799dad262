"""What counting says about all nodes at once, kept up to date by changes, against a search on each node."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dra_allocator.budget import UNLIMITED
from dra_allocator.device import DeviceID
from dra_allocator.outcome import Allocation, AllocationError, AllocationResult, ClaimAllocation, DeviceResult
from dra_allocator.requests import resolve
from dra_allocator.view import View
from dra_cel.quantity import Quantity
from support.clusters import NODES, World, worlds
from support.devices import (
    DRIVER,
    Calls,
    Cluster,
    claim,
    counter_set,
    counters,
    device,
    distinct,
    match,
    request,
    resource_slice,
)
from support.world import cluster_of


def fits(cluster: Cluster, world: World, view: View) -> list[bool]:
    attempt = cluster.allocator.feasible(view, world.claims, NODES)
    while (answer := attempt.step(Calls(1))) is None:
        pass
    assert not isinstance(answer, AllocationError)
    return answer.fits.tolist()


def searched(cluster: Cluster, world: World, view: View) -> list[bool]:
    outcomes = []
    for node in NODES:
        cluster.nodes = [node]
        outcomes.append(isinstance(cluster.allocate(*world.claims, view=view), Allocation))
    return outcomes


def result(world: World, number: int, share: bool) -> AllocationResult:
    """Hold the device with this number, as a whole or a share of it."""
    ids = [DeviceID(one.driver, one.pool, entry.name) for one in world.slices for entry in one.devices]
    amounts = {"memory": Quantity.from_int(2)} if share else {}
    return AllocationResult(
        (DeviceResult("r", ids[number % len(ids)], share_id="s" if share else None, consumed_capacity=amounts),)
    )


CHANGES = st.lists(
    st.tuples(st.sampled_from(("hold", "share", "free", "change", "see")), st.integers(0, 9)), max_size=8
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(worlds(), CHANGES)
def test_counts_follow_every_change_and_see_through_overlays(world: World, changes: list[tuple[str, int]]) -> None:
    cluster = cluster_of(world)
    published = [one for one in world.slices if one.devices]
    for what, number in changes:
        if what in ("hold", "share") and published:
            cluster.ledger.observe(f"new-{number}", result(world, number, what == "share"))
        elif what == "free":
            cluster.ledger.observe(f"new-{number}", None)
            cluster.ledger.observe(f"holder-{number}", None)
        elif what == "change" and published:
            one = published[number % len(published)]
            kept = tuple(entry for at, entry in enumerate(one.devices) if at != number % len(one.devices))
            cluster.table.apply_slice(replace(one, devices=kept if number < 5 else one.devices))
        view = cluster.view
        if what == "see":
            view = view.without([f"holder-{number % 3}"]).plus(
                [ClaimAllocation("more", result(world, number, False))] if published else []
            )
        assert fits(cluster, world, view) == searched(cluster, world, view)


def possible(cluster: Cluster, *claims: object) -> list[bool]:
    view = cluster.view
    resolved = resolve(view.table, view.features, claims)  # type: ignore[arg-type]
    prefilter = cluster.allocator._tools.prefilter
    assert prefilter.prepare(view, resolved, UNLIMITED)
    return prefilter.survey(view, resolved).possible.tolist()


def numbered(count: int, **every: int) -> list[object]:
    return [device(f"d{at}", **{name: at // several for name, several in every.items()}) for at in range(count)]


def spread_cluster() -> Cluster:
    slices = [resource_slice(node, numbered(6, root=per), node=node) for node, per in (("n1", 3), ("n2", 2))]
    return Cluster(*slices, nodes=NODES)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("claims", "expected"),
    [
        ([claim(request(count=3), constraints=[match("root")])], [True, False]),
        ([claim(request(count=2), constraints=[match("root")])], [True, True]),
        ([claim(request(count=3), constraints=[distinct("root")])], [False, True]),
        ([claim(request("a"), request("b", 2), constraints=[match("root")])], [True, False]),
        ([claim(request("a"), request("b", 2), constraints=[match("root", "b")])], [True, True]),
        ([claim(request("a"), request("b", 2), constraints=[distinct("root")])], [False, True]),
        ([claim(request(count=2), constraints=[distinct("root")], name=name) for name in "xyz"], [True, True]),
        ([claim(request(count=1), constraints=[match("missing")])], [False, False]),
    ],
)
def test_constraints_that_a_node_cannot_satisfy_rule_it_out(claims: list[object], expected: list[bool]) -> None:
    assert possible(spread_cluster(), *claims) == expected


def test_spread_follows_what_is_taken_and_given_back() -> None:
    cluster = spread_cluster()
    three = claim(request(count=3), constraints=[match("root")])
    assert possible(cluster, three) == [True, False]
    for number in (0, 3):
        taken = DeviceResult("r", DeviceID(DRIVER, "n1", f"d{number}"))
        cluster.ledger.observe(f"c{number}", AllocationResult((taken,)))
        assert possible(cluster, three) == [number == 0, False]
    cluster.ledger.observe("c0", None)
    assert possible(cluster, three) == [True, False]


def test_lists_and_devices_of_all_nodes_leave_constraints_to_the_search() -> None:
    lists = [device(f"d{at}", root=(1, 2)) for at in range(2)]
    cluster = Cluster(resource_slice("n1", lists, node="n1"), nodes=NODES)
    assert possible(cluster, claim(request(count=2), constraints=[distinct("root")])) == [True, False]


def partition_cluster() -> Cluster:
    """Two nodes with a counter set of four slots each, and partitions of one, two and four slots."""
    slices = []
    for node in NODES:
        shape = {"node": node, "slice_count": 2}
        parts = [device(f"d{slots}", consumes_counters=(counters("set", slots=slots),)) for slots in (1, 2, 4)]
        slices.append(resource_slice(f"{node}-counters", shared_counters=(counter_set("set", slots=4),), **shape))
        slices.append(resource_slice(f"{node}-devices", parts, **shape))
    return Cluster(*slices, nodes=NODES)


def hold(cluster: Cluster, node: str, name: str, **more: object) -> None:
    entry = DeviceResult("r", DeviceID(DRIVER, node, name), **more)  # type: ignore[arg-type]
    cluster.ledger.observe(f"{node}-{name}", AllocationResult((entry,)))


def test_partitions_whose_counters_are_used_up_do_not_count() -> None:
    cluster = partition_cluster()
    two, three = claim(request(count=2)), claim(request(count=3))
    assert possible(cluster, three) == [True, True]
    hold(cluster, "n1", "d1")
    assert possible(cluster, two) == [False, True]  # d2 is left, d4 wants four of the remaining three
    assert possible(cluster, claim(request(count=1))) == [True, True]
    hold(cluster, "n2", "d4")
    assert possible(cluster, claim(request(count=1))) == [True, False]
    assert possible(cluster, claim(request(count=2, admin_access=True))) == [True, True]
    cluster.ledger.observe("n1-d1", None)
    assert possible(cluster, two) == [True, False]


def test_counters_that_come_or_go_are_seen() -> None:
    cluster = partition_cluster()
    hold(cluster, "n1", "d4")
    assert possible(cluster, claim(request())) == [False, True]
    more = resource_slice("n1-counters", shared_counters=(counter_set("set", slots=5),), node="n1", slice_count=2)
    cluster.table.apply_slice(more)
    assert possible(cluster, claim(request())) == [True, True]
    cluster.table.remove_slice("n1-counters")
    assert possible(cluster, claim(request())) == [False, True]
    cluster.table.apply_slice(more)
    assert possible(cluster, claim(request())) == [True, True]


def test_devices_without_the_capacity_asked_for_do_not_count() -> None:
    slices = [resource_slice(node, [device("d0", memory=size)], node=node) for node, size in (("n1", "4"), ("n2", "8"))]
    cluster = Cluster(*slices, nodes=NODES)
    for amount, expected in ((3, [True, True]), (5, [False, True]), (9, [False, False])):
        assert possible(cluster, claim(request(capacity={"memory": Quantity.from_int(amount)}))) == expected
    assert possible(cluster, claim(request(capacity={"cores": Quantity.from_int(1)}))) == [False, False]
    impossible = claim(request(capacity={"memory": Quantity.parse("-1")}))
    assert possible(cluster, impossible) == [True, True]  # to be searched: that is an error


def test_shares_count_while_enough_is_left_beside_the_others() -> None:
    shared = [device("d0", memory="8", allow_multiple_allocations=True)]
    cluster = Cluster(*(resource_slice(node, shared, node=node) for node in NODES), nodes=NODES)
    five = claim(request(capacity={"memory": Quantity.from_int(5)}))
    assert possible(cluster, five) == [True, True]
    hold(cluster, "n1", "d0", share_id="s", consumed_capacity={"memory": Quantity.from_int(4)})
    assert possible(cluster, five) == [False, True]
    assert possible(cluster, claim(request(capacity={"memory": Quantity.from_int(4)}))) == [True, True]
    cluster.ledger.observe("n1-d0", None)
    assert possible(cluster, five) == [True, True]
