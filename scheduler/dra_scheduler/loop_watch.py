"""How late the event loop is: it carries watches and probes, so nothing may hold it for long."""

from __future__ import annotations

import asyncio

from dra_api.clock import Clock

INTERVAL = 0.25
"""Seconds between two looks."""
LATE = 0.01
"""Seconds of delay from which a look counts as late."""
STALLED = 10.0
"""Seconds without a look after which the loop is taken for stalled."""


class LoopWatch:
    """A task that sleeps and measures by how much it overslept."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._looked_at = clock.monotonic()
        self.late = 0
        """Looks that came more than 10 ms late."""
        self.late_seconds = 0.0
        """By how much, all together."""
        self.worst_seconds = 0.0
        """The latest since the worst was last asked for (`take_worst`)."""

    async def run(self) -> None:
        """Look for ever."""
        self._looked_at = self._clock.monotonic()
        while True:
            await asyncio.sleep(INTERVAL)
            now = self._clock.monotonic()
            delay = now - self._looked_at - INTERVAL
            self._looked_at = now
            self.worst_seconds = max(self.worst_seconds, delay)
            if delay > LATE:
                self.late += 1
                self.late_seconds += delay

    def take_worst(self) -> float:
        """The worst delay in seconds since this was last called."""
        worst, self.worst_seconds = self.worst_seconds, 0.0
        return worst

    def problem(self) -> str | None:
        """Why the loop is not alive; None: it is."""
        silent = self._clock.monotonic() - self._looked_at
        return f"the event loop has been held for {silent:.1f} s" if silent > STALLED else None
