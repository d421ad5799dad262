"""The process around a scheduler: connection, signals, probes, memory, and the end."""

from __future__ import annotations

import asyncio
import gc
import logging
import signal
import socket
from collections.abc import AsyncIterator, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from random import Random
from typing import Any

from dra_api.transport import TransportError
from dra_scheduler.client.api import Api
from dra_scheduler.client.connection import connect, discover_patiently
from dra_scheduler.errors import SchedulerError, TaskDiedError
from dra_scheduler.figures import figures
from dra_scheduler.http import Probes, listen, serving
from dra_scheduler.loop_watch import LoopWatch
from dra_scheduler.scheduler import Scheduler
from dra_scheduler.settings import Settings
from dra_scheduler.system_clock import SystemClock

COLLECT_AFTER = 50_000
"""New objects after which Python looks for garbage in cycles, of which the hot path makes none."""

log = logging.getLogger(__name__)


class ConnectionLostError(SchedulerError):
    """The API server could not be asked at a moment when nothing can go on without; start again."""


async def run_process(settings: Settings, kubeconfig: str | None, context: str | None) -> None:
    """Schedule until SIGTERM or SIGINT; the second of them ends without waiting for anything.

    Raises AddressError, ConnectError, NoResourceApiError, and what else `Scheduler.run` raises.
    """
    clock, random, stop = SystemClock(), Random(), asyncio.Event()
    async with AsyncExitStack() as stack:
        listener: socket.socket | None = None
        if settings.http is not None:
            listener = listen(settings.http)
            stack.callback(listener.close)
        await stack.enter_async_context(stopped_by_signals(stop))
        transport = await connect(kubeconfig, context, clock)
        stack.push_async_callback(transport.close)
        scheduler, watch = Scheduler(transport, settings, clock, random), LoopWatch(clock)
        helpers = [asyncio.create_task(watch.run(), name="loop watch")]
        stack.push_async_callback(_cancel, helpers)
        if listener is not None:
            log.info("serving /livez, /readyz and /metrics address=%s:%d", *listener.getsockname()[:2])
            probes = Probes(
                live=watch.problem,
                ready=lambda: None if scheduler.ready else "the caches are not filled yet",
                metrics=lambda: figures(scheduler, watch),
            )
            helpers.append(await stack.enter_async_context(serving(listener, probes)))
        await _first_of(_schedule(scheduler, Api(transport), random, stop), helpers)


async def _schedule(scheduler: Scheduler, api: Api, random: Random, stop: asyncio.Event) -> None:
    """Wait for the API server if it is not there yet, then schedule."""
    asking = asyncio.create_task(discover_patiently(api, random), name="discovery")
    stopping = asyncio.create_task(stop.wait(), name="stop")
    settling = asyncio.create_task(_settle_memory(scheduler), name="memory")
    try:
        await asyncio.wait({asking, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if not asking.done():
            return
        asking.result()
        await scheduler.run(stop)
    except TransportError as error:
        raise ConnectionLostError(f"the API server does not answer: {error}") from error
    finally:
        await _cancel([asking, stopping, settling])


async def _first_of(work: Coroutine[Any, Any, None], helpers: list[asyncio.Task[None]]) -> None:
    """Wait for the work. A helper that ends before ends it: its error is raised, as the cause of a TaskDiedError."""
    main = asyncio.create_task(work, name="main")
    try:
        await asyncio.wait({main, *helpers}, return_when=asyncio.FIRST_COMPLETED)
        if main.done():
            return main.result()
    finally:
        await _cancel([main])
    dead = next(task for task in helpers if task.done())
    error = None if dead.cancelled() else dead.exception()
    raise TaskDiedError(f"a part of the process ended: {dead.get_name()}: {error}") from error


async def _settle_memory(scheduler: Scheduler) -> None:
    """Keep Python's search for cyclic garbage off the way.

    A full search walks every object of the caches and takes a tenth of a second with some ten thousand devices; what
    is loaded by now stays anyway, and all that the scheduler drops is freed by its reference count.
    """
    gc.disable()
    try:
        await scheduler.filled.wait()
        gc.freeze()
    finally:
        gc.set_threshold(COLLECT_AFTER, 50, 100)
        gc.enable()


async def _cancel(tasks: list[asyncio.Task[Any]]) -> None:
    """Cancel and wait; who wants a result has taken it before."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


@asynccontextmanager
async def stopped_by_signals(stop: asyncio.Event) -> AsyncIterator[None]:
    """SIGTERM and SIGINT set `stop`; a second one cancels the task that is inside."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    numbers = (signal.SIGTERM, signal.SIGINT)

    def received(number: signal.Signals) -> None:
        if stop.is_set() and task is not None:
            log.warning("stopping at once signal=%s", number.name)
            task.cancel()
        else:
            log.info("stopping signal=%s", number.name)
            stop.set()

    for number in numbers:
        loop.add_signal_handler(number, received, number)
    try:
        yield
    finally:
        for number in numbers:
            loop.remove_signal_handler(number)
