"""Explaining rejections in the background: one at a time, in slices, for a tenth of the time at most."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any

from dra_allocator.rejection import Explain, Explanation
from dra_api.clock import Clock
from dra_cel.slices import Slices
from dra_scheduler.cycle.budget import TimeBudget

_log = logging.getLogger(__name__)

PAUSE = 9
"""Explaining takes milliseconds in large clusters; it gets a tenth of the time, the rest is for scheduling."""

MOST_WAITING = 256
"""Later ones are not explained, for it would take seconds until their turn: they get kube-scheduler's message alone."""

Start = Callable[[str, Coroutine[Any, Any, None]], object]
"""Starts a task of a name."""
Then = Callable[[Explanation], None]
"""What to do with an explanation."""


class Narrator:
    """Makes explanations. `start` runs its task; nothing holds the event loop for longer than `slice_seconds`."""

    def __init__(self, clock: Clock, start: Start, slice_seconds: float) -> None:
        self._clock = clock
        self._start = start
        self._slice = slice_seconds
        self._asked: deque[tuple[Explain, Then]] = deque()
        self._running = False
        self._telling = False

    @property
    def waiting(self) -> int:
        """How many explanations have been asked for and not been made."""
        return len(self._asked) + self._telling

    @property
    def full(self) -> bool:
        """Whether so many wait that another one would come too late."""
        return len(self._asked) >= MOST_WAITING

    def tell(self, explain: Explain, then: Then) -> None:
        """Explain, and call `then` with what was found, after all that was asked for before."""
        self._asked.append((explain, then))
        if not self._running:
            self._running = True
            self._start("explanations", self._tell_all())

    async def _tell_all(self) -> None:
        while self._asked:
            explain, then = self._asked.popleft()
            self._telling = True
            spent = await self._tell(explain, then)
            self._telling = False
            await asyncio.sleep(spent * PAUSE)
        self._running = False

    async def _tell(self, explain: Explain, then: Then) -> float:
        """Make one explanation; return how many seconds it took."""
        work: Slices[Explanation] = Slices(explain)
        spent = 0.0
        done = False
        while not done:
            begin = self._clock.monotonic()
            try:
                done = work.step(TimeBudget(self._clock, self._slice).exhausted)
            except Exception:
                # Pods are scheduled by decisions, not by explanations: a mistake here must not end that.
                _log.exception("a rejection could not be explained")
                then(Explanation(0))
                return self._clock.monotonic() - begin
            spent += self._clock.monotonic() - begin
            if not done:
                await asyncio.sleep(0)
        then(work.value)
        return spent
