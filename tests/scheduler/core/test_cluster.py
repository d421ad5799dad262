"""Observations on their way into the tables."""

import pytest

from dra_api.errors import ApiError
from dra_scheduler.cache.pod_info import PodInfo
from dra_scheduler.queue.events import ClaimChanged, ClusterEvent, DevicesChanged, NodeChanged, PodLeft, PodPlaced
from support.known import known_cluster, some_nodes
from support.objects import make_allocation, make_claim, make_class, make_node, make_pod, make_slice, newer


class Heard:
    def __init__(self) -> None:
        self.seen: list[str] = []
        self.gone: list[str] = []
        self.events: list[ClusterEvent] = []

    def pod_seen(self, pod: PodInfo, before: PodInfo | None) -> None:
        self.seen.append(pod.name)

    def pod_gone(self, pod: PodInfo) -> None:
        self.gone.append(pod.name)

    def happened(self, event: ClusterEvent) -> None:
        self.events.append(event)


def test_a_node_that_only_sent_a_heartbeat_is_no_event() -> None:
    cluster = known_cluster(some_nodes(1))
    cluster.listener = heard = Heard()
    version = cluster.nodes.version
    cluster.apply_node(make_node("n0"), newer(make_node("n0"), conditions=[{"type": "Ready"}]))
    assert (heard.events, cluster.nodes.version) == ([], version)
    cluster.apply_node(make_node("n0"), make_node("n0", cpu="9"))
    assert [type(event) for event in heard.events] == [NodeChanged]


def test_an_ended_pod_no_longer_counts_and_helps_others() -> None:
    cluster = known_cluster(some_nodes(1))
    cluster.listener = heard = Heard()
    running = make_pod("p", node="n0", requests={"cpu": "1"}, phase="Running")
    cluster.apply_pod(None, running)
    cluster.apply_pod(running, newer(running, phase="Succeeded"))
    assert (heard.seen, heard.gone) == (["p"], ["p"])
    assert [type(event) for event in heard.events] == [PodPlaced, PodLeft]
    assert cluster.nodes.requested("cpu").sum() == 0


@pytest.mark.parametrize(("cpu", "events"), [("1", [PodLeft]), ("2", []), ("3", [])])
def test_a_pod_that_is_made_smaller_in_place_helps_others(cpu: str, events: list[type]) -> None:
    cluster = known_cluster(some_nodes(1))
    running = make_pod("p", node="n0", requests={"cpu": "2"}, phase="Running")
    cluster.apply_pod(None, running)
    cluster.listener = heard = Heard()
    cluster.apply_pod(running, newer(make_pod("p", node="n0", requests={"cpu": cpu}, phase="Running"), phase="Running"))
    assert [type(event) for event in heard.events] == events


def test_a_pod_that_somebody_puts_elsewhere_leaves_the_node_that_was_decided_for_it() -> None:
    cluster = known_cluster(some_nodes(2))
    cluster.apply_pod(None, make_pod("p", requests={"cpu": "1"}))
    cluster.assume("uid-p", "n0", ())
    cluster.listener = heard = Heard()
    cluster.apply_pod(make_pod("p"), newer(make_pod("p", node="n1", requests={"cpu": "1"}), phase="Pending"))
    assert [type(event) for event in heard.events] == [PodPlaced, PodLeft]


def test_a_pod_created_anew_under_the_same_name_replaces_the_old_one() -> None:
    cluster = known_cluster(some_nodes(1))
    old = make_pod("p", node="n0", requests={"cpu": "1"})
    cluster.apply_pod(None, old)
    new = newer(make_pod("p"))
    new["metadata"]["uid"] = "uid-again"
    cluster.apply_pod(None, new)
    assert cluster.pods.get("uid-p") is None
    assert cluster.pods.uid_of("default", "p") == "uid-again"
    assert cluster.nodes.pod_counts.sum() == 0


def test_slices_classes_and_claims_are_told_on() -> None:
    cluster = known_cluster(some_nodes(1))
    cluster.listener = heard = Heard()
    cluster.apply_slice(None, make_slice("n0", 1))
    cluster.apply_class(make_class(), None)
    assert not list(cluster.classes)
    cluster.apply_claim(None, make_claim("c", allocation=make_allocation("gpu-0", node="n0")))
    cluster.apply_claim(make_claim("c"), None)
    assert [type(event) for event in heard.events] == [DevicesChanged, DevicesChanged, ClaimChanged, ClaimChanged]
    assert not cluster.ledger.devices_of("uid-c")


def test_an_object_that_cannot_be_read_is_an_error_that_names_it_before_anything_changes() -> None:
    cluster = known_cluster(some_nodes(1), devices=1)
    bad_slice = make_slice("n0", 1)
    bad_slice["spec"]["devices"] = "all"
    bad_class = make_class()
    bad_class["spec"]["selectors"] = "all"
    for apply, old, new, name in (
        (cluster.apply_node, make_node("n0"), make_node("n0", cpu="many"), "Node n0"),
        (cluster.apply_pod, None, make_pod("p", requests={"cpu": "many"}), "Pod default/p"),
        (cluster.apply_slice, make_slice("n0", 1), bad_slice, "slice-n0"),
        (cluster.apply_class, make_class(), bad_class, "gpu"),
    ):
        with pytest.raises(ApiError, match=name):
            apply(old, new)
    assert cluster.nodes.row("n0") is not None
    assert list(cluster.classes) == ["gpu"]
    assert len(cluster.pods) == 0


def test_of_a_running_pod_only_its_identity_is_kept() -> None:
    cluster = known_cluster(some_nodes(1))
    cluster.apply_pod(None, make_pod("p", node="n0", phase="Running"))
    cluster.apply_pod(None, make_pod("q"))
    running, pending = cluster.pods.get("uid-p"), cluster.pods.get("uid-q")
    assert running is not None
    assert pending is not None
    assert set(running.raw) == {"metadata"}
    assert set(pending.raw) == {"metadata", "spec", "status"}


def test_an_answer_that_comes_after_its_claim_has_gone_does_not_bring_the_claim_back() -> None:
    cluster = known_cluster()
    written = make_claim("c", allocation=make_allocation("d", node="n0"), reserved=["p"])
    cluster.apply_claim(None, written)
    unreserved = newer(make_claim("c", allocation=make_allocation("d", node="n0")))
    cluster.apply_claim(written, None)
    cluster.learn_claim(unreserved)
    assert len(cluster.claims) == 0
    cluster.learn_claim(unreserved, new=True)
    assert len(cluster.claims) == 1
