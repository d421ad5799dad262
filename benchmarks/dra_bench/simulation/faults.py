"""A way to the API server on which things go wrong, as a seed says."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import orjson

from dra_api.transport import Request, Response, Transport, TransportError, WatchRefusedError

DELAYS = (0.001, 0.01, 0.2, 3.0)
"""Seconds by which answers and events come late; the last one is rare."""


class Faults:
    """Delays, refusals, lost answers, cut watches, each with probability `rate`; none while `calm`.

    `end_before_write`: so many writes still pass; the next one and all that follows gets no answer any more, as if
    the process had ended at that point. `ended` is set then. Whether that last write still took effect is drawn.
    """

    def __init__(self, inner: Transport, source: random.Random, rate: float) -> None:
        self.inner = inner
        self.source = source
        self.rate = rate
        self.calm = False
        self.ended = asyncio.Event()
        self.end_before_write: int | None = None

    async def send(self, request: Request) -> Response:
        """See `Transport`."""
        if request.method != "GET":
            await self._count_down(request)
        await self._delay()
        if self._strikes():
            return await self._strike(request)
        response = await self.inner.send(request)
        await self._delay()
        return response

    @asynccontextmanager
    async def watch(self, request: Request) -> AsyncIterator[AsyncIterator[bytes]]:
        """See `Transport`."""
        if self._strikes():
            if self.source.random() < 0.5:
                raise TransportError("connection refused", sent=False)
            raise WatchRefusedError(_status(410, "Expired"))
        async with self.inner.watch(request) as lines:
            yield self._lines(lines)

    async def _count_down(self, request: Request) -> None:
        if self.end_before_write is None:
            return
        self.end_before_write -= 1
        if self.end_before_write >= 0:
            return
        if not self.ended.is_set():
            self.ended.set()
            if self.source.random() < 0.5:
                await self.inner.send(request)
        await asyncio.Event().wait()

    async def _strike(self, request: Request) -> Response:
        kind = self.source.choice(["refused", "lost before", "lost after", "conflict", "forbidden", "busy", "broken"])
        if kind == "refused":
            raise TransportError("connection refused", sent=False)
        if kind == "lost before":
            raise TransportError("cut")
        if kind == "conflict" and request.method != "GET":
            return _status(409, "Conflict")
        if kind == "forbidden" and request.method != "GET":
            return _status(403, "Forbidden")
        if kind == "busy":
            return _status(429, "TooManyRequests", retry_after=1)
        if kind != "lost after":
            return _status(500, "InternalError")
        await self.inner.send(request)
        raise TransportError("cut")

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
            await asyncio.sleep(self.source.choices(DELAYS, (10, 10, 10, 1))[0])


def _status(code: int, reason: str, retry_after: int | None = None) -> Response:
    body = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": "no", "reason": reason, "code": code}
    headers = {"content-type": "application/json"}
    if retry_after is not None:
        headers["retry-after"] = str(retry_after)
    return Response(code, orjson.dumps(body), headers)
