"""Taking pods from the queue, one cycle at a time, and starting what follows from each decision."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any

from dra_scheduler.binding import Binder, BindOutcome
from dra_scheduler.cache.cluster import Cluster
from dra_scheduler.cache.pod_info import PodInfo
from dra_scheduler.cycle.cycle import Cycle
from dra_scheduler.cycle.decision import Bind, Decision, Reject, Wait
from dra_scheduler.cycle.extended_resources import only_devices_serve
from dra_scheduler.gang.together import Together
from dra_scheduler.gang.work import GroupWork
from dra_scheduler.queue.entry import Entry
from dra_scheduler.queue.scheduling_queue import SchedulingQueue
from dra_scheduler.quota_watch import QuotaWatch
from dra_scheduler.released import Released
from dra_scheduler.report.reporter import Reporter
from dra_scheduler.slots import Slot
from dra_scheduler.supervision import Supervisor
from dra_scheduler.writes.refs import PodRef

DEALLOCATED = "deallocation of ResourceClaim completed"
"""kube-scheduler's text when it gave up an allocation that fits no node."""
DELETED = "deletion of ResourceClaim completed"
"""kube-scheduler's text when it deleted the special claim of an earlier attempt."""


@dataclass(slots=True)
class Counts:
    """What happened since the start."""

    bound: int = 0
    unschedulable: int = 0
    errors: int = 0
    conflicts: int = 0
    contested: int = 0


