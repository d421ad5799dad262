"""A cluster to look at: objects in an embedded server, and the shell's read-only commands connected to it."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from datetime import datetime, timedelta
from typing import Any

import orjson
import pytest

from dra_api.transport import Request, Response
from dra_embedded.server import EmbeddedServer
from dra_scheduler.cli import cluster_access, shadow
from dra_scheduler.system_clock import SystemClock
from support.cli import Ran, run
from support.fake_clock import START, FakeClock

Raw = dict[str, Any]
NOW = START + timedelta(hours=1)
"""What the commands take for the present: an hour after everything was created."""


class Served:
    """The embedded server as the connection of a command. `forbidden` paths answer 403, `paths` were asked for."""

    def __init__(self, server: EmbeddedServer, forbidden: tuple[str, ...] = ()) -> None:
        self.server = server
        self.forbidden = forbidden
        self.namespace = ""
        self.methods: set[str] = set()

    async def send(self, request: Request) -> Response:
        self.methods.add(request.method)
        if request.path in self.forbidden:
            status = {"kind": "Status", "code": 403, "reason": "Forbidden", "message": f"{request.path} is forbidden"}
            return Response(403, orjson.dumps(status))
        return await self.server.send(request)

    def watch(self, request: Request) -> AbstractAsyncContextManager[AsyncIterator[bytes]]:
        self.methods.add("WATCH")
        return self.server.watch(request)

    async def __aenter__(self) -> Served:
        return self

    async def __aexit__(self, *exc: object) -> None:
        return None


def serve(*objects: Raw, forbidden: tuple[str, ...] = ()) -> Served:
    """A server with these objects, as another cluster had them."""
    server = EmbeddedServer(FakeClock(), random.Random(0))
    for obj in objects:
        server.restore(obj)
    return Served(server, forbidden)


def run_on(served: Served, *words: str, now: datetime = NOW) -> Ran:
    """Run a command of `dra-scheduler` against the server, at a certain time."""

    async def connect(*_: object) -> Served:
        return served

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cluster_access, "connect", connect)
        patch.setattr(shadow, "connect", connect)
        patch.setattr(SystemClock, "now", lambda _: now)
        return run(*words)


def allocated(
    claim: Raw,
    pool: str,
    device: str,
    *,
    pods: tuple[str, ...] = (),
    share: str = "",
    consumed: Raw | None = None,
    node: str = "",
    **result: Any,
) -> Raw:
    """The claim with a device for its request `gpu`, reserved for pods whose uids are `uid-NAME`."""
    entry = {"request": "gpu", "driver": "gpu.example.com", "pool": pool, "device": device} | result
    if share:
        entry |= {"shareID": share, "consumedCapacity": consumed or {}}
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node or pool]}]}
    allocation = {
        "devices": {"results": [entry]},
        "nodeSelector": {"nodeSelectorTerms": [term]},
        "allocationTimestamp": "2026-01-01T00:00:00Z",
    }
    metadata = claim["metadata"] | {"finalizers": ["resource.kubernetes.io/delete-protection"]}
    reserved = [{"resource": "pods", "name": name, "uid": f"uid-{name}"} for name in pods]
    return {**claim, "metadata": metadata, "status": {"allocation": allocation, "reservedFor": reserved}}
