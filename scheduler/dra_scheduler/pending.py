"""What is shown of the pods that are not scheduled."""

from __future__ import annotations

from dataclasses import dataclass

from dra_scheduler.loop import ScheduleLoop
from dra_scheduler.queue.scheduling_queue import SchedulingQueue
from dra_scheduler.report.explanation import explanation


@dataclass(frozen=True, slots=True)
class PendingPod:
    """A pod without a node, or without its claims. `reason` is as in its condition, `explanation` ours ("": none)."""

    namespace: str
    name: str
    reason: str
    explanation: str


def pending_pods(queue: SchedulingQueue, loop: ScheduleLoop | None) -> list[PendingPod]:
    """Return all pods in the queue, sorted by namespace and name."""
    pods = []
    for entry in queue:
        wait = None if loop is None else loop.waits_for(entry.pod.uid)
        reason = wait.reason if wait is not None else entry.reason or "not tried yet"
        text = explanation(entry.explain()) if entry.explain is not None else ""
        pods.append(PendingPod(entry.pod.namespace, entry.pod.name, reason, text))
    return sorted(pods, key=lambda pod: (pod.namespace, pod.name))