class ScheduleLoop:
    """The loop; `counts` says what happened so far."""

    def __init__(
        self,
        *,
        cluster: Cluster,
        queue: SchedulingQueue,
        cycle: Cycle,
        binder: Binder,
        reporter: Reporter,
        supervisor: Supervisor,
        max_in_flight: int,
        groups: GroupWork | None = None,
    ) -> None:
        self._cluster = cluster
        self._queue = queue
        self._cycle = cycle
        self._binder = binder
        self._reporter = reporter
        self._supervisor = supervisor
        self._groups = groups
        self._slots = asyncio.Semaphore(max_in_flight)
        self._binding: set[asyncio.Task[None]] = set()
        self._stopping = False
        self.counts = Counts()
        self.quotas: QuotaWatch | None = None
        """Where quotas can be watched that keep pods from their claims."""

    async def run(self) -> None:
        """Schedule for ever."""
        while True:
            # Not held while nothing is to be scheduled: those that have waited for their devices need it to go on.
            async with self._slots:
                pass
            entry = await self._queue.pop()
            if self._stopping:
                # What is under way is finished; whoever stops us then cancels this task.
                await asyncio.Event().wait()
            if self._groups is not None and entry.pod.group and not entry.pod.node_name:
                await self._groups.schedule(entry, self)
            else:
                await self._slots.acquire()
                self._follow(entry, await self._cycle.decide(entry.pod))
            # Watches, probes and bind tasks get their turn between any two pods.
            await asyncio.sleep(0)

    async def stop(self, grace: float) -> None:
        """Begin nothing new, and give what is under way `grace` seconds."""
        self._stopping = True
        if self._binding:
            await asyncio.wait(self._binding, timeout=grace)

    @property
    def binding(self) -> bool:
        """Whether pods are being bound."""
        return bool(self._binding)

    def idle(self) -> bool:
        """Whether nothing is on its way to the API server."""
        told = not self._reporter.waiting and (self._groups is None or not self._groups.waiting)
        return not self._binding and told

    def waits_for(self, uid: str) -> Wait | None:
        """Return what a pod waits for in the middle of being bound."""
        return self._binder.waiting.get(uid)

    def _follow(self, entry: Entry, decision: Decision | None) -> None:
        pod = entry.pod
        match decision:
            case Bind():
                # The slot is the bind task's now.
                self._start_bind(pod, decision, None)
                return
            case Reject(release=release) if release:
                self.start(self._release(pod, decision), f"release {pod.namespace}/{pod.name}")
                return
            case Reject():
                self.rejected(pod, decision)
            case None:
                # Deleted (then the queue has forgotten it), or changed meanwhile: at once with what it is now.
                self._queue.retry(pod.uid, "", error=False)
        self._slots.release()

    def start(self, work: Coroutine[Any, Any, None], name: str) -> None:
        """Start what follows from a decision."""
        task = self._supervisor.once(name, work)
        self._binding.add(task)
        task.add_done_callback(self._binding.discard)

    async def bind(self, pod: PodInfo, bind: Bind, together: Together) -> None:
        """Start to bind a pod of a group, as soon as there is a place for it."""
        await self._slots.acquire()
        self._start_bind(pod, bind, together)

    def _start_bind(self, pod: PodInfo, bind: Bind, together: Together | None) -> None:
        self.start(self._with_slot(pod, bind, together), f"bind {pod.namespace}/{pod.name}")

    async def _with_slot(self, pod: PodInfo, bind: Bind, together: Together | None) -> None:
        """Bind a pod; the slot that was acquired for it is its own until it ends, or waits."""
        slot = Slot(self._slots)
        try:
            outcome = await self._binder.run(
                pod, bind, together=together, slot=slot, waits=lambda devices: self._waits(pod, bind, devices)
            )
            if self._groups is not None and together is not None:
                await self._groups.leave(pod)
            self._bound(pod, bind, outcome)
        finally:
            slot.give()

    def _waits(self, pod: PodInfo, bind: Bind, devices: bool) -> None:
        self._queue.waits(pod.uid)
        if devices and not bind.placed:
            self._reporter.waits_for_devices(pod, bind.node)

    def _bound(self, pod: PodInfo, bind: Bind, outcome: BindOutcome) -> None:
        self.counts.contested += outcome.contested
        if outcome.bound:
            self.counts.bound += 1
            self._queue.remove(pod.uid)
            if not bind.placed:
                self._reporter.scheduled(pod, bind.node)
            return
        now = self._cluster.pods.get(pod.uid)
        if now is None or self._queue.get(pod.uid) is None:
            return
        if outcome.refused:
            self._refused(now, outcome.problem)
            return
        self.counts.conflicts += outcome.conflict
        self.counts.errors += not outcome.conflict
        if not outcome.conflict or outcome.contested:
            self._reporter.failed(now, outcome.problem)
        entry = self._queue.get(pod.uid)
        # A first conflict is tried again at once; who keeps losing waits, so that others get on.
        again = outcome.conflict and entry is not None and entry.attempts < 2
        self._queue.retry(pod.uid, outcome.problem, error=not again)

    def _refused(self, pod: PodInfo, problem: str) -> None:
        """The cluster does not let the pod have its claim: it waits, and is asked again for as long as it lives.

        What would help is not always visible to a scheduler (an admission policy), so time is what wakes the pod,
        unless it is a quota that can be watched. Where nodes have the resources themselves, what would help is room
        there, too: the pod needs no such claim on them.
        """
        self.counts.unschedulable += 1
        self._reporter.refused(pod, problem)
        watched = self.quotas is not None and self.quotas.sees(problem)
        if watched and only_devices_serve(pod, self._cluster):
            self._queue.reject(pod.uid, frozenset({"ResourceQuota"}), problem)
        else:
            self._queue.retry(pod.uid, problem, error=True)

    async def _release(self, pod: PodInfo, reject: Reject) -> None:
        """Give up one allocation that fits no node any more and that nobody else uses, as kube-scheduler does."""
        try:
            self.rejected(pod, reject, *await self._given_up(pod, reject))
        finally:
            self._slots.release()

    async def _given_up(self, pod: PodInfo, reject: Reject) -> tuple[str, bool]:
        """Return what was undone, and whether something could not be that may be the next time."""
        failed = False
        for uid in reject.release:
            claim = self._cluster.claims.by_uid(uid)
            if claim is not None and claim.special and claim.owner_uid == pod.uid:
                discarded = await self._binder.discard(claim, PodRef(pod.namespace, pod.name, pod.uid))
                if discarded is not Released.FAILED:
                    return DELETED, False
                failed = True
                continue
            if claim is None or claim.allocation is None or set(claim.reserved_for) - {pod.uid}:
                continue
            ref = PodRef(pod.namespace, pod.name, pod.uid)
            released = await self._binder.release(claim, ref, deallocate=True)
            if released is Released.DONE:
                return DEALLOCATED, False
            failed |= released is Released.FAILED
        return "", failed

    def rejected(self, pod: PodInfo, reject: Reject, done: str = "", failed: bool = False) -> None:
        """The pod stays; `done` is what was undone to help it, `failed` says that something could not be."""
        now = self._cluster.pods.get(pod.uid)
        if now is None or self._queue.get(pod.uid) is None:
            return
        message = self._reporter.rejected(now, reject, done)
        if now.nominated and not now.node_name:
            # An earlier run of the scheduler, say, has said so before it ended.
            nowhere = self._binder.nominate(PodRef(pod.namespace, pod.name, pod.uid), "")
            self.start(nowhere, f"nominate {pod.namespace}/{pod.name}")
        if reject.kind == "error":
            self.counts.errors += 1
            self._queue.retry(pod.uid, message, error=True, explain=reject.explain)
        elif done == DELETED and self._cluster.claims.special_of(pod.uid) is None:
            self._queue.retry(pod.uid, message, error=False)
        elif failed or not reject.plugins:
            # Nothing that happens is known to help: time does.
            self.counts.unschedulable += 1
            self._queue.retry(pod.uid, message, error=True, explain=reject.explain)
        else:
            self.counts.unschedulable += 1
            self._queue.reject(pod.uid, reject.plugins, message, reject.explain)
