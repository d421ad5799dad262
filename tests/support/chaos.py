"""A transport that crashes its user at a chosen write."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

from dra_api.transport import Request, Response, Transport
from support.stage import Raw, Stage


class Crashing:
    """Lets `at` writes through; the next one ends its user: nothing comes back any more. `executed`: it took effect."""

    def __init__(self, inner: Transport, at: int, *, executed: bool) -> None:
        self.inner = inner
        self.left = at
        self.executed = executed
        self.crashed = asyncio.Event()

    async def send(self, request: Request) -> Response:
        if request.method != "GET":
            if self.left == 0:
                self.left = -1
                if self.executed:
                    await self.inner.send(request)
                self.crashed.set()
            if self.left < 0:
                await asyncio.Event().wait()
            self.left -= 1
        return await self.inner.send(request)

    @asynccontextmanager
    async def watch(self, request: Request) -> AsyncIterator[AsyncIterator[bytes]]:
        async with self.inner.watch(request) as lines:
            yield lines


async def crash(stage: Stage, objects: Iterable[Raw], at: int, *, executed: bool) -> bool:
    """Have a scheduler crash at one of its writes over these objects and start another; whether it came to that."""
    await stage.create(*objects)
    await stage.cluster.settle()
    transport = Crashing(stage.transport, at, executed=executed)
    await stage.start(transport)
    settled = asyncio.create_task(stage.settle())
    crashed = asyncio.create_task(transport.crashed.wait())
    await asyncio.wait({settled, crashed}, return_when=asyncio.FIRST_COMPLETED)
    settled.cancel()
    crashed.cancel()
    await stage.kill()
    await stage.start()
    return transport.crashed.is_set()
