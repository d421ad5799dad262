"""What is shown of the pods that are not scheduled."""

from __future__ import annotations

from dataclasses import dataclass

from dra_allocator.rejection import Explanation
from dra_scheduler.cache.claim_store import ClaimStore
from dra_scheduler.cycle.circumstances import MissingClaims
from dra_scheduler.loop import ScheduleLoop
from dra_scheduler.queue.scheduling_queue import SchedulingQueue
from dra_scheduler.report.explanation import summary, viewer_of
from dra_scheduler.report.waiting import waits_for_claims


@dataclass(frozen=True, slots=True)
class PendingPod:
    """A pod without a node, or without its claims.

    `reason` is as in its condition, `explanation` ours in one line ("": none), `details` all of it.
    """

    namespace: str
    name: str
    reason: str
    explanation: str
    details: Explanation | None = None


def pending_pods(queue: SchedulingQueue, loop: ScheduleLoop | None, claims: ClaimStore) -> list[PendingPod]:
    """Return all pods in the queue, sorted by namespace and name; the explanations name all claims."""
    pods = []
    viewer = viewer_of(claims, None)
    for entry in queue:
        wait = None if loop is None else loop.waits_for(entry.pod.uid)
        reason = wait.reason if wait is not None else entry.reason or "not tried yet"
        explain = entry.explain or (MissingClaims(entry.pod, claims) if waits_for_claims(entry) else None)
        details = None if explain is None else explain()
        text = "" if details is None else summary(details, viewer)
        pods.append(PendingPod(entry.pod.namespace, entry.pod.name, reason, text, details))
    return sorted(pods, key=lambda pod: (pod.namespace, pod.name))
