"""One device name in two slices of a pool for different nodes: whoever holds the device holds all of its rows."""

from __future__ import annotations

import pytest

from dra_allocator.device import Device, DeviceID
from dra_allocator.outcome import Allocation, ClaimAllocation, Outcome
from dra_allocator.rejection import Rejection
from support.devices import (
    DRIVER,
    Calls,
    Cluster,
    capacity,
    claim,
    counter_set,
    counters,
    device,
    holding,
    picked,
    request,
    resource_slice,
)

NODES = ("n1", "n2")
MANY = tuple(f"n{number}" for number in range(1, 13))


def cluster_of(*devices: Device, nodes: tuple[str, ...] = NODES) -> Cluster:
    slices = [
        resource_slice(f"s-{node}", devices, node=node, pool="pool", slice_count=len(nodes), generation=1)
        for node in nodes
    ]
    return Cluster(*slices, nodes=nodes)


def refused(outcome: Outcome) -> Rejection:
    assert isinstance(outcome, Rejection), outcome
    return outcome


@pytest.mark.parametrize("nodes", [NODES, MANY])
def test_a_held_device_is_held_on_every_node(nodes: tuple[str, ...]) -> None:
    cluster = cluster_of(device("d0"), nodes=nodes)
    assert picked(cluster.allocate()) == [["d0"]]
    cluster.ledger.observe("x", holding("d0", pool="pool"))
    rejection = refused(cluster.allocate())
    assert rejection.explain().claims[0].in_use_by == {"x": (DeviceID(DRIVER, "pool", "d0"),)}
    cluster.ledger.observe("x", None)
    assert picked(cluster.allocate()) == [["d0"]]


def test_a_hold_is_found_again_when_slices_come_and_go() -> None:
    cluster = cluster_of(device("d0"), nodes=MANY)
    cluster.ledger.assume("x", holding("d0", pool="pool"))
    refused(cluster.allocate())
    again = resource_slice("s-n2", [device("d1"), device("d0")], node="n2", pool="pool", slice_count=len(MANY))
    cluster.table.apply_slice(again)
    assert picked(cluster.allocate()) == [["d1"]]
    cluster.table.remove_slice("s-n2")
    cluster.table.apply_slice(resource_slice("t-n2", [device("d0")], node="n2", pool="pool", slice_count=len(MANY)))
    refused(cluster.allocate())


def test_overlays_show_and_hide_every_row() -> None:
    for nodes in (NODES, MANY):
        cluster = cluster_of(device("d0"), nodes=nodes)
        more = cluster.view.plus([ClaimAllocation("x", holding("d0", pool="pool"))])
        refused(cluster.allocate(view=more))
        assert refused(cluster.allocate(view=more)).explain().claims[0].requests[0].candidates == 0
        cluster.ledger.observe("x", holding("d0", pool="pool"))
        refused(cluster.allocate())
        less = cluster.view.without(["x"])
        assert picked(cluster.allocate(view=less)) == [["d0"]]
        fits = cluster.allocator.feasible(less, [claim()], nodes).step(Calls())
        assert fits is not None
        assert fits.fits.all()


def test_shares_of_a_device_use_its_capacity_on_every_node() -> None:
    memory = {f"{DRIVER}/memory": capacity("4")}
    cluster = cluster_of(device("d0", capacity=memory, allow_multiple_allocations=True))
    cluster.ledger.observe("x", holding("d0", pool="pool", share_id="one", memory="3"))
    asked = {"memory": capacity("2").value}
    refused(cluster.allocate(claim(request(capacity=asked))))
    fitting = {"memory": capacity("1").value}
    outcome = cluster.allocate(claim(request(capacity=fitting)))
    assert isinstance(outcome, Allocation)


def test_counters_are_charged_as_often_as_the_device_is_published() -> None:
    """As in Kubernetes: the pool's slices are gone through, and each device of theirs that is held is charged."""
    parts = [device(name, consumes_counters=(counters("set", slots=2),)) for name in ("d0", "d1")]
    shared = counter_set("set", slots=5)
    slices = [
        resource_slice("c", shared_counters=(shared,), node="n1", pool="pool", slice_count=3),
        resource_slice("s1", parts, node="n1", pool="pool", slice_count=3),
        resource_slice("s2", parts[:1], node="n2", pool="pool", slice_count=3),
    ]
    cluster = Cluster(*slices, nodes=["n1"])
    assert picked(cluster.allocate(claim(request(count=2)))) == [["d0", "d1"]]
    cluster.ledger.observe("x", holding("d0", pool="pool"))
    refused(cluster.allocate())


def test_a_stamp_is_broken_by_a_hold_through_another_node() -> None:
    cluster = cluster_of(device("d0"))
    outcome = cluster.allocate()
    assert isinstance(outcome, Allocation)
    assert cluster.view.unchanged(outcome.stamp)
    cluster.ledger.observe("x", holding("d0", pool="pool"))
    assert not cluster.view.unchanged(outcome.stamp)


def test_the_rows_of_a_device_are_those_of_the_newest_generation() -> None:
    cluster = cluster_of(device("d0"), device("d1"))
    assert len(cluster.table.rows_of(DeviceID(DRIVER, "pool", "d0"))) == 2
    cluster.table.apply_slice(resource_slice("new", [device("d0")], node="n1", pool="pool", generation=2))
    (row,) = cluster.table.rows_of(DeviceID(DRIVER, "pool", "d0"))
    assert cluster.table.rows.record(row).name == "new"
    assert cluster.table.rows_of(DeviceID(DRIVER, "pool", "d1")) == ()
    assert cluster.table.rows_of(DeviceID(DRIVER, "other", "d0")) == ()
