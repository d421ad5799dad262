"""The tasks of a scheduler: one that dies stops it with its error, nothing is swallowed."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from dra_scheduler.errors import SchedulerError, TaskDiedError

CANCEL_AGAIN = 1.0
"""Seconds after which a task that has not ended is cancelled once more."""


class Supervisor:
    """Runs tasks. `failure` ends when one of them has raised, or when one that must run for ever has ended."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()
        self._failed = asyncio.Event()
        self._error: BaseException | None = None

    def for_ever(self, name: str, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Start a task that must not end before it is cancelled."""
        return self._start(name, work, may_end=False)

    def once(self, name: str, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Start a task that ends by itself."""
        return self._start(name, work, may_end=True)

    async def failure(self) -> None:
        """Wait until a task has failed."""
        await self._failed.wait()

    def raise_failure(self) -> None:
        """Raise what a task raised: a SchedulerError as it is, everything else as the cause of a TaskDiedError."""
        if isinstance(self._error, SchedulerError):
            raise self._error
        if self._error is not None:
            raise TaskDiedError(f"a part of the scheduler ended: {self._error}") from self._error

    async def cancel(self) -> None:
        """Cancel all tasks and wait until they have ended; who loses a cancellation gets another."""
        while self._tasks:
            for task in self._tasks:
                task.cancel()
            await asyncio.wait(self._tasks, timeout=CANCEL_AGAIN)

    def _start(self, name: str, work: Coroutine[Any, Any, None], *, may_end: bool) -> asyncio.Task[None]:
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(lambda done: self._ended(done, may_end))
        return task

    def _ended(self, task: asyncio.Task[None], may_end: bool) -> None:
        self._tasks.discard(task)
        if task.cancelled():
            return
        error = task.exception()
        if error is None and not may_end:
            error = TaskDiedError(f"{task.get_name()} ended, although it runs for ever")
        if error is not None and self._error is None:
            self._error = error
            self._failed.set()
