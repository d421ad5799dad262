"""A Transport whose watches of claims bring nothing for a while."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import orjson

from dra_api.transport import Request, Response, Transport
from support.cutting import EXPIRED


class HeldClaimWatch:
    """While it is `held` nothing is told of claims. Let go, a watch goes on, or (`expires`) is too old to."""

    def __init__(self, inner: Transport, *, held: bool, expires: bool = False) -> None:
        self.held = held
        self._expires = expires
        self._inner = inner
        self._go = asyncio.Event()

    def let_go(self) -> None:
        self.held = False
        self._go.set()

    async def send(self, request: Request) -> Response:
        return await self._inner.send(request)

    @asynccontextmanager
    async def watch(self, request: Request) -> AsyncIterator[AsyncIterator[bytes]]:
        async with self._inner.watch(request) as lines:
            yield self._told(lines) if request.path.endswith("/resourceclaims") else lines

    async def _told(self, lines: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        async for line in lines:
            if self.held:
                await self._go.wait()
                if self._expires:
                    yield orjson.dumps(EXPIRED)
                    return
            yield line
