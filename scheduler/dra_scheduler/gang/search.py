"""Places for all pods of a group at once, where taking the pods one after the other does not find any.

    round: each pod in order --decide--> placed --no node left--> allocate its node's pods anew, together with it
      ^                                                            | that fails as well: the pod misses
      +-- again, with what the first pod that missed teaches <------+

* A node's pods are allocated anew by one exact search over all of their claims, together with those of pods elsewhere
  whose devices this node reaches too (`Beside`). For equal pods and devices that belong to nodes this finds a place
  for as many as there are.
* The pod that missed shares a claim that was allocated for another one: that one avoids the node the next time.
* Else the pod that missed comes first in the next round.
* After that the whole begins anew with the first alternative of every prioritized list left out, then the second, and
  so on: for devices that several nodes can reach.
* In the end, where there are few ways to give each pod a node, each of them is tried.

Bounded by `ROUNDS` and by time; a group whose search found nothing is not searched for again for `PAUSE` times as long
as that took. It is no complete search: in a large group or cluster it can miss a place that needs two pods to move for
reasons that only show together.
"""

from __future__ import annotations

import asyncio
import itertools
import math
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field

from dra_allocator.allocator import Allocator
from dra_api.clock import Clock
from dra_scheduler.cache.cluster import Cluster
from dra_scheduler.cache.group_store import Key
from dra_scheduler.cache.pod_info import PodInfo
from dra_scheduler.cycle.budget import TimeBudget
from dra_scheduler.cycle.cycle import Cycle
from dra_scheduler.cycle.decision import Bind, Reject
from dra_scheduler.cycle.pod_claims import resolve
from dra_scheduler.cycle.terms import Terms
from dra_scheduler.errors import SchedulerError
from dra_scheduler.gang.beside import Beside
from dra_scheduler.gang.trial import Trial
from dra_scheduler.settings import Settings

ROUNDS = 200
"""How often the pods of a group are placed anew in one cycle."""
SHARE = 0.5
"""The part of the filter time-out that a search may take."""
DEFAULT_SECONDS = 5.0
PAUSE = 9
"""A search in vain may take milliseconds or seconds: a tenth of the time is for it, the rest is for other pods."""
REMEMBERED = 1000


class ChangedError(SchedulerError):
    """A pod changed or went while its group was decided: decide anew."""


@dataclass(slots=True)
class _Plan:
    """What the next round does differently: the order of the pods, nodes to avoid, alternatives to leave out."""

    order: list[PodInfo]
    skip: int
    avoid: dict[str, set[str]] = field(default_factory=dict)

    def terms(self, pod: PodInfo) -> Terms:
        return Terms(tentative=True, avoid=frozenset(self.avoid.get(pod.uid, ())), skip=self.skip)


@dataclass(frozen=True, slots=True)
class _Miss:
    """A pod without a place. `giver` is the pod for which a claim that it shares was allocated elsewhere."""

    pod: PodInfo
    giver: str | None
    giver_node: str = ""


