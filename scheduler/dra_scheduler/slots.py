"""Places for pods in the middle of their writes; who waits for something else gives its place to others meanwhile."""

from __future__ import annotations

import asyncio


class Slot:
    """One place, held from the start."""

    def __init__(self, places: asyncio.Semaphore) -> None:
        self._places = places
        self._held = True

    def give(self) -> None:
        """Let others have the place."""
        if self._held:
            self._held = False
            self._places.release()

    async def take(self) -> None:
        """Have it again, as soon as there is one."""
        if not self._held:
            await self._places.acquire()
            self._held = True
