"""The PodScheduled condition: kube-scheduler's reason and message, to the letter.

    0/8 nodes are available: 8 cannot allocate all claims. preemption: 0/8 nodes are available: 8 Preemption is not
    helpful for scheduling.

Autoscalers and dashboards read it, so nothing of ours is in it; our explanation goes into the event.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dra_scheduler.cycle.decision import Reject

UNSCHEDULABLE = "Unschedulable"
SCHEDULER_ERROR = "SchedulerError"


@dataclass(frozen=True, slots=True)
class ConditionText:
    """`reason` and `message` of PodScheduled False."""

    reason: str
    message: str


def condition_text(reject: Reject, done: str = "") -> ConditionText:
    """Return what kube-scheduler would say; `done` is what was undone to help the pod."""
    reason = UNSCHEDULABLE if reject.kind == "unschedulable" else SCHEDULER_ERROR
    if reject.error:
        return ConditionText(reason, reject.error)
    before = f" {reject.before_filters}." if reject.before_filters else _histogram(reject.counts)
    message = f"0/{reject.nodes} nodes are available:{before}"
    after = ", ".join(text for text in (done, _preemption(reject)) if text)
    return ConditionText(reason, f"{message} {after}" if after else message)


def _preemption(reject: Reject) -> str:
    if reject.preemption is None:
        return ""
    if isinstance(reject.preemption, str):
        return f"preemption: {reject.preemption}"
    return f"preemption: 0/{reject.nodes} nodes are available:{_histogram(reject.preemption)}"


def _histogram(counts: Mapping[str, int]) -> str:
    """Sort the texts, numbers included, as strings: that is how kube-scheduler does it."""
    entries = sorted(f"{count} {reason}" for reason, count in counts.items())
    return f" {', '.join(entries)}." if entries else ""
