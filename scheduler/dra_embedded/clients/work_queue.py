"""Keys to work on, each once at a time, again after a while when the work failed.

add --> waiting --> in work --> done
          ^            | failed: back after 5 ms, 10 ms, 20 ms, ... at most MAX_DELAY
          '- later <---'  added meanwhile: waiting again when done
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from dra_api.transport import TransportError
from dra_embedded.errors import EmbeddedError

FIRST_DELAY = 0.005
MAX_DELAY = 60.0
"""Seconds between two tries of a failing key."""

_DOUBLINGS = 30  # many more than are needed to reach MAX_DELAY, and few enough for a float

Work = Callable[[str], Awaitable[float | None]]
"""Works on a key; returns None when done, or the seconds after which to look again."""


class WorkQueue:
    """A queue of keys with `workers` tasks that work on them."""

    def __init__(self, work: Work, *, workers: int = 4) -> None:
        self._work = work
        self._workers = workers
        self._waiting: dict[str, None] = {}
        self._in_work: set[str] = set()
        self._again: set[str] = set()
        self._failures: dict[str, tuple[int, str]] = {}
        self._later: dict[str, asyncio.TimerHandle] = {}
        self._wake = asyncio.Event()

    def add(self, key: str) -> None:
        """Work on a key soon; once, however often it is added until then."""
        if key in self._in_work:
            self._again.add(key)
            return
        self._waiting[key] = None
        self._wake.set()

    def idle(self) -> bool:
        """Whether nothing waits and nothing is in work; what is put off until later does not count."""
        return not self._waiting and not self._in_work

    def failures(self) -> dict[str, str]:
        """What the last try of each key that failed and will be tried again has said."""
        return {key: message for key, (_, message) in self._failures.items()}

    async def run(self) -> None:
        """Work until cancelled."""
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(self._workers):
                    group.create_task(self._run_worker())
        finally:
            for timer in self._later.values():
                timer.cancel()
            self._later.clear()

    async def _run_worker(self) -> None:
        while True:
            while not self._waiting:
                self._wake.clear()
                await self._wake.wait()
            key = next(iter(self._waiting))
            del self._waiting[key]
            self._in_work.add(key)
            try:
                await self._try(key)
            finally:
                self._in_work.discard(key)
                if key in self._again:
                    self._again.discard(key)
                    self.add(key)

    async def _try(self, key: str) -> None:
        try:
            delay = await self._work(key)
        except (EmbeddedError, TransportError) as error:
            # A lost race or a missing object: the state may be another one by the next try.
            failures = self._failures.get(key, (0, ""))[0]
            self._failures[key] = (failures + 1, str(error))
            delay = min(FIRST_DELAY * 2.0 ** min(failures, _DOUBLINGS), MAX_DELAY)
        else:
            self._failures.pop(key, None)
        if delay is not None:
            self._put_off(key, delay)

    def _put_off(self, key: str, delay: float) -> None:
        present = self._later.pop(key, None)
        if present is not None:
            present.cancel()
        self._later[key] = asyncio.get_running_loop().call_later(delay, self._due, key)

    def _due(self, key: str) -> None:
        self._later.pop(key, None)
        self.add(key)
