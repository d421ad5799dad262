"""A shadow on a cluster: connected, fed and stopped."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Coroutine
from random import Random
from typing import Any

from dra_allocator.allocator import Allocator
from dra_api.clock import Clock
from dra_api.transport import Transport
from dra_scheduler.client.api import Api
from dra_scheduler.client.discovery import discover
from dra_scheduler.cycle.cycle import Cycle
from dra_scheduler.feature_gates import FeatureGates
from dra_scheduler.inventory.changes import followed
from dra_scheduler.settings import Settings
from dra_scheduler.shadow.judge import Judge
from dra_scheduler.shadow.opinion import Compared
from dra_scheduler.shadow.shadow import Shadow
from dra_scheduler.shadow.tally import Tally
from dra_scheduler.survey.gates import read_gates
from dra_scheduler.survey.read_only import ReadOnlyTransport


async def run_shadow(
    transport: Transport,
    settings: Settings,
    clock: Clock,
    random: Random,
    *,
    names: tuple[str, ...] | None,
    stop: asyncio.Event,
    tell: Callable[[Compared], None],
    began: Callable[[Tally], None] = lambda tally: None,
) -> Tally:
    """Shadow the cluster's schedulers until `stop` is set; returns the figures.

    Nothing is written: there is no writer, and the transport is wrapped in one that refuses to send a write. `began` is
    called with the figures as they grow, once all is read. Raises as `discover` and `followed` do.
    """
    tally = Tally()
    work = _shadow(transport, settings, clock, random, tally=tally, names=names, tell=tell, began=began)
    await _until(stop, work)
    return tally


async def _shadow(
    transport: Transport,
    settings: Settings,
    clock: Clock,
    random: Random,
    *,
    tally: Tally,
    names: tuple[str, ...] | None,
    tell: Callable[[Compared], None],
    began: Callable[[Tally], None],
) -> None:
    guarded = ReadOnlyTransport(transport)
    served = await discover(Api(guarded))
    gates = FeatureGates.of(settings.feature_gates, served.server.minor, await read_gates(guarded))
    async with followed(guarded, served, gates, clock, random) as cluster:
        allocator = Allocator(mask_bytes=settings.mask_bytes, share_ids=lambda: _share_id(random))
        cycle = Cycle(cluster, allocator, settings, clock, random)
        judge = Judge(cluster, allocator, clock)
        shadow = Shadow(cluster, cycle, judge, settings, clock, names=names, tell=tell, tally=tally)
        for pod in cluster.pods:
            shadow.pod_seen(pod, None)
        began(tally)
        await shadow.run()


async def _until(stop: asyncio.Event, work: Coroutine[Any, Any, None]) -> None:
    """Do the work until it ends, or `stop` is set, whatever it waits for then."""
    running = asyncio.create_task(work, name="shadow")
    stopping = asyncio.create_task(stop.wait(), name="stop")
    try:
        await asyncio.wait({running, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if running.done():
            running.result()
    finally:
        for task in (running, stopping):
            task.cancel()
        await asyncio.gather(running, stopping, return_exceptions=True)


def _share_id(random: Random) -> str:
    return str(uuid.UUID(int=random.getrandbits(128), version=4))
