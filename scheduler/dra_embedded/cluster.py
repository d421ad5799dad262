"""A whole cluster in one event loop: API server, controllers, kubelets."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from types import TracebackType

from dra_api.clock import Clock
from dra_api.transport import Transport
from dra_embedded.claims.controller import ClaimController
from dra_embedded.errors import EmbeddedError
from dra_embedded.garbage_collector import GarbageCollector
from dra_embedded.kubelets.kubelet import Kubelet
from dra_embedded.namespace_controller import NamespaceController
from dra_embedded.server import EmbeddedServer

QUIET = 0.1
"""Seconds without a write and without work after which a cluster counts as settled."""

_CHATTER = ("leases.coordination.k8s.io", "events")


class NotSettledError(EmbeddedError):
    """The cluster was still busy after the time given. Caused by something that never comes to rest."""


class EmbeddedCluster:
    """Use it as an async context manager: entering starts the tasks, leaving cancels them.

    `kubelet=False` leaves bound pods alone. `wrap` puts something between the controllers and the server, for example
    a transport that delays or fails requests.
    """

    def __init__(
        self,
        clock: Clock,
        source: random.Random,
        *,
        kubelet: bool = True,
        server: EmbeddedServer | None = None,
        wrap: Callable[[Transport], Transport] = lambda transport: transport,
    ) -> None:
        self.server = EmbeddedServer(clock, source) if server is None else server
        self.claim_controller = ClaimController(wrap(self.server), clock)
        self.kubelet = Kubelet(wrap(self.server), clock) if kubelet else None
        self._collector = GarbageCollector(self.server)
        self._namespaces = NamespaceController(self.server)
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def transport(self) -> Transport:
        """The way to the API server."""
        return self.server

    async def __aenter__(self) -> EmbeddedCluster:
        runs = {
            "claim controller": self.claim_controller.run(),
            "garbage collector": self._collector.run(),
            "namespace controller": self._namespaces.run(),
        }
        if self.kubelet is not None:
            runs["kubelet"] = self.kubelet.run()
        self._tasks = [asyncio.create_task(run, name=name) for name, run in runs.items()]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for task in self._tasks:
            task.cancel()
        results = await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks = []
        for result in results:
            if isinstance(result, Exception) and error is None:
                raise result

    def idle(self) -> bool:
        """Whether none of the controllers has anything to do now."""
        parts = (self.claim_controller, self._collector, self._namespaces, self.kubelet)
        return all(part.idle() for part in parts if part is not None)

    async def settle(self, *idle: Callable[[], bool], quiet: float = QUIET, limit: float = 3600.0) -> None:
        """Wait until nothing is left to do: no writes (leases and events aside) and no work for `quiet` seconds.

        `idle` are further things that must be idle, such as a scheduler. Raises NotSettledError after `limit` seconds,
        and what a controller has died of.
        """
        loop = asyncio.get_running_loop()
        end = loop.time() + limit
        while True:
            writes = self._writes()
            await asyncio.sleep(quiet)
            for task in self._tasks:
                if task.done() and not task.cancelled():
                    task.result()
            if writes == self._writes() and self.idle() and all(each() for each in idle):
                return
            if loop.time() >= end:
                raise NotSettledError(f"the cluster is still busy after {limit:g} s")

    def _writes(self) -> int:
        buckets = self.server.store.buckets()
        return sum(bucket.history.end for name, bucket in buckets.items() if name not in _CHATTER)
