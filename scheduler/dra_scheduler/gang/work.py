"""From a pod of a PodGroup that was popped to the group's decision, and what follows from it."""

from __future__ import annotations

from collections.abc import Collection, Coroutine
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

from dra_api.clock import Clock
from dra_scheduler.binding import Binder
from dra_scheduler.cache.cluster import Cluster
from dra_scheduler.cache.group_store import Key, group_key
from dra_scheduler.cache.pod_group import PodGroup
from dra_scheduler.cache.pod_info import PodInfo
from dra_scheduler.cycle.decision import Bind, Reject
from dra_scheduler.gang.giving_up import NOTHING, GivenUp, GivingUp
from dra_scheduler.gang.group_cycle import GroupCycle, GroupDecision
from dra_scheduler.gang.together import Together
from dra_scheduler.queue.entry import Entry
from dra_scheduler.queue.events import ClusterEvent, GroupChanged, GroupGone, PodPlaced
from dra_scheduler.queue.scheduling_queue import SchedulingQueue
from dra_scheduler.signals import Signals
from dra_scheduler.writes.group_condition_writer import GroupConditionWriter

UNSCHEDULABLE = "Unschedulable"
SCHEDULER_ERROR = "SchedulerError"
SCHEDULED = "Scheduled"
STILL_UNDONE = "waiting until what the last attempt of its pod group has written is taken back"
PATIENCE = 1.0
"""Seconds for which a group with too few pods that can be tried is not spoken of: their claims are just being made."""


class Loop(Protocol):
    """What the loop does for groups."""

    async def bind(self, pod: PodInfo, bind: Bind, together: Together) -> None:
        """Start to carry out a decision, as soon as there is a place for it."""
        ...

    def start(self, work: Coroutine[Any, Any, None], name: str) -> None:
        """Start something that the loop waits for when it stops."""
        ...

    def rejected(self, pod: PodInfo, reject: Reject, done: str, failed: bool) -> None:
        """Say that a pod stays, and put it back into the queue; `failed`: to be tried again whatever happens."""
        ...


