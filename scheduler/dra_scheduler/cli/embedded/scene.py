"""What is to be seen of a cluster at one moment, kept up to date by watches."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import datetime

from dra_api.clock import Clock
from dra_api.references import CORE_EVENT, NODE, POD, RESOURCE_CLAIM, RESOURCE_SLICE
from dra_embedded.clients.api import Api
from dra_embedded.clients.informer import Informer
from dra_scheduler.cli.embedded.running import Running
from dra_scheduler.cli.loading import Object


@dataclass(slots=True)
class Scene:
    """Objects in the order in which they were made, and why pods wait, by (namespace, name)."""

    now: datetime
    nodes: list[Object] = field(default_factory=list)
    slices: list[Object] = field(default_factory=list)
    pods: list[Object] = field(default_factory=list)
    claims: list[Object] = field(default_factory=list)
    events: list[Object] = field(default_factory=list)
    reasons: dict[tuple[str, str], str] = field(default_factory=dict)


class Watched:
    """Watches a running cluster; `run` it as a task."""

    def __init__(self, running: Running, clock: Clock) -> None:
        api = Api(running.cluster.transport)
        self._running = running
        self._clock = clock
        resources = (NODE, RESOURCE_SLICE, POD, RESOURCE_CLAIM, CORE_EVENT)
        self._informers = [Informer(api, resource.path(), _nothing) for resource in resources]

    async def run(self) -> None:
        """Watch until cancelled."""
        async with asyncio.TaskGroup() as group:
            for informer in self._informers:
                group.create_task(informer.run())

    async def synced(self) -> None:
        """Wait until everything has been read once."""
        for informer in self._informers:
            await informer.synced.wait()

    def scene(self) -> Scene:
        """The cluster as it is now."""
        nodes, slices, pods, claims, events = (list(informer.objects.values()) for informer in self._informers)
        reasons = {(p.namespace, p.name): p.explanation or p.reason for p in self._running.pending()}
        return Scene(self._clock.now(), nodes, slices, pods, claims, events, reasons)


def _nothing(_old: Object | None, _new: Object | None) -> None:
    """The objects are looked at when a picture is due, not when they change."""
