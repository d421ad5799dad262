"""The condition of a PodGroup: whether its pods have been scheduled once. Written in the background.

set --same as observed or written--> nothing    --True is observed--> True stays, whatever comes later
 +--> waits (newest wins) --> PATCH podgroups/status --409--> read live, once more unless it is True there
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from dra_api.clock import Clock
from dra_api.transport import TransportError
from dra_scheduler.cache.pod_group import PodGroup
from dra_scheduler.client.api import Api
from dra_scheduler.client.errors import ApiStatusError
from dra_scheduler.writes.claim_bodies import timestamp
from dra_scheduler.writes.condition_patch import patch_condition
from dra_scheduler.writes.errors import NotWriterError
from dra_scheduler.writes.guarded_api import GuardedApi, MayWrite
from dra_scheduler.writes.outbox import Outbox
from dra_scheduler.writes.refs import GroupRef

WAITING_LIMIT = 10_000
REMEMBERED = 10_000
CONCURRENCY = 8
INTERVAL = 5.0
"""Seconds between two writes about one group that is not scheduled."""
RETRY = 30.0
"""Seconds after which it is tried again to say that a group is scheduled."""
MESSAGE_LIMIT = 32_768
"""Characters that the API server takes as a condition's message."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class GroupCondition:
    """What is to be said of a group: scheduled or not, why, and of which version of it."""

    scheduled: bool
    reason: str
    message: str
    generation: int
    resource_version: str
    since: str | None
    """`lastTransitionTime` as observed, if the status stays the same."""


class GroupConditionWriter:
    """Writes the condition; `run` must be running. `condition` is its type, which was another one in 1.36."""

    def __init__(
        self,
        api: Api,
        version: str,
        clock: Clock,
        random: Random,
        *,
        may_write: MayWrite = lambda: True,
    ) -> None:
        self._api = GuardedApi(api, random, may_write)
        self._version = version
        self._clock = clock
        self._outbox: Outbox[GroupRef, GroupCondition] = Outbox(clock, limit=WAITING_LIMIT, concurrency=CONCURRENCY)
        self._last: OrderedDict[GroupRef, tuple[GroupCondition, float]] = OrderedDict()
        self.condition = "PodGroupScheduled" if version == "v1alpha2" else "PodGroupInitiallyScheduled"
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

    def set(self, group: PodGroup, *, scheduled: bool, reason: str, message: str) -> None:
        """Say of a group (as observed) whether it is scheduled. Never blocks; what was True once stays so."""
        observed = group.condition(self.condition)
        was = None if observed is None else observed.get("status") == "True"
        ref = GroupRef(group.namespace, group.name, group.uid)
        written, at = self._last.get(ref, (None, 0.0))
        if was or (written is not None and written.scheduled):
            return
        since = observed.get("lastTransitionTime") if observed is not None and was == scheduled else None
        version = group.raw["metadata"].get("resourceVersion") or ""
        wanted = GroupCondition(scheduled, reason, message[:MESSAGE_LIMIT], group.generation, version, since)
        said = written is not None and (written.reason, written.message) == (wanted.reason, wanted.message)
        if (observed is not None and _same(observed, wanted)) or (said and not scheduled):
            # What waits to be written is no longer so.
            self._outbox.discard(ref)
            return
        if written is not None and not scheduled:
            wanted = replace(wanted, since=written.since)
        self._outbox.put(ref, wanted, self._due(wanted, written, at))

    def forget(self, group: PodGroup) -> None:
        """The group is gone."""
        ref = GroupRef(group.namespace, group.name, group.uid)
        self._outbox.discard(ref)
        self._last.pop(ref, None)

    async def run(self) -> None:
        """Write what waits, for ever."""
        await self._outbox.run(self._write)

    def _due(self, wanted: GroupCondition, written: GroupCondition | None, at: float) -> float:
        """When to write `wanted`, if `written` was the last one, at `at`; clock.monotonic(), seconds."""
        now = self._clock.monotonic()
        return now if wanted.scheduled or written is None else max(now, at + INTERVAL)

    async def _write(self, ref: GroupRef, condition: GroupCondition) -> None:
        written, at = self._last.get(ref, (None, 0.0))
        due = self._due(condition, written, at)
        if due > self._clock.monotonic():  # what it is compared with was written after it was put here
            self._outbox.put(ref, self._outbox.get(ref) or condition, due)
            return
        condition = replace(condition, since=condition.since or timestamp(self._clock.now()))
        # Remembered before it is sent: what comes while it is under way is compared with this one.
        self._last[ref] = condition, self._clock.monotonic()
        self._last.move_to_end(ref)
        while len(self._last) > REMEMBERED:
            self._last.popitem(last=False)
        done = False
        try:
            done = await self._patch(ref, condition)
        except NotWriterError:
            pass
        except (ApiStatusError, TransportError) as error:
            self.failed += 1
            log.warning("condition not written podgroup=%s reason=%s error=%s", ref, condition.reason, error)
            if condition.scheduled and self._outbox.get(ref) is None:
                # Nothing more may happen to this group that would have it said again.
                self._outbox.put(ref, condition, self._clock.monotonic() + RETRY)
        if not done:
            self._last.pop(ref, None)

    async def _patch(self, ref: GroupRef, condition: GroupCondition) -> bool:
        """False: there is nothing to say any more, or others change the group too often."""
        entry = {
            "type": self.condition,
            "status": "True" if condition.scheduled else "False",
            "reason": condition.reason,
            "message": condition.message,
            # The API server does not count generations of PodGroups.
            **({"observedGeneration": condition.generation} if condition.generation else {}),
            "lastTransitionTime": condition.since,
        }
        seen = ref.uid, condition.resource_version
        return await patch_condition(self._api, ref.path(self._version), seen, entry, self._is_true)

    def _is_true(self, live: Mapping[str, Any]) -> bool:
        conditions = (live.get("status") or {}).get("conditions") or ()
        return any(each.get("type") == self.condition and each.get("status") == "True" for each in conditions)


def _same(observed: Mapping[str, Any], wanted: GroupCondition) -> bool:
    status = "True" if wanted.scheduled else "False"
    generation = observed.get("observedGeneration") or 0
    seen = observed.get("status"), observed.get("reason"), observed.get("message") or "", generation
    return seen == (status, wanted.reason, wanted.message, wanted.generation)
