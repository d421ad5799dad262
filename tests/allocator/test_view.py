"""Views: overlays, and stamps that tell whether a decision still holds."""

from __future__ import annotations

from dra_allocator.device import DeviceID
from dra_allocator.features import Features
from dra_allocator.node import Node
from dra_allocator.outcome import Allocation, ClaimAllocation
from dra_allocator.view import View
from support.devices import ANY, DRIVER, Calls, Cluster, claim, device, holding, picked, request, resource_slice


def cluster_of(*nodes: str) -> Cluster:
    slices = [resource_slice(f"s-{node}", [device("d0"), device("d1")], node=node) for node in nodes]
    return Cluster(*slices, nodes=nodes)


def fitting(cluster: Cluster, view: View, count: int) -> list[bool]:
    attempt = cluster.allocator.feasible(view, [claim(request(count=count))], cluster.nodes)
    answer = attempt.step(Calls())
    assert hasattr(answer, "fits")
    return list(answer.fits.tolist())


def test_without_shows_devices_as_if_the_claims_held_nothing() -> None:
    cluster = cluster_of("n1", "n2")
    cluster.ledger.observe("a", holding("d0", pool="n1"))
    cluster.ledger.assume("b", holding("d1", pool="n1"))
    assert fitting(cluster, cluster.view, 2) == [False, True]
    assert fitting(cluster, cluster.view.without(["a"]), 2) == [False, True]
    assert fitting(cluster, cluster.view.without(["a"]), 1) == [True, True]
    assert fitting(cluster, cluster.view.without(["a"]).without(["b"]), 2) == [True, True]
    assert picked(cluster.allocate(view=cluster.view.without(["a", "b"]))) == [["d0"]]
    assert fitting(cluster, cluster.view, 2) == [False, True]


def test_without_leaves_devices_that_somebody_else_holds_too() -> None:
    cluster = cluster_of("n1")
    cluster.ledger.observe("a", holding("d0", "d1", pool="n1"))
    cluster.ledger.observe("b", holding("d1", pool="n1"))
    assert fitting(cluster, cluster.view.without(["a"]), 2) == [False]
    assert fitting(cluster, cluster.view.without(["a"]), 1) == [True]


def test_plus_shows_devices_as_taken_and_can_be_taken_back() -> None:
    cluster = cluster_of("n1", "n2")
    more = cluster.view.plus([ClaimAllocation("x", holding("d0", pool="n1"))])
    assert fitting(cluster, more, 2) == [False, True]
    assert picked(cluster.allocate(view=more)) == [["d1"]]
    assert fitting(cluster, more.without(["x"]), 2) == [True, True]
    assert more.holders(DeviceID(DRIVER, "n1", "d0"))[0].claim_uid == "x"


def test_overlays_count_on_shared_devices_for_every_node() -> None:
    cluster = Cluster(resource_slice("s", [device("d0")], scope=ANY), nodes=[f"n{n}" for n in range(12)])
    taken = cluster.view.plus([ClaimAllocation("x", holding("d0", pool="pool"))])
    assert fitting(cluster, cluster.view, 1) == [True] * 12
    assert fitting(cluster, taken, 1) == [False] * 12
    assert not isinstance(cluster.allocate(view=taken), Allocation)


def decided(cluster: Cluster) -> Allocation:
    outcome = cluster.allocate()
    assert isinstance(outcome, Allocation)
    assert cluster.view.unchanged(outcome.stamp)
    return outcome


def test_a_stamp_holds_while_other_pools_and_nodes_change() -> None:
    cluster = cluster_of("n1", "n2")
    stamp = decided(cluster).stamp
    cluster.ledger.assume("x", holding("d0", pool="n2"))
    cluster.table.apply_node(Node("n3"))
    cluster.table.apply_slice(resource_slice("s-n2", [device("d9")], node="n2"))
    assert cluster.view.unchanged(stamp)


def test_a_stamp_is_broken_by_what_the_decision_read() -> None:
    def holder(cluster: Cluster) -> None:
        cluster.ledger.observe("x", holding("d0", pool="n1"))

    def content(cluster: Cluster) -> None:
        cluster.table.apply_slice(resource_slice("s-n1", [device("d1")], node="n1"))

    def gone(cluster: Cluster) -> None:
        cluster.table.remove_slice("s-n1")

    def added(cluster: Cluster) -> None:
        cluster.table.apply_slice(resource_slice("t", [device("t")], node="n1", pool="t"))

    def shared(cluster: Cluster) -> None:
        cluster.table.apply_slice(resource_slice("t", [device("t")], scope=ANY, pool="t"))

    def node(cluster: Cluster) -> None:
        cluster.table.remove_node("n1")

    def labels(cluster: Cluster) -> None:
        cluster.table.apply_node(Node("n1", {"zone": "a"}))

    def no_class(cluster: Cluster) -> None:
        cluster.table.remove_class("gpu")

    for change in (holder, content, gone, added, shared, node, labels, no_class):
        cluster = cluster_of("n1")
        stamp = decided(cluster).stamp
        change(cluster)
        assert not cluster.view.unchanged(stamp), change.__name__


def test_a_view_does_not_change_the_features_of_another() -> None:
    cluster = cluster_of("n1")
    assert View(cluster.table, cluster.ledger, Features()).features != cluster.view.features
