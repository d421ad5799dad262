"""Events about pods that wait for claims which do not exist.

kube-scheduler is silent about them: they are not tried before their claims are there. Who has misspelt a claim's name
would find nothing in the pod's events, so after a moment we say what is missing, once per pod and text. The condition
stays as it is.
"""

from __future__ import annotations

import asyncio

from dra_api.clock import Clock
from dra_scheduler.cache.claim_store import ClaimStore
from dra_scheduler.cycle.circumstances import MissingClaims
from dra_scheduler.queue.entry import Entry, Place
from dra_scheduler.queue.scheduling_queue import SchedulingQueue
from dra_scheduler.report.reporter import Reporter

PATIENCE = 10.0
"""Seconds that a claim may be on its way: kube-controller-manager makes those of templates."""
TOLD_AT_ONCE = 100
"""Pods in one go; the others have their turn the next time."""


class WaitingReporter:
    """Looks at the queue now and then, once the caches are `filled`."""

    def __init__(
        self, queue: SchedulingQueue, claims: ClaimStore, reporter: Reporter, clock: Clock, filled: asyncio.Event
    ) -> None:
        self._queue = queue
        self._claims = claims
        self._filled = filled
        self._reporter = reporter
        self._clock = clock
        self._told: dict[str, str] = {}
        """By uid what was said about a pod."""

    async def run(self) -> None:
        """Look for ever."""
        await self._filled.wait()
        while True:
            await asyncio.sleep(PATIENCE)
            self.look()

    def look(self) -> None:
        """Tell about the pods that have waited for long enough."""
        now = self._clock.monotonic()
        waiting = [entry for entry in self._queue if waits_for_claims(entry)]
        self._told = {entry.pod.uid: self._told.get(entry.pod.uid, "") for entry in waiting}
        left = TOLD_AT_ONCE
        for entry in waiting:
            if now - entry.since < PATIENCE or self._told[entry.pod.uid] == entry.reason:
                continue
            self._told[entry.pod.uid] = entry.reason
            self._reporter.waiting_for(entry.pod, entry.reason, MissingClaims(entry.pod, self._claims)())
            left -= 1
            if not left:
                return


def waits_for_claims(entry: Entry) -> bool:
    """Whether a pod is not tried because of its claims."""
    return entry.place is Place.GATED and "DynamicResources" in entry.plugins
