"""Saying what became of a pod: its condition and its events."""

from __future__ import annotations

from collections import OrderedDict

from dra_allocator.rejection import Explanation
from dra_api.clock import Clock
from dra_scheduler.cache.claim_store import ClaimStore
from dra_scheduler.cache.pod_info import PodInfo
from dra_scheduler.cycle.decision import Reject
from dra_scheduler.report.condition import SCHEDULER_ERROR, UNSCHEDULABLE, condition_text
from dra_scheduler.report.explanation import cut, note, viewer_of
from dra_scheduler.writes.condition_writer import ConditionWriter
from dra_scheduler.writes.event_writer import EventWriter
from dra_scheduler.writes.refs import PodRef

EXPLAIN_PAUSE = 9
"""Explaining takes milliseconds in large clusters; it gets a tenth of the time, the rest is for scheduling."""
REMEMBERED = 10_000


class Reporter:
    """Writes in the background; nothing here waits."""

    def __init__(self, events: EventWriter, conditions: ConditionWriter, clock: Clock, claims: ClaimStore) -> None:
        self._events = events
        self._conditions = conditions
        self._clock = clock
        self._claims = claims
        self._notes: OrderedDict[str, tuple[str, str]] = OrderedDict()
        """The last message about a pod and the note made of it, by uid."""
        self._explain_from = 0.0

    @property
    def waiting(self) -> int:
        """How many reports are not written yet."""
        return self._events.waiting + self._conditions.waiting

    def rejected(self, pod: PodInfo, reject: Reject, done: str = "") -> str:
        """The pod fits nowhere; `done` is what was undone to help it. Returns the condition's message."""
        text = condition_text(reject, done)
        self._failed(pod, text.reason, text.message, self._note(pod, text.message, reject))
        return text.message

    def failed(self, pod: PodInfo, problem: str) -> None:
        """What was decided could not be carried out."""
        self._failed(pod, SCHEDULER_ERROR, problem, cut(problem))

    def refused(self, pod: PodInfo, problem: str) -> None:
        """The cluster does not let the pod have its claim (quota, admission)."""
        self._failed(pod, UNSCHEDULABLE, problem, cut(problem))

    def waiting_for(self, pod: PodInfo, reason: str, missing: Explanation) -> None:
        """The pod is not tried, because of what is missing. Its condition is not ours to set then."""
        text = note(reason, missing, viewer_of(self._claims, pod.namespace))
        self._events.record(_ref(pod), "Warning", "FailedScheduling", "Scheduling", text)

    def scheduled(self, pod: PodInfo, node: str) -> None:
        """The pod was bound."""
        text = f"Successfully assigned {pod.namespace}/{pod.name} to {node}"
        self._events.record(_ref(pod), "Normal", "Scheduled", "Binding", text)
        self._conditions.forget(_ref(pod))

    def settled(self, pod: PodInfo) -> None:
        """The pod is gone, or has a node: nothing about its scheduling is to be written any more."""
        self._notes.pop(pod.uid, None)
        self._conditions.forget(_ref(pod))

    def _note(self, pod: PodInfo, message: str, reject: Reject) -> str:
        """Return the event's text; what was explained once is not explained again while the message stays the same."""
        if reject.explain is None:
            return cut(message)
        known = self._notes.get(pod.uid)
        if known is not None and known[0] == message:
            return known[1]
        begin = self._clock.monotonic()
        if begin < self._explain_from:
            return cut(message)
        made = note(message, reject.explain(), viewer_of(self._claims, pod.namespace))
        end = self._clock.monotonic()
        self._explain_from = end + (end - begin) * EXPLAIN_PAUSE
        self._notes[pod.uid] = message, made
        if len(self._notes) > REMEMBERED:
            self._notes.popitem(last=False)
        return made

    def _failed(self, pod: PodInfo, reason: str, message: str, text: str) -> None:
        self._events.record(_ref(pod), "Warning", "FailedScheduling", "Scheduling", text)
        if not pod.node_name:
            self._conditions.set_unscheduled(pod.raw, reason, message)


def _ref(pod: PodInfo) -> PodRef:
    return PodRef(pod.namespace, pod.name, pod.uid)
