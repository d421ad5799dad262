"""Long loops that share the event loop with probes and watches."""

from __future__ import annotations

import asyncio

from dra_api.clock import Clock

SLICE = 0.005
"""Seconds of work after which others get their turn."""
STEPS = 256
"""Steps after which they get it anyway (in virtual time work takes no time)."""


class Pacer:
    """Call `step` after each small piece of work; every 5 ms of work it yields to the loop once."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._since = clock.monotonic()
        self._steps = 0

    async def step(self) -> None:
        """Yield if it is time to."""
        self._steps += 1
        if self._steps >= STEPS or self._clock.monotonic() - self._since >= SLICE:
            await asyncio.sleep(0)
            self.restart()

    def restart(self) -> None:
        """Start the slice now: what came before was waiting, not work."""
        self._steps = 0
        self._since = self._clock.monotonic()
