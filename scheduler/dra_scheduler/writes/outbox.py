"""What is to be written sometime: keyed, the newest value of a key wins, due times, bounded, a few at a time.

put(key) --> waiting (heap by due time) --due, a place free--> in flight --> done
                ^ newer value replaces                 | put meanwhile: waits again afterwards
"""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

from dra_api.clock import Clock

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Outbox(Generic[K, V]):
    """Values to be delivered; `put` never blocks and never fails, it drops when `limit` keys wait."""

    def __init__(self, clock: Clock, *, limit: int, concurrency: int) -> None:
        self._clock = clock
        self._limit = limit
        self._places = asyncio.Semaphore(concurrency)
        self._waiting: dict[K, tuple[float, V]] = {}
        self._heap: list[tuple[float, int, K]] = []
        self._serial = 0
        self._in_flight: set[K] = set()
        self._wake = asyncio.Event()
        self.dropped = 0
        """How many values were dropped because too many waited."""

    def __len__(self) -> int:
        """How many keys wait or are in flight."""
        return len(self._waiting) + len(self._in_flight - self._waiting.keys())

    def put(self, key: K, value: V, due: float) -> bool:
        """Deliver `value` at `due` (clock.monotonic(), seconds) or later. False: dropped."""
        if key not in self._waiting and len(self._waiting) >= self._limit:
            self.dropped += 1
            return False
        self._waiting[key] = (due, value)
        if key not in self._in_flight:
            self._push(due, key)
        return True

    def discard(self, key: K) -> None:
        """Do not deliver what waits under the key."""
        self._waiting.pop(key, None)

    def get(self, key: K) -> V | None:
        """What waits under the key."""
        entry = self._waiting.get(key)
        return entry[1] if entry is not None else None

    async def run(self, deliver: Callable[[K, V], Awaitable[None]]) -> None:
        """Deliver for ever; what `deliver` raises ends the run."""
        async with asyncio.TaskGroup() as group:
            while True:
                delay = self._next_delay()
                if delay is None or delay > 0:
                    await self._sleep(delay)
                    continue
                await self._places.acquire()
                taken = self._take()
                if taken is None:
                    self._places.release()
                    continue
                group.create_task(self._deliver(deliver, *taken))

    async def _deliver(self, deliver: Callable[[K, V], Awaitable[None]], key: K, value: V) -> None:
        self._in_flight.add(key)
        try:
            await deliver(key, value)
        finally:
            self._in_flight.discard(key)
            self._places.release()
            if key in self._waiting:
                self._push(self._waiting[key][0], key)

    def _push(self, due: float, key: K) -> None:
        self._serial += 1
        heapq.heappush(self._heap, (due, self._serial, key))
        self._wake.set()

    def _next_delay(self) -> float | None:
        """Seconds until something is due; None: nothing waits. Entries that were replaced are skipped."""
        while self._heap:
            due, _, key = self._heap[0]
            entry = self._waiting.get(key)
            if entry is not None and entry[0] == due and key not in self._in_flight:
                return due - self._clock.monotonic()
            heapq.heappop(self._heap)
        return None

    def _take(self) -> tuple[K, V] | None:
        delay = self._next_delay()
        if delay is None or delay > 0:
            return None
        _, _, key = heapq.heappop(self._heap)
        value = self._waiting.pop(key)[1]
        self._in_flight.add(key)
        return key, value

    async def _sleep(self, delay: float | None) -> None:
        self._wake.clear()
        try:
            async with asyncio.timeout(delay):
                await self._wake.wait()
        except TimeoutError:
            return
