"""A Transport whose watches are cut, refused and delayed as a list of choices says, for tests of reflectors."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import orjson

from dra_api.transport import Request, Response, Transport, TransportError, WatchRefusedError
from support.faulty import status

EXPIRED = {
    "type": "ERROR",
    "object": {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old resource version"},
}
FAILED = {"type": "ERROR", "object": {"kind": "Status", "code": 500, "reason": "InternalError", "message": "oops"}}
CHOICES = (
    "fine",
    "cut at once",
    "cut after one",
    "end after two",
    "error 410",
    "refused 410",
    "error 500",
    "refused 429",
    "refused 403",
    "not there",
    "no json",
)


class Cutting:
    """Each watch takes the next of `watches`, each list page the next of `lists`; when they are used up all is well."""

    def __init__(self, inner: Transport, watches: list[str], lists: list[str] | None = None) -> None:
        self.inner = inner
        self.requests: list[Request] = []
        self._watches: Iterator[str] = iter(watches)
        self._lists: Iterator[str] = iter(lists or [])

    async def send(self, request: Request) -> Response:
        self.requests.append(request)
        choice = next(self._lists, "fine")
        if choice == "not there":
            raise TransportError("refused", sent=False)
        if choice == "cut at once":
            await self.inner.send(request)
            raise TransportError("cut")
        if choice == "refused 410":
            return status(410, "Expired")
        if choice == "refused 429":
            return status(429, "TooManyRequests", retry_after=1)
        if choice == "refused 403":
            return status(403, "Forbidden")
        if choice == "no json":
            return Response(200, b"<html>")
        return await self.inner.send(request)

    @asynccontextmanager
    async def watch(self, request: Request) -> AsyncIterator[AsyncIterator[bytes]]:
        self.requests.append(request)
        choice = next(self._watches, "fine")
        if choice == "not there":
            raise TransportError("refused", sent=False)
        if choice.startswith("refused"):
            code = int(choice.split()[1])
            raise WatchRefusedError(status(code, {410: "Expired", 429: "TooManyRequests"}.get(code, "Forbidden")))
        async with self.inner.watch(request) as lines:
            yield self._lines(lines, choice)

    async def _lines(self, lines: AsyncIterator[bytes], choice: str) -> AsyncIterator[bytes]:
        if choice == "cut at once":
            raise TransportError("cut")
        left = {"cut after one": 1, "end after two": 2}.get(choice)
        if choice in ("error 410", "error 500", "no json"):
            await asyncio.sleep(0.3)
            yield {"error 410": orjson.dumps(EXPIRED), "error 500": orjson.dumps(FAILED), "no json": b"<html>"}[choice]
            return
        async for line in lines:
            yield line
            if left is not None:
                left -= 1
                if left == 0 and choice == "end after two":
                    return
                if left == 0:
                    raise TransportError("cut")
