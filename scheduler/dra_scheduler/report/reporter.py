"""Saying what became of a pod: its condition and its events."""

from __future__ import annotations

from collections import OrderedDict

from dra_allocator.rejection import Explain, Explanation
from dra_scheduler.cache.claim_store import ClaimStore
from dra_scheduler.cache.pod_info import PodInfo
from dra_scheduler.cycle.decision import Reject
from dra_scheduler.report.condition import SCHEDULER_ERROR, UNSCHEDULABLE, condition_text
from dra_scheduler.report.explanation import cut, note, viewer_of
from dra_scheduler.report.narrator import Narrator
from dra_scheduler.writes.condition_writer import ConditionWriter
from dra_scheduler.writes.event_writer import EventWriter
from dra_scheduler.writes.refs import PodRef

REMEMBERED = 10_000


class Reporter:
    """Writes in the background; nothing here waits."""

    def __init__(
        self, events: EventWriter, conditions: ConditionWriter, claims: ClaimStore, narrator: Narrator
    ) -> None:
        self._events = events
        self._conditions = conditions
        self._claims = claims
        self._narrator = narrator
        self._notes: OrderedDict[str, tuple[str, str]] = OrderedDict()
        """The last message about a pod and the note made of it, by uid; empty while that is being made."""

    @property
    def waiting(self) -> int:
        """How many reports are not written yet."""
        return self._events.waiting + self._conditions.waiting + self._narrator.waiting

    def rejected(self, pod: PodInfo, reject: Reject, done: str = "") -> str:
        """The pod fits nowhere; `done` is what was undone to help it. Returns the condition's message."""
        text = condition_text(reject, done)
        if not pod.node_name:
            self._conditions.set_unscheduled(pod.raw, text.reason, text.message)
        known = self._notes.get(pod.uid)
        if reject.explain is None:
            self._record(pod, cut(text.message))
        elif known is not None and known[0] == text.message:
            # Without a note it is being explained, and will be said then.
            if known[1]:
                self._record(pod, known[1])
        elif self._narrator.full:
            self._record(pod, cut(text.message))
        else:
            self._tell(pod, text.message, reject.explain)
        return text.message

    def failed(self, pod: PodInfo, problem: str) -> None:
        """What was decided could not be carried out."""
        self._failed(pod, SCHEDULER_ERROR, problem, cut(problem))

    def refused(self, pod: PodInfo, problem: str) -> None:
        """The cluster does not let the pod have its claim (quota, admission)."""
        self._failed(pod, UNSCHEDULABLE, problem, cut(problem))

    def waiting_for(self, pod: PodInfo, reason: str, missing: Explanation) -> None:
        """The pod is not tried, because of what is missing. Its condition is not ours to set then."""
        self._record(pod, note(reason, missing, viewer_of(self._claims, pod.namespace)))

    def scheduled(self, pod: PodInfo, node: str) -> None:
        """The pod was bound."""
        text = f"Successfully assigned {pod.namespace}/{pod.name} to {node}"
        self._events.record(_ref(pod), "Normal", "Scheduled", "Binding", text)
        self._conditions.forget(_ref(pod))

    def settled(self, pod: PodInfo) -> None:
        """The pod is gone, or has a node: nothing about its scheduling is to be written any more."""
        self._notes.pop(pod.uid, None)
        self._conditions.forget(_ref(pod))

    def _tell(self, pod: PodInfo, message: str, explain: Explain) -> None:
        """Have a rejection explained, and say it then."""
        self._notes[pod.uid] = message, ""
        if len(self._notes) > REMEMBERED:
            self._notes.popitem(last=False)
        self._narrator.tell(explain, lambda told: self._told(pod, message, told))

    def _told(self, pod: PodInfo, message: str, explanation: Explanation) -> None:
        """Say an explanation, unless the pod has gone or was scheduled meanwhile."""
        if self._notes.get(pod.uid) == (message, ""):
            made = note(message, explanation, viewer_of(self._claims, pod.namespace))
            self._notes[pod.uid] = message, made
            self._record(pod, made)

    def _failed(self, pod: PodInfo, reason: str, message: str, text: str) -> None:
        self._record(pod, text)
        if not pod.node_name:
            self._conditions.set_unscheduled(pod.raw, reason, message)

    def _record(self, pod: PodInfo, text: str) -> None:
        self._events.record(_ref(pod), "Warning", "FailedScheduling", "Scheduling", text)


def _ref(pod: PodInfo) -> PodRef:
    return PodRef(pod.namespace, pod.name, pod.uid)
