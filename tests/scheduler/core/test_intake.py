"""What is observed decides what is queued, also when events come late."""

from __future__ import annotations

from dra_scheduler.cache.cluster import Cluster
from dra_scheduler.intake import Intake
from dra_scheduler.queue.hints import Hints
from dra_scheduler.queue.scheduling_queue import SchedulingQueue
from dra_scheduler.settings import Settings
from dra_scheduler.signals import Signals
from support.fake_clock import FakeClock
from support.known import known_cluster, some_nodes
from support.objects import make_pod, newer


def listening(cluster: Cluster) -> SchedulingQueue:
    intake = Intake(cluster, ("dra-scheduler",), Signals())
    queue = SchedulingQueue(FakeClock(), Settings(), intake.gate, Hints(intake.claims_problem))
    intake.connect(queue)
    return queue


def test_an_event_from_before_the_binding_does_not_queue_a_bound_pod_again() -> None:
    cluster = known_cluster(some_nodes(1))
    queue = listening(cluster)
    raw = make_pod("p")
    cluster.apply_pod(None, raw)
    entry = queue.pop_now()
    assert entry is not None
    cluster.assume("uid-p", "n0", ())
    queue.remove("uid-p")  # its binding was answered
    # Written before the binding (its status, say), and observed after the answer.
    cluster.apply_pod(raw, newer(raw, nominatedNodeName="n0"))
    assert queue.get("uid-p") is None


def test_a_pod_that_is_being_bound_stays_queued_with_its_newest_version() -> None:
    cluster = known_cluster(some_nodes(1))
    queue = listening(cluster)
    raw = make_pod("p")
    cluster.apply_pod(None, raw)
    assert queue.pop_now() is not None
    cluster.assume("uid-p", "n0", ())
    changed = newer(raw, nominatedNodeName="n0")
    cluster.apply_pod(raw, changed)
    entry = queue.get("uid-p")
    assert entry is not None
    assert entry.pod.resource_version == changed["metadata"]["resourceVersion"]
