"""The pod's PodScheduled condition and nominatedNodeName: what autoscalers and dashboards read.

A condition is written when it changes, and when only the counts in its message change not more often than every
`COUNTS_INTERVAL`: with thousands of pending pods and nodes coming and going it would otherwise be all that we write.
"""

from __future__ import annotations

import logging
import re
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from dra_api.clock import Clock
from dra_api.transport import STRATEGIC_MERGE_PATCH, TransportError
from dra_scheduler.client.api import Api
from dra_scheduler.client.errors import ApiStatusError
from dra_scheduler.writes.claim_bodies import timestamp
from dra_scheduler.writes.condition_patch import patch_condition
from dra_scheduler.writes.errors import NotWriterError
from dra_scheduler.writes.guarded_api import GuardedApi, MayWrite
from dra_scheduler.writes.outbox import Outbox
from dra_scheduler.writes.refs import PodRef

COUNTS_INTERVAL = 5.0
"""Seconds at least between two writes of a pod's condition that differ in numbers only."""
WAITING_LIMIT = 20_000
"""Pods whose condition waits to be written."""
REMEMBERED = 20_000
"""Pods whose last written condition is remembered."""
CONCURRENCY = 8
MESSAGE_LIMIT = 32_768
"""Characters of a condition's message (metav1's limit)."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PodCondition:
    """PodScheduled False. `reason`: `Unschedulable`, `SchedulerError` or `SchedulingGated`."""

    reason: str
    message: str
    since: str | None
    """lastTransitionTime to keep, because the status was False before; None: now."""
    generation: int
    """The pod's metadata.generation as seen; 0 on servers that do not count it."""
    resource_version: str
    """The pod's as seen: a write that comes late must not tell a pod that was bound meanwhile that it is pending."""

    @property
    def skeleton(self) -> tuple[str, str]:
        """What is left when the numbers are taken out."""
        return self.reason, re.sub(r"\d+", "#", self.message)


class ConditionWriter:
    """Writes PodScheduled conditions in the background: `run` must be running."""

    def __init__(self, api: Api, clock: Clock, random: Random, may_write: MayWrite = lambda: True) -> None:
        self._api = GuardedApi(api, random, may_write)
        self._clock = clock
        self._outbox: Outbox[PodRef, PodCondition] = Outbox(clock, limit=WAITING_LIMIT, concurrency=CONCURRENCY)
        self._last: OrderedDict[PodRef, tuple[PodCondition, float]] = OrderedDict()
        self.failed = 0
        """How many writes the API server refused or did not answer."""

    @property
    def dropped(self) -> int:
        """How many conditions were dropped because too many waited."""
        return self._outbox.dropped

    @property
    def waiting(self) -> int:
        """How many conditions are not written yet."""
        return len(self._outbox)

    def set_unscheduled(self, pod: Mapping[str, Any], reason: str, message: str) -> None:
        """Say that the pod (as observed) is not scheduled, and why. Never blocks."""
        ref = PodRef.of(pod)
        observed = _observed(pod)
        was_false = observed is not None and observed.get("status") == "False"
        since = observed.get("lastTransitionTime") if observed is not None and was_false else None
        seen = pod["metadata"].get("generation") or 0, pod["metadata"]["resourceVersion"]
        wanted = PodCondition(reason, message[:MESSAGE_LIMIT], since, *seen)
        written, at = self._last.get(ref, (None, 0.0))
        if written is not None and not was_false:
            wanted = replace(wanted, since=written.since)  # our own write, not observed yet
        if written is None and observed is not None and was_false:
            # Another run of the scheduler wrote it; when is not known, so it counts as old.
            written = PodCondition(observed.get("reason") or "", observed.get("message") or "", since, *seen)
            at = self._clock.monotonic() - COUNTS_INTERVAL
        if written is not None and (written.reason, written.message) == (wanted.reason, wanted.message):
            self._outbox.discard(ref)
            return
        self._outbox.put(ref, wanted, _due(wanted, written, at, self._clock.monotonic()))

    def forget(self, pod: PodRef) -> None:
        """The pod is gone or bound: nothing about it is to be written any more."""
        self._outbox.discard(pod)
        self._last.pop(pod, None)

    async def nominate(self, pod: PodRef, node: str) -> None:
        """Write status.nominatedNodeName before waiting or binding; "" takes it away.

        Raises NotWriterError, TransportError, or the ApiStatusError that the server insists on.
        """
        body = {"metadata": {"uid": pod.uid}, "status": {"nominatedNodeName": node or None}}
        await self._api.patch(f"{pod.path}/status", body, STRATEGIC_MERGE_PATCH)

    async def run(self) -> None:
        """Write what waits, for ever."""
        await self._outbox.run(self._write)

    async def _write(self, pod: PodRef, condition: PodCondition) -> None:
        last, at = self._last.get(pod, (None, 0.0))
        due = _due(condition, last, at, self._clock.monotonic())
        if due > self._clock.monotonic():  # what it is compared with was written after it was put here
            self._outbox.put(pod, self._outbox.get(pod) or condition, due)
            return
        condition = replace(condition, since=condition.since or timestamp(self._clock.now()))
        entry: dict[str, Any] = {
            "type": "PodScheduled",
            "status": "False",
            "reason": condition.reason,
            "message": condition.message,
            "lastProbeTime": None,
            "lastTransitionTime": condition.since,
        }
        if condition.generation:
            entry["observedGeneration"] = condition.generation
        # Remembered before it is sent: what comes while it is under way is compared with this one.
        self._remember(pod, condition)
        written = False
        try:
            seen = pod.uid, condition.resource_version
            written = await patch_condition(self._api, pod.path, seen, entry, _is_bound)
        except NotWriterError:
            pass
        except (ApiStatusError, TransportError) as error:
            self.failed += 1
            log.warning("condition not written pod=%s reason=%s error=%s", pod, condition.reason, error)
        if not written:
            self._last.pop(pod, None)

    def _remember(self, pod: PodRef, condition: PodCondition) -> None:
        self._last[pod] = (condition, self._clock.monotonic())
        self._last.move_to_end(pod)
        while len(self._last) > REMEMBERED:
            self._last.popitem(last=False)


def _due(wanted: PodCondition, written: PodCondition | None, at: float, now: float) -> float:
    """When to write `wanted`, if `written` was the last one, at `at`; clock.monotonic(), seconds."""
    only_counts = written is not None and written.skeleton == wanted.skeleton
    return max(now, at + COUNTS_INTERVAL) if only_counts else now


def _observed(pod: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The pod's PodScheduled condition as observed."""
    conditions = (pod.get("status") or {}).get("conditions") or ()
    return next((condition for condition in conditions if condition.get("type") == "PodScheduled"), None)


def _is_bound(live: Mapping[str, Any]) -> bool:
    return bool((live.get("spec") or {}).get("nodeName"))
