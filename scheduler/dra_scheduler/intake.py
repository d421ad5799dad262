"""From what is observed to what is queued: which pods are ours to schedule, and what gates them."""

from __future__ import annotations

from collections.abc import Collection

from dra_scheduler.cache.cluster import Cluster
from dra_scheduler.cache.pod_info import PodInfo
from dra_scheduler.cycle.pod_claims import resolve
from dra_scheduler.gang.rules import gated
from dra_scheduler.gang.work import GroupWork
from dra_scheduler.plugins import Plugin
from dra_scheduler.queue.events import ClaimChanged, ClusterEvent, DevicesChanged, MemberAdded, NodeGone
from dra_scheduler.queue.scheduling_queue import SchedulingQueue
from dra_scheduler.report.reporter import Reporter
from dra_scheduler.signals import DEVICES_CHANGED, Signals


class Intake:
    """Listens to the cluster and keeps the queue to exactly the pods that are to be scheduled.

    Those are our pods without a node, and our pods that somebody put on a node by hand before their claims were
    allocated: kubelet would wait for ever, so their claims are allocated there.
    """

    def __init__(self, cluster: Cluster, names: Collection[str], signals: Signals) -> None:
        self._cluster = cluster
        self._names = frozenset(names)
        self._signals = signals
        self._queue: SchedulingQueue | None = None
        self.reporter: Reporter | None = None
        self.groups: GroupWork | None = None
        """What becomes of PodGroups, where they are scheduled."""

    def connect(self, queue: SchedulingQueue) -> None:
        """Begin to listen, for this queue."""
        self._queue = queue
        self._cluster.listener = self

    # What the queue asks

    def gate(self, pod: PodInfo) -> tuple[Plugin, str] | None:
        """Return who keeps a pod from being tried."""
        if pod.gates and not pod.node_name:
            return "SchedulingGates", f"waiting for scheduling gates: [{' '.join(pod.gates)}]"
        waiting = gated(pod, self._cluster)
        if waiting:
            return "GangScheduling", waiting
        problem = self.claims_problem(pod)
        return ("DynamicResources", problem) if problem else None

    def claims_problem(self, pod: PodInfo) -> str:
        """Return why a pod's claims cannot be used yet, or nothing."""
        claims = resolve(pod, self._cluster.claims)
        return claims if isinstance(claims, str) else ""

    # What the cluster tells

    def pod_seen(self, pod: PodInfo, before: PodInfo | None) -> None:
        """See Listener."""
        if self._queue is None or pod.scheduler_name not in self._names:
            return
        if self._to_schedule(pod):
            # Assumed and not queued: its binding was answered, and this event is from before it.
            if self._queue.get(pod.uid) is not None or self._cluster.pods.assumed_node(pod.uid) is None:
                self._queue.add(pod)
            return
        self._queue.remove(pod.uid)
        if self.reporter is not None and before is not None and not before.node_name:
            self.reporter.settled(pod)

    def pod_gone(self, pod: PodInfo) -> None:
        """See Listener."""
        if self._queue is not None:
            self._queue.remove(pod.uid)
        self._signals.notify(pod.uid)
        if self.reporter is not None:
            self.reporter.settled(pod)

    def happened(self, event: ClusterEvent) -> None:
        """See Listener."""
        if self.groups is not None:
            self.groups.happened(event)
        if isinstance(event, ClaimChanged):
            self._signals.notify(event.change.claim.uid)
        elif isinstance(event, DevicesChanged | NodeGone):
            self._signals.notify(DEVICES_CHANGED)
        # One more pod of a group that has still too few changes nothing for the others.
        too_few = isinstance(event, MemberAdded) and bool(gated(event.pod, self._cluster))
        if self._queue is not None and not too_few:
            self._queue.happened(event)

    def _to_schedule(self, pod: PodInfo) -> bool:
        if pod.deleting:
            return False
        if not pod.node_name:
            return True
        if pod.started or not pod.claims:
            return False
        claims = resolve(pod, self._cluster.claims)
        return isinstance(claims, str) or bool(claims.unallocated)
