"""Saying what became of a pod: its condition and its events."""

from __future__ import annotations

import re
from collections import OrderedDict
from dataclasses import dataclass

from dra_allocator.rejection import Explain, Explanation
from dra_api.clock import Clock
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
EXPLAINED_FOR = 60.0
"""Seconds after which a rejection is explained anew although kube-scheduler's message is still the same."""


@dataclass(frozen=True, slots=True)
class _Said:
    """The message about a pod, and the note made of it at some time ("": none yet); `explaining`: one is being made."""

    message: str
    note: str
    at: float
    explaining: bool


class Reporter:
    """Writes in the background; nothing here waits."""

    def __init__(
        self, events: EventWriter, conditions: ConditionWriter, claims: ClaimStore, narrator: Narrator, clock: Clock
    ) -> None:
        self._events = events
        self._conditions = conditions
        self._claims = claims
        self._narrator = narrator
        self._clock = clock
        self._notes: OrderedDict[str, _Said] = OrderedDict()
        """What was said last, by the pod's uid."""

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
        same = known if known is not None and known.message == text.message else None
        if reject.explain is None:
            self._record(pod, cut(text.message))
        elif same is not None and same.explaining:
            pass  # it will be said then
        elif same is not None and (self._narrator.full or self._clock.monotonic() < same.at + EXPLAINED_FOR):
            self._record(pod, same.note)
        elif self._narrator.full:
            self._record(pod, cut(text.message))
        else:
            self._tell(pod, text.message, reject.explain, "" if same is None else same.note)
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

    def waits_for_devices(self, pod: PodInfo, node: str) -> None:
        """The pod is not bound before its devices are ready."""
        text = f"waiting for binding conditions for device on node {node}"
        self._events.record(_ref(pod), "Normal", "BindingConditionsPending", "Scheduling", text)

    def scheduled(self, pod: PodInfo, node: str) -> None:
        """The pod was bound."""
        text = f"Successfully assigned {pod.namespace}/{pod.name} to {node}"
        self._events.record(_ref(pod), "Normal", "Scheduled", "Binding", text)
        self._conditions.forget(_ref(pod))

    def settled(self, pod: PodInfo) -> None:
        """The pod is gone, or has a node: nothing about its scheduling is to be written any more."""
        self._notes.pop(pod.uid, None)
        self._conditions.forget(_ref(pod))

    def _tell(self, pod: PodInfo, message: str, explain: Explain, before: str) -> None:
        """Have a rejection explained, and say it then; `before` is what was said of it earlier, "" if nothing."""
        said = _Said(message, before, self._clock.monotonic(), explaining=True)
        self._notes[pod.uid] = said
        if len(self._notes) > REMEMBERED:
            self._notes.popitem(last=False)
        self._narrator.tell(explain, lambda told: self._told(pod, said, told))

    def _told(self, pod: PodInfo, said: _Said, explanation: Explanation) -> None:
        """Say an explanation, unless the pod has gone or was scheduled meanwhile.

        One that differs from the last only in numbers is said as that was: a note of its own would be another event.
        """
        if self._notes.get(pod.uid) is not said:
            return
        made = note(said.message, explanation, viewer_of(self._claims, pod.namespace))
        if _substance(made) == _substance(said.note):
            made = said.note
        self._notes[pod.uid] = _Said(said.message, made, self._clock.monotonic(), explaining=False)
        self._record(pod, made)

    def _failed(self, pod: PodInfo, reason: str, message: str, text: str) -> None:
        self._record(pod, text)
        if not pod.node_name:
            self._conditions.set_unscheduled(pod.raw, reason, message)

    def _record(self, pod: PodInfo, text: str) -> None:
        self._events.record(_ref(pod), "Warning", "FailedScheduling", "Scheduling", text)


def _substance(text: str) -> str:
    """What is left of a note without the numbers in it."""
    return re.sub(r"\d+", "#", text)


def _ref(pod: PodInfo) -> PodRef:
    return PodRef(pod.namespace, pod.name, pod.uid)
