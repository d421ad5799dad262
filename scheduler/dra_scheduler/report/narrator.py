"""Explaining rejections in the background: one at a time, in slices, for a tenth of the time at most."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from dra_allocator.rejection import Explain, Explanation
from dra_api.clock import Clock
from dra_cel.slices import Slices
from dra_scheduler.cycle.budget import TimeBudget

PAUSE = 9
"""Explaining takes milliseconds in large clusters; it gets a tenth of the time, the rest is for scheduling."""

Start = Callable[[str, Coroutine[Any, Any, None]], object]
"""Starts a task of a name."""


class Narrator:
    """Makes explanations. `start` runs its tasks; nothing holds the event loop for longer than `slice_seconds`."""

    def __init__(self, clock: Clock, start: Start, slice_seconds: float) -> None:
        self._clock = clock
        self._start = start
        self._slice = slice_seconds
        self._from = 0.0
        self.busy = False
        """Whether an explanation is under way."""

    @property
    def ready(self) -> bool:
        """Whether it is the time for another explanation."""
        return not self.busy and self._clock.monotonic() >= self._from

    def tell(self, name: str, explain: Explain, then: Callable[[Explanation], None]) -> None:
        """Explain, and call `then` with what was found."""
        self.busy = True
        self._start(f"explain {name}", self._tell(explain, then))

    async def _tell(self, explain: Explain, then: Callable[[Explanation], None]) -> None:
        work: Slices[Explanation] = Slices(explain)
        spent = 0.0
        done = False
        while not done:
            begin = self._clock.monotonic()
            done = work.step(TimeBudget(self._clock, self._slice).exhausted)
            spent += self._clock.monotonic() - begin
            if not done:
                await asyncio.sleep(0)
        self._from = self._clock.monotonic() + spent * PAUSE
        self.busy = False
        then(work.value)
