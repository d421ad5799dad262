"""Transports that crash their user at a chosen write, or fail, delay and cut as a seed says."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from dra_api.transport import Request, Response, Transport, TransportError, WatchRefusedError
from support.faulty import status


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


class Chaos:
    """Faults drawn from `source`, each with probability `rate`, until `calm` is set."""

    def __init__(self, inner: Transport, source: random.Random, rate: float) -> None:
        self.inner = inner
        self.source = source
        self.rate = rate
        self.calm = False

    async def send(self, request: Request) -> Response:
        await self._delay()
        if self._strikes():
            kind = self.source.choice(["refused", "lost before", "lost after", "busy", "broken"])
            if kind == "refused":
                raise TransportError("connection refused", sent=False)
            if kind == "lost before":
                raise TransportError("cut")
            if kind == "busy":
                return status(429, "TooManyRequests", retry_after=1)
            if kind == "broken":
                return status(500, "InternalError")
            await self.inner.send(request)
            raise TransportError("cut")
        response = await self.inner.send(request)
        await self._delay()
        return response

    @asynccontextmanager
    async def watch(self, request: Request) -> AsyncIterator[AsyncIterator[bytes]]:
        if self._strikes():
            if self.source.random() < 0.5:
                raise TransportError("connection refused", sent=False)
            raise WatchRefusedError(status(410, "Expired"))
        async with self.inner.watch(request) as lines:
            yield self._lines(lines)

    async def _lines(self, lines: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        async for line in lines:
            await self._delay()
            if self._strikes():
                raise TransportError("the watch was cut")
            yield line

    def _strikes(self) -> bool:
        return not self.calm and self.source.random() < self.rate

    async def _delay(self) -> None:
        if not self.calm and self.source.random() < 0.3:
            await asyncio.sleep(self.source.choice([0.001, 0.01, 0.2]))
