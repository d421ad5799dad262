"""An embedded cluster with our scheduler on the event loop, in real or in virtual time.

inventory created -> controllers, kubelets and scheduler run -> pods created one by one -> ... until it is left
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from random import Random
from typing import Any

from dra_api.clock import Clock
from dra_api.manifests import Document, Problem
from dra_embedded.cluster import EmbeddedCluster
from dra_scheduler.cli.loading import load, plan
from dra_scheduler.pending import PendingPod
from dra_scheduler.scheduler import Scheduler
from dra_scheduler.settings import Settings

QUIET = 0.25
"""Seconds without a write after which the cluster counts as settled."""


class RefusedDocumentsError(Exception):
    """The embedded server refuses what it was given; `problems` says why, each with its place in the files."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("; ".join(str(problem) for problem in problems))
        self.problems = list(problems)


class StoppedError(Exception):
    """A part of the cluster has ended by itself, for the reason that is its cause. Always a bug of ours."""


@dataclass(slots=True)
class Running:
    """A cluster that runs. `scheduler` None: it was asked for without ours. `assumed`: what no file said."""

    cluster: EmbeddedCluster
    scheduler: Scheduler | None
    tasks: list[asyncio.Task[Any]]
    assumed: list[str]

    def pending(self) -> list[PendingPod]:
        """What the scheduler says of the pods that it has not placed."""
        return [] if self.scheduler is None else self.scheduler.pending()

    def add(self, documents: Sequence[Document]) -> None:
        """Create more. Raises RefusedDocumentsError."""
        planned = plan(documents)
        self.assumed += planned.assumed
        problems = load(self.cluster.server, planned)
        if problems:
            raise RefusedDocumentsError(problems)

    async def settle(self) -> None:
        """Wait until every pod that can be placed runs and nothing else is left to do."""
        busy = [] if self.scheduler is None else [self.scheduler.at_rest]
        await self.unless_stopped(self.cluster.settle(*busy, quiet=QUIET))

    async def unless_stopped(self, waiting: Awaitable[Any]) -> None:
        """Wait for something as long as every part runs. Raises StoppedError when one does not."""
        wanted = asyncio.ensure_future(waiting)
        try:
            await asyncio.wait({wanted, *self.tasks}, return_when=asyncio.FIRST_COMPLETED)
            if wanted.done():
                wanted.result()
                return
        finally:
            wanted.cancel()
            await asyncio.gather(wanted, return_exceptions=True)
        dead = next(task for task in self.tasks if task.done())
        raise StoppedError(f"{dead.get_name()} has ended") from (None if dead.cancelled() else dead.exception())


@asynccontextmanager
async def running(
    documents: Sequence[Document], settings: Settings | None, clock: Clock, random: Random
) -> AsyncIterator[Running]:
    """A cluster of these documents; `settings` None: no scheduler of ours. Raises RefusedDocumentsError."""
    cluster = EmbeddedCluster(clock, random)
    scheduler = None if settings is None else Scheduler(cluster.transport, settings, clock, random)
    found = Running(cluster, scheduler, [], [])
    found.add(documents)
    stop = asyncio.Event()
    async with cluster:
        if scheduler is not None:
            found.tasks.append(asyncio.create_task(scheduler.run(stop), name="the scheduler"))
        try:
            yield found
        finally:
            stop.set()
            for task in found.tasks:
                task.cancel()
            await asyncio.gather(*found.tasks, return_exceptions=True)
