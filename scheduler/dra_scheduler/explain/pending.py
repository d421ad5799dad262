"""Why a pod is pending: what our own scheduling cycle decides about it in the cluster as it is, writing nothing."""

from __future__ import annotations

import random
import uuid
from collections.abc import Iterator
from dataclasses import dataclass

from dra_allocator.allocator import Allocator
from dra_allocator.rejection import Explanation
from dra_api.clock import Clock
from dra_scheduler.cache.cluster import Cluster
from dra_scheduler.cache.pod_info import PodInfo
from dra_scheduler.cycle.cycle import Cycle
from dra_scheduler.cycle.decision import Bind, Reject
from dra_scheduler.report.condition import condition_text
from dra_scheduler.settings import Settings


@dataclass(frozen=True, slots=True)
class Verdict:
    """What we think of a pending pod: exactly one of the three.

    `waits`: it is not to be scheduled yet, and why. `reason`: it fits nowhere, in kube-scheduler's words, with the
    `explanation` of it. `node`: it fits there, with these `devices` (claim, request, device).
    """

    waits: str = ""
    reason: str = ""
    explanation: Explanation | None = None
    node: str = ""
    devices: tuple[tuple[str, str, str], ...] = ()


async def judge(cluster: Cluster, pod: PodInfo, clock: Clock) -> Verdict:
    """Decide the pod as the next one. The cluster's tables are changed by a decision, so they serve once."""
    if pod.deleting:
        return Verdict(waits="the pod is being deleted")
    if pod.gates:
        return Verdict(waits=f"waiting for scheduling gates: {', '.join(pod.gates)}")
    allocator = Allocator(share_ids=lambda: str(uuid.uuid4()))
    cycle = Cycle(cluster, allocator, Settings(filter_timeout=60), clock, random.Random(0))
    decision = await cycle.decide(pod)
    if isinstance(decision, Bind):
        return Verdict(node=decision.node, devices=tuple(_devices(cluster, decision)))
    if decision is None:
        return Verdict(waits="the pod is not there any more")
    return _rejected(decision)


def _rejected(reject: Reject) -> Verdict:
    explanation = None if reject.explain is None else reject.explain()
    return Verdict(reason=condition_text(reject).message, explanation=explanation)


def _devices(cluster: Cluster, bind: Bind) -> Iterator[tuple[str, str, str]]:
    for plan in bind.claims:
        claim = cluster.claims.by_uid(plan.uid)
        result = plan.allocation or (claim.effective if claim is not None else None)
        for entry in result.devices if result is not None else ():
            yield f"{plan.namespace}/{plan.name}", entry.request, str(entry.device)
    if bind.special is not None:
        for entry in bind.special.allocation.devices:
            yield "(extended resources)", entry.request, str(entry.device)