class JointSearch:
    """Searches within a trial, which holds the places when a search has succeeded, and is empty when it has not."""

    def __init__(self, cluster: Cluster, cycle: Cycle, allocator: Allocator, settings: Settings, clock: Clock) -> None:
        self._cluster = cluster
        self._cycle = cycle
        self._beside = Beside(cluster, cycle, allocator, settings, clock)
        self._settings = settings
        self._clock = clock
        self._pauses: OrderedDict[Key, float] = OrderedDict()

    def may_run(self, key: Key) -> bool:
        """Whether it is time for another search for a group."""
        return self._clock.monotonic() >= self._pauses.get(key, 0.0)

    async def run(self, key: Key, pods: Sequence[PodInfo], need: int, trial: Trial) -> bool:
        """Place at least `need` of a group's pods. Raises ChangedError (and the trial is as it was left)."""
        begun = self._clock.monotonic()
        if await self._run(pods, need, trial):
            self._pauses.pop(key, None)
            return True
        ended = self._clock.monotonic()
        self._pauses[key] = ended + (ended - begun) * PAUSE
        self._pauses.move_to_end(key)
        if len(self._pauses) > REMEMBERED:
            self._pauses.popitem(last=False)
        return False

    async def _run(self, pods: Sequence[PodInfo], need: int, trial: Trial) -> bool:
        timeout = self._settings.filter_timeout
        limit = TimeBudget(self._clock, DEFAULT_SECONDS if timeout is None else timeout * SHARE)
        left = ROUNDS
        for skip in range(self._alternatives(pods)):
            plan: _Plan | None = _Plan(list(pods), skip)
            seen: set[tuple[str, ...]] = set()
            while plan is not None and left and not limit.exhausted():
                left -= 1
                miss = await self._round(plan, need, trial)
                if miss is None:
                    return True
                trial.revert()
                plan = _next(plan, miss, seen)
        return await self._each_way(pods, need, trial, limit)

    async def _each_way(self, pods: Sequence[PodInfo], need: int, trial: Trial, limit: TimeBudget) -> bool:
        """Try every way to give each pod a node, if these are no more than `ROUNDS`."""
        free = [self._nodes(pod) for pod in pods]
        if math.prod(map(len, free)) > ROUNDS:
            return False
        everywhere = set(itertools.chain.from_iterable(free))
        for way in itertools.product(*free):
            if limit.exhausted():
                return False
            avoid = {pod.uid: everywhere - {node} for pod, node in zip(pods, way, strict=True)}
            if await self._round(_Plan(list(pods), 0, avoid), need, trial) is None:
                return True
            trial.revert()
        return False

    def _nodes(self, pod: PodInfo) -> list[str]:
        """Return the nodes that the filters leave to a pod, in the order of their rows."""
        claims = resolve(pod, self._cluster.claims)
        left = () if isinstance(claims, str) else self._cycle.nodes_left(pod, claims, Terms(tentative=True))
        return [self._cluster.nodes.name(row) for row in sorted(left)]

    async def _round(self, plan: _Plan, need: int, trial: Trial) -> _Miss | None:
        """Place the pods in order; None: enough have a place, else the first that missed."""
        first: _Miss | None = None
        missed = 0
        for pod in plan.order:
            terms = plan.terms(pod)
            decision = await self._cycle.decide(pod, terms)
            if isinstance(decision, Bind):
                trial.add(pod, decision)
            await asyncio.sleep(0)
            if decision is None:
                raise ChangedError(f"pod {pod.namespace}/{pod.name} changed while its group was decided")
            if isinstance(decision, Reject) and not await self._beside.put(pod, decision, terms, trial):
                first = first or self._miss(pod, decision, trial)
                missed += 1
                if len(plan.order) - missed < need:
                    return first
        return None if len(trial) >= need else first

    def _miss(self, pod: PodInfo, reject: Reject, trial: Trial) -> _Miss:
        for claim_uid in reject.release:
            giver = trial.giver(claim_uid)
            if giver is not None:
                return _Miss(pod, giver, trial.node_of(giver))
        return _Miss(pod, None)

    def _alternatives(self, pods: Sequence[PodInfo]) -> int:
        """Return how long the longest prioritized list of the pods' claims is, 1 if there is none."""
        longest = 1
        for pod in pods:
            claims = resolve(pod, self._cluster.claims)
            for claim in () if isinstance(claims, str) else claims.unallocated:
                for request in claim.spec.requests if claim.spec is not None else ():
                    longest = max(longest, len(request.first_available))
        return longest


def _next(plan: _Plan, miss: _Miss, seen: set[tuple[str, ...]]) -> _Plan | None:
    """Return what to do differently in the next round; None: nothing is left to try."""
    if miss.giver is not None and miss.giver_node not in plan.avoid.get(miss.giver, ()):
        plan.avoid.setdefault(miss.giver, set()).add(miss.giver_node)
        return plan
    order = [miss.pod, *(pod for pod in plan.order if pod is not miss.pod)]
    key = tuple(pod.uid for pod in order)
    if key in seen or order[0] is plan.order[0]:
        return None
    seen.add(key)
    return _Plan(order, plan.skip)
