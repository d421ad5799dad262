"""A Transport between the tested client and a server that fails on command."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import orjson

from dra_api.transport import Request, Response, Transport, TransportError, WatchRefusedError


@dataclass(frozen=True, slots=True)
class Fault:
    """What happens to the next request that `matches`.

    `executed`: the server does what it was asked for. `response` None: no answer (TransportError, `sent`).
    `before`: called first, for what others do in between. `rewrite`: what the server takes it for.
    """

    matches: str
    response: Response | None = None
    executed: bool = False
    sent: bool = True
    before: Callable[[], object] | None = None
    passes: bool = False
    rewrite: Callable[[Request], Request] | None = None


def status(code: int, reason: str = "", message: str = "no", retry_after: int | None = None) -> Response:
    """An error answer as an API server gives it."""
    body = {
        "kind": "Status",
        "apiVersion": "v1",
        "status": "Failure",
        "message": message,
        "reason": reason,
        "code": code,
    }
    headers = {"content-type": "application/json"}
    if retry_after is not None:
        headers["retry-after"] = str(retry_after)
    return Response(code, orjson.dumps(body), headers)


@dataclass
class Faulty:
    """`faults` are used up in order: each waits for a request whose `METHOD path` contains its `matches`."""

    inner: Transport
    faults: list[Fault] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)

    def fail(self, matches: str, response: Response | None = None, **rest: bool) -> None:
        """Add a fault."""
        self.faults.append(Fault(matches, response, **rest))

    def meanwhile(self, matches: str, before: Callable[[], object]) -> None:
        """Do something just before the server sees the next such request."""
        self.faults.append(Fault(matches, before=before, passes=True))

    def rewrite(self, matches: str, rewrite: Callable[[Request], Request]) -> None:
        """Let the server see the next such request otherwise than it was sent."""
        self.faults.append(Fault(matches, rewrite=rewrite, passes=True))

    def sent(self, matches: str) -> list[Request]:
        """The requests so far whose `METHOD path` contains the text."""
        return [request for request in self.requests if matches in f"{request.method} {request.path}"]

    async def send(self, request: Request) -> Response:
        self.requests.append(request)
        fault = self._take(request)
        if fault is None:
            return await self.inner.send(request)
        if fault.before is not None:
            result = fault.before()
            if hasattr(result, "__await__"):
                await result
        if fault.rewrite is not None:
            request = fault.rewrite(request)
        if fault.passes:
            return await self.inner.send(request)
        if fault.executed:
            await self.inner.send(request)
        if fault.response is None:
            raise TransportError("cut", sent=fault.sent)
        return fault.response

    @asynccontextmanager
    async def watch(self, request: Request) -> AsyncIterator[AsyncIterator[bytes]]:
        self.requests.append(request)
        fault = self._take(request)
        if fault is not None:
            if fault.response is not None:
                raise WatchRefusedError(fault.response)
            raise TransportError("cut", sent=fault.sent)
        async with self.inner.watch(request) as lines:
            yield lines

    def _take(self, request: Request) -> Fault | None:
        line = f"{request.method} {request.path}"
        for index, fault in enumerate(self.faults):
            if fault.matches in line:
                return self.faults.pop(index)
        return None
