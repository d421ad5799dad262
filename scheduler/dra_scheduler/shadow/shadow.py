"""The shadow of another scheduler: decides every pod, assumes its own decision until it sees the other one.

    seen without a node --queue--> decided --+-- bound by the other scheduler, claims seen --> compared, forgotten
                                             +-- refused by it, or no answer for long -------> compared, forgotten
                                             +-- deleted ------------------------------------> counted, forgotten

What we decide is assumed like any scheduler's decision, so that the next pod does not get the same device; it is given
up as soon as the other scheduler's decision about the pod is known, which then is what counts.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from dataclasses import dataclass

from dra_api.clock import Clock
from dra_scheduler.cache.claim_store import Claim
from dra_scheduler.cache.cluster import Cluster
from dra_scheduler.cache.pod_info import PodInfo
from dra_scheduler.cycle.cycle import Cycle
from dra_scheduler.cycle.decision import Bind, Decision, Reject
from dra_scheduler.explain.said import said_about
from dra_scheduler.intake import Intake
from dra_scheduler.inventory.changes import ungrouped
from dra_scheduler.queue.entry import Entry
from dra_scheduler.queue.events import ClusterEvent
from dra_scheduler.queue.hints import Hints
from dra_scheduler.queue.scheduling_queue import SchedulingQueue
from dra_scheduler.report.condition import condition_text
from dra_scheduler.settings import Settings
from dra_scheduler.shadow.judge import Judge, devices_of
from dra_scheduler.shadow.opinion import Compared, Kind, Opinion
from dra_scheduler.shadow.tally import Tally
from dra_scheduler.signals import Signals

TICK = 0.2
"""Seconds between two looks at what waits for time to pass."""
SETTLE = 3.0
"""Seconds that the claims of a bound pod may come later than the pod: each kind has a watch of its own."""
PATIENCE = 30.0
"""Seconds after which a scheduler that has not decided counts as not answering."""


@dataclass(slots=True)
class _Bound:
    """A pod that the other scheduler has bound, waiting for its claims."""

    pod: PodInfo
    at: float


class Shadow:
    """Listens to a cluster (see `cache.cluster.Listener`). `names` None: pods of every scheduler.

    `tell` gets every comparison once.
    """

    def __init__(
        self,
        cluster: Cluster,
        cycle: Cycle,
        judge: Judge,
        settings: Settings,
        clock: Clock,
        *,
        names: Collection[str] | None,
        tell: Callable[[Compared], None],
        tally: Tally | None = None,
    ) -> None:
        self._cluster = cluster
        self._cycle = cycle
        self._judge = judge
        self._clock = clock
        self._names = None if names is None else frozenset(names)
        self._tell = tell
        self._gate = Intake(cluster, (), Signals())
        self._queue = SchedulingQueue(clock, settings, self._gate.gate, Hints(self._gate.claims_problem))
        self._opinions: dict[str, Opinion] = {}
        self._bound: dict[str, _Bound] = {}
        self._told: dict[str, tuple[Kind, str]] = {}
        """What was last said about a pod that is still not bound."""
        self.tally = Tally() if tally is None else tally
        cluster.listener = self

    async def run(self) -> None:
        """Decide for ever; the cluster has to be filled. Raises TaskDiedError if a part fails."""
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._watch_time(), name="shadow clock")
                group.create_task(self._decide(), name="shadow decisions")
        except BaseExceptionGroup as errors:
            raise ungrouped(errors) from errors.exceptions[0]

    async def _decide(self) -> None:
        while True:
            entry = await self._queue.pop()
            begin = self._clock.monotonic()
            decision = await self._cycle.decide(entry.pod)
            self.tally.deciding.add(self._clock.monotonic() - begin)
            self._follow(entry, decision)
            await asyncio.sleep(0)

    # What the cluster tells

    def pod_seen(self, pod: PodInfo, before: PodInfo | None) -> None:
        """See Listener."""
        if self._names is not None and pod.scheduler_name not in self._names:
            return
        if pod.node_name:
            if before is not None and not before.node_name and pod.uid not in self._bound:
                self._bound[pod.uid] = _Bound(pod, self._clock.monotonic())
            self._told.pop(pod.uid, None)
            self._queue.remove(pod.uid)
        elif pod.deleting:
            self.pod_gone(pod)
        else:
            self._queue.add(pod)
            self._refused_by_them(pod)

    def pod_gone(self, pod: PodInfo) -> None:
        """See Listener."""
        self._queue.remove(pod.uid)
        self._bound.pop(pod.uid, None)
        told = self._told.pop(pod.uid, None)
        opinion = self._forget(pod)
        if opinion is not None and told is None:
            self._compared("gone", opinion)

    def happened(self, event: ClusterEvent) -> None:
        """See Listener."""
        self._queue.happened(event)

    # What follows

    def _follow(self, entry: Entry, decision: Decision | None) -> None:
        pod = entry.pod
        if decision is None:
            self._queue.retry(pod.uid, "", error=False)
            return
        if self._queue.get(pod.uid) is None:
            # Bound or deleted while it was decided; a Bind is assumed only for a pod that is still there.
            return
        first = self._opinions.get(pod.uid)
        now = self._clock.monotonic()
        opinion = self._opinions[pod.uid] = Opinion(
            pod.namespace,
            pod.name,
            pod.scheduler_name,
            entry.since if first is None else first.ready_at,
            now,
            said=said_about(dict(pod.raw), ()).condition,
        )
        if isinstance(decision, Bind):
            self._take(opinion, decision)
            return
        self._refuse(pod, opinion, decision)

    def _take(self, opinion: Opinion, bind: Bind) -> None:
        opinion.node, opinion.new_claims = bind.node, bind.new_claims
        new = [(self._cluster.claims.by_uid(plan.uid), plan.allocation) for plan in bind.claims]
        opinion.devices = devices_of((claim, result) for claim, result in new if claim is not None)

    def _refuse(self, pod: PodInfo, opinion: Opinion, reject: Reject) -> None:
        message = condition_text(reject).message
        opinion.refusal = message
        if pod.unsupported or pod.group:
            # What we do not evaluate is no opinion; whoever binds it is neither right nor wrong.
            self._opinions.pop(pod.uid, None)
            self._queue.remove(pod.uid)
            if pod.uid not in self._told:
                self._told[pod.uid] = "not-evaluated", message
                self._compared("not-evaluated", opinion, message)
        elif reject.kind == "error":
            self._queue.retry(pod.uid, message, error=True)
        else:
            self._queue.reject(pod.uid, reject.plugins, message)

    def _refused_by_them(self, pod: PodInfo) -> None:
        """The other scheduler says something new about a pod: that it fits nowhere, while we have devices for it."""
        opinion = self._opinions.get(pod.uid)
        if opinion is None or not opinion.node:
            return
        said = said_about(dict(pod.raw), ()).condition
        if said and said != opinion.said:
            self._give_up(pod, "only-ours", said)

    def _give_up(self, pod: PodInfo, kind: Kind, text: str) -> None:
        """End our assumption; the pod waits for the next event that may help it."""
        opinion = self._forget(pod)
        if opinion is None:
            return
        self._queue.reject(pod.uid, frozenset({"DynamicResources"}), text)
        if self._told.get(pod.uid) != (kind, text):
            self._told[pod.uid] = kind, text
            self._compared(kind, opinion, text)

    def _forget(self, pod: PodInfo) -> Opinion | None:
        opinion = self._opinions.pop(pod.uid, None)
        if opinion is not None and opinion.node:
            self._cluster.forget(pod, opinion.new_claims)
        return opinion

    async def _watch_time(self) -> None:
        while True:
            await asyncio.sleep(TICK)
            now = self._clock.monotonic()
            for uid, bound in list(self._bound.items()):
                claims = self._claims(bound.pod)
                if claims is None and now - bound.at < SETTLE:
                    continue
                del self._bound[uid]
                self._settle(bound, claims or [])
                await asyncio.sleep(0)
            for uid, opinion in list(self._opinions.items()):
                if opinion.node and uid not in self._bound and now - opinion.decided_at >= PATIENCE:
                    self._overdue(uid, opinion)

    def _overdue(self, uid: str, opinion: Opinion) -> None:
        pod = self._cluster.pods.get(uid)
        if pod is None:
            return
        self._give_up(pod, "only-ours" if opinion.said else "unanswered", opinion.said)

    def _settle(self, bound: _Bound, claims: list[Claim]) -> None:
        pod = self._cluster.pods.get(bound.pod.uid) or bound.pod
        opinion = self._forget(pod)
        assumed = [uid for other in self._opinions.values() for uid in other.new_claims]
        compared = self._judge.compare(pod, opinion, claims, bound.at, assumed)
        self.tally.add(compared)
        self._tell(compared)

    def _claims(self, pod: PodInfo) -> list[Claim] | None:
        """Return the pod's claims once all are seen to be allocated."""
        names = [entry.claim_name for entry in pod.claims if entry.claim_name is not None]
        found = [claim for name in names if (claim := self._cluster.claims.get(pod.namespace, name)) is not None]
        return found if len(found) == len(names) and all(claim.allocation is not None for claim in found) else None

    def _compared(self, kind: Kind, opinion: Opinion, text: str = "") -> None:
        compared = Compared(
            kind,
            opinion.namespace,
            opinion.name,
            opinion.scheduler,
            our_node=opinion.node,
            our_devices=opinion.devices,
            text=text,
            our_seconds=opinion.decided_at - opinion.ready_at if opinion.node else None,
        )
        self.tally.add(compared)
        self._tell(compared)
