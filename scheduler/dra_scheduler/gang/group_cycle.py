"""One cycle for a whole PodGroup: its pods in, a decision for each out; nothing is decided unless enough are placed.

    rules --> enough pods? --> one after the other --> enough placed? --> jointly (search) --> commit
      |            |                                          |                  | not found: what the first said
      +------------+------> error / unschedulable <-----------+------------------+

The pods are tried in order first: that is what kube-scheduler does, so its texts are those of this first try.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from dra_allocator.allocator import Allocator
from dra_api.clock import Clock
from dra_scheduler.cache.cluster import Cluster
from dra_scheduler.cache.group_store import Key
from dra_scheduler.cache.pod_group import PodGroup
from dra_scheduler.cache.pod_info import PodInfo
from dra_scheduler.cycle.cycle import Cycle
from dra_scheduler.cycle.decision import Bind, Decision, Reject
from dra_scheduler.cycle.terms import Terms
from dra_scheduler.gang import rules
from dra_scheduler.gang.search import ChangedError, JointSearch
from dra_scheduler.gang.trial import Trial
from dra_scheduler.plugins import Plugin
from dra_scheduler.settings import Settings

ATTEMPTS = 5
"""How often a group is decided anew in one cycle because its pods changed."""
TENTATIVE = Terms(tentative=True)
_MAY_HELP: frozenset[Plugin] = frozenset(
    (
        "GangScheduling",
        "DynamicResources",
        "NodeResourcesFit",
        "NodePorts",
        "NodeAffinity",
        "NodeUnschedulable",
        "TaintToleration",
        "InterPodAffinity",
        "NodeDeclaredFeatures",
    )
)
"""Whose events may help a pod that had a place: another one elsewhere may make room for those that had none."""


@dataclass(frozen=True, slots=True)
class GroupDecision:
    """What became of a group. `message` is for its condition; `decisions` has one for each of the pods.

    `scheduled`: the Binds have been assumed. Else all are Rejects, and nothing is assumed. `short`: there are too few
    pods that can be tried at all, and none was.
    """

    group: PodGroup
    outcome: Literal["scheduled", "unschedulable", "error"]
    message: str
    decisions: Sequence[tuple[PodInfo, Decision]]
    short: bool = False

    @property
    def scheduled(self) -> bool:
        """Whether enough pods have a place."""
        return self.outcome == "scheduled"


class GroupCycle:
    """Decides groups, one at a time, while no other pod is decided."""

    def __init__(self, cluster: Cluster, cycle: Cycle, allocator: Allocator, settings: Settings, clock: Clock) -> None:
        self._cluster = cluster
        self._cycle = cycle
        self._search = JointSearch(cluster, cycle, allocator, settings, clock)
        self._trial = Trial(cluster)

    @property
    def tried(self) -> Collection[str]:
        """The pods (uids) that have a place at this moment only because it is tried."""
        return self._trial.placed.keys()

    async def decide(self, key: Key, pods: Sequence[PodInfo]) -> GroupDecision | None:
        """Decide a group with those of its pods that wait; None: it or one of them is no longer what it was."""
        for _ in range(ATTEMPTS):
            group = self._cluster.groups.get(key)
            if group is None or any(self._cluster.pods.get(pod.uid) is not pod for pod in pods):
                return None
            trial = self._trial = Trial(self._cluster)
            try:
                decision = await self._decide(group, pods, trial)
            except ChangedError:
                continue
            finally:
                trial.revert()
            return decision
        return None

    async def _decide(self, group: PodGroup, pods: Sequence[PodInfo], trial: Trial) -> GroupDecision:
        placed = self._cluster.groups.placed(group.key)
        problem = rules.broken(group, [*pods, *placed], pods[0].scheduler_name)
        if problem:
            return self._all(group, pods, "error", problem)
        if group.unsupported:
            return self._all(group, pods, "unschedulable", group.unsupported)
        short = rules.shortage(group, len(placed), len(pods))
        if short:
            return replace(self._all(group, pods, "unschedulable", short), short=True)
        need = group.min_count - len(placed)
        decisions = await self._in_order(group, pods, len(placed), trial)
        failed = [(pod, d) for pod, d in decisions.values() if isinstance(d, Reject)]
        error = next((reject for _, reject in failed if reject.kind == "error"), None)
        if error is not None:
            trial.revert()
            return self._failed(group, pods, decisions, error)
        if len(trial) >= max(1, need):
            return self._done(group, pods, decisions, trial)
        done = len(trial)
        trial.revert()
        later = False
        if need > 1:
            later = not self._search.may_run(group.key)
            if not later and await self._search.run(group.key, pods, need, trial):
                return self._done(group, pods, decisions, trial)
        remaining = len(pods) - len(decisions)
        message = rules.shortage(group, len(placed) + done, remaining)
        return self._rejected(group, pods, decisions, message or rules.UNSCHEDULABLE, later=later)

    async def _in_order(
        self, group: PodGroup, pods: Sequence[PodInfo], placed: int, trial: Trial
    ) -> dict[str, tuple[PodInfo, Decision]]:
        """Decide one pod after the other, until enough cannot be placed any more."""
        decisions: dict[str, tuple[PodInfo, Decision]] = {}
        for number, pod in enumerate(pods, 1):
            decision = await self._cycle.decide(pod, TENTATIVE)
            if isinstance(decision, Bind):
                trial.add(pod, decision)
            # Watches, probes and bind tasks get their turn between any two pods.
            await asyncio.sleep(0)
            if decision is None:
                raise ChangedError(f"pod {pod.namespace}/{pod.name} changed while its group was decided")
            decisions[pod.uid] = pod, decision
            if isinstance(decision, Bind):
                continue
            if decision.kind == "error" or rules.shortage(group, placed + len(trial), len(pods) - number):
                break
        return decisions

    def _done(
        self,
        group: PodGroup,
        pods: Sequence[PodInfo],
        decisions: Mapping[str, tuple[PodInfo, Decision]],
        trial: Trial,
    ) -> GroupDecision:
        if not trial.intact():
            raise ChangedError(f"pods of {group.namespace}/{group.name} changed while it was decided")
        binds = trial.commit()
        results: list[tuple[PodInfo, Decision]] = []
        for pod in pods:
            earlier = decisions.get(pod.uid)
            reject = earlier[1] if earlier is not None and isinstance(earlier[1], Reject) else self._reject("")
            results.append((pod, binds.get(pod.uid) or reject))
        return GroupDecision(group, "scheduled", "", results)

    def _failed(
        self,
        group: PodGroup,
        pods: Sequence[PodInfo],
        decisions: Mapping[str, tuple[PodInfo, Decision]],
        error: Reject,
    ) -> GroupDecision:
        message = f"failed to schedule other pod from a pod group: {error.error}"
        others = Reject("error", frozenset({"GangScheduling"}), len(self._cluster.nodes), error=message)
        results = [(pod, error if decisions.get(pod.uid, (pod, None))[1] is error else others) for pod in pods]
        return GroupDecision(group, "error", message, results)

    def _rejected(
        self,
        group: PodGroup,
        pods: Sequence[PodInfo],
        decisions: Mapping[str, tuple[PodInfo, Decision]],
        message: str,
        *,
        later: bool,
    ) -> GroupDecision:
        """Nothing is decided: pods that had no place say why, the others that the group has none.

        `later`: they are to be tried again whatever happens, because not all has been tried.
        """
        results: list[tuple[PodInfo, Decision]] = []
        for pod in pods:
            _, decision = decisions.get(pod.uid, (pod, None))
            reject = decision if isinstance(decision, Reject) else self._reject(message)
            results.append((pod, replace(reject, plugins=frozenset()) if later else reject))
        return GroupDecision(group, "unschedulable", message, results)

    def _all(
        self, group: PodGroup, pods: Sequence[PodInfo], outcome: Literal["unschedulable", "error"], message: str
    ) -> GroupDecision:
        if outcome == "error":
            reject = Reject("error", frozenset({"GangScheduling"}), len(self._cluster.nodes), error=message)
        else:
            reject = self._reject(message, frozenset({"GangScheduling"}))
        return GroupDecision(group, outcome, message, [(pod, reject) for pod in pods])

    def _reject(self, message: str, plugins: frozenset[Plugin] = _MAY_HELP) -> Reject:
        said = message and message != rules.UNSCHEDULABLE
        text = f"{rules.UNSCHEDULABLE}, {message}" if said else rules.UNSCHEDULABLE
        return Reject("unschedulable", plugins, len(self._cluster.nodes), error=text)