class GroupWork:
    """Decides groups and follows up."""

    def __init__(
        self,
        cluster: Cluster,
        queue: SchedulingQueue,
        cycle: GroupCycle,
        binder: Binder,
        *,
        conditions: GroupConditionWriter,
        signals: Signals,
        clock: Clock,
        names: Collection[str],
    ) -> None:
        """`names`: our scheduler names; groups without pods of ours are not ours to speak of."""
        self._cluster = cluster
        self._queue = queue
        self._cycle = cycle
        self._giving_up = GivingUp(cluster, binder)
        self._conditions = conditions
        self._signals = signals
        self._names = frozenset(names)
        self._clock = clock
        self._together: dict[Key, Together] = {}
        self._short_since: dict[Key, float] = {}

    @property
    def waiting(self) -> int:
        """How many conditions of groups are not written yet."""
        return self._conditions.waiting

    async def schedule(self, popped: Entry, loop: Loop) -> None:
        """Decide the group of a pod that was popped, together with its other pods in the queue."""
        entries = self._queue.take_group(popped)
        together = self._together.get(group_key(popped.pod))
        if together is not None and together.broken:
            # Nobody can join it, and what it has written, perhaps without knowing, is still the group's.
            for entry in entries:
                self._queue.retry(entry.pod.uid, STILL_UNDONE, error=True)
            return
        decision = await self._cycle.decide(group_key(popped.pod), [entry.pod for entry in entries])
        if decision is not None and not decision.short:
            self._short_since.pop(group_key(popped.pod), None)
        if decision is None:
            for entry in entries:
                self._queue.retry(entry.pod.uid, "", error=False)
        elif decision.short and not self._long_short(decision.group.key):
            for entry in entries:
                self._queue.retry(entry.pod.uid, decision.message, error=True)
        elif decision.scheduled:
            await self._bind(decision, loop)
        else:
            group = decision.group
            loop.start(self._reject(decision, loop), f"reject group {group.namespace}/{group.name}")

    def _long_short(self, key: Key) -> bool:
        """Whether a group has had too few pods for a while."""
        now = self._clock.monotonic()
        return now - self._short_since.setdefault(key, now) >= PATIENCE

    def happened(self, event: ClusterEvent) -> None:
        """Look again at those that are on their way, and say that a group is scheduled once it is seen to be."""
        if isinstance(event, GroupChanged):
            self._look(event.after.key)
        elif isinstance(event, GroupGone):
            self._conditions.forget(event.group)
            self._short_since.pop(event.group.key, None)
            self._look(event.group.key)
        elif isinstance(event, PodPlaced) and event.pod.group and event.pod.node_name:
            self._look(group_key(event.pod))

    def _look(self, key: Key) -> None:
        together = self._together.get(key)
        if together is not None:
            together.look()
        group = self._cluster.groups.get(key)
        if group is None or group.unsupported:
            return
        # From what is observed, so that it is said too if a process ends between the last binding and saying so.
        bound = self._cluster.groups.bound(key)
        ours = any(pod.scheduler_name in self._names for pod in bound)
        if ours and len(bound) >= group.min_count:
            self._conditions.set(group, scheduled=True, reason=SCHEDULED, message="")

    async def leave(self, pod: PodInfo) -> None:
        """A pod of a group has been bound, or was undone."""
        key = group_key(pod)
        together = self._together.get(key)
        if together is None:
            return
        together.leave(pod.uid)
        if together.empty:
            del self._together[key]
            group = self._cluster.groups.get(key)
            if together.broken and group is not None and not self._cluster.groups.placed(key):
                await self._giving_up.let_go(group)

    async def _bind(self, decision: GroupDecision, loop: Loop) -> None:
        together = self._way(decision.group)
        binds = [(pod, bind) for pod, bind in decision.decisions if isinstance(bind, Bind)]
        together.join(pod.uid for pod, _ in binds)
        self._without_place(decision, loop)
        for pod, bind in binds:
            await loop.bind(pod, bind, together)

    def _without_place(self, decision: GroupDecision, loop: Loop) -> None:
        """Say which pods stay while enough of their group go; those whose claims are in the way give them up."""
        stuck = [each for each in decision.decisions if isinstance(each[1], Reject) and each[1].release]
        self._stay(replace(decision, decisions=[each for each in decision.decisions if each not in stuck]), loop)
        if stuck:
            group = decision.group
            work = self._free(replace(decision, decisions=stuck), loop)
            loop.start(work, f"give up claims of group {group.namespace}/{group.name}")

    async def _free(self, decision: GroupDecision, loop: Loop) -> None:
        await self._give_up(decision, loop)

    async def _give_up(self, decision: GroupDecision, loop: Loop) -> str:
        """Give up what is in the way of pods without a place, and say that they stay; returns what was done."""
        given = await self._giving_up.after(decision)
        self._stay(decision, loop, given)
        return given.done

    def _stay(self, decision: GroupDecision, loop: Loop, given: GivenUp = NOTHING) -> None:
        for pod, reject in decision.decisions:
            if isinstance(reject, Reject):
                loop.rejected(pod, reject, given.done, given.failed)

    def _way(self, group: PodGroup) -> Together:
        """Return those of the group that are on their way; pods that come later join them."""
        key = group.key
        if key not in self._together:
            name = f"pod group {group.namespace}/{group.name}"
            self._together[key] = Together(name, partial(self._missing, key), self._signals.notify)
        return self._together[key]

    def _missing(self, key: Key, on_way: Collection[str]) -> int:
        """Return how many pods have still to be bound for the group to be complete; a group that is gone never is.

        Pods that were bound and have not been observed so yet are assumed, and not on their way any more. Those that
        are only tried are assumed as well, and may have no place in the end.
        """
        group = self._cluster.groups.get(key)
        if group is None:
            return self._cluster.groups.count(key) + 1
        others = (pod for pod in self._cluster.groups.placed(key) if pod.uid not in on_way)
        return group.min_count - sum(1 for pod in others if pod.uid not in self._cycle.tried)

    async def _reject(self, decision: GroupDecision, loop: Loop) -> None:
        done = ""
        if decision.outcome == "unschedulable":
            done = await self._give_up(decision, loop)
        else:
            self._stay(decision, loop)
        reason = UNSCHEDULABLE if decision.outcome == "unschedulable" else SCHEDULER_ERROR
        message = ", ".join(text for text in (decision.message, done) if text)
        self._conditions.set(decision.group, scheduled=False, reason=reason, message=message)
