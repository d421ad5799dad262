"""/livez, /readyz and /metrics, served from the scheduler's own event loop: when that is stuck, so is the answer.

FastAPI and uvicorn are imported only here, and only when an address was given: they take longer to import than the
rest of the scheduler.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dra_scheduler.errors import SchedulerError
from dra_scheduler.metrics import CONTENT_TYPE, Metric, render

if TYPE_CHECKING:
    from fastapi import FastAPI

BACKLOG = 64


class AddressError(SchedulerError):
    """The HTTP address cannot be used: whoever starts the scheduler chooses another."""


@dataclass(frozen=True, slots=True)
class Probes:
    """What is asked for. A problem is a text, None is fine."""

    live: Callable[[], str | None]
    ready: Callable[[], str | None]
    metrics: Callable[[], Sequence[Metric]]


def listen(address: str) -> socket.socket:
    """Open `HOST:PORT` (port 0: any free one; `[::1]:8080` for IPv6) for the server. Raises AddressError."""
    host, _, port = address.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not host or not port.isascii() or not port.isdigit() or int(port) > 65535:
        raise AddressError(f"{address!r} is not HOST:PORT, such as 127.0.0.1:8080")
    try:
        family, kind, protocol, _, where = socket.getaddrinfo(host, int(port), type=socket.SOCK_STREAM)[0]
        opened = socket.socket(family, kind, protocol)
    except OSError as error:
        raise AddressError(f"{address}: {error.strerror}") from error
    try:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind(where)
        opened.listen(BACKLOG)
    except OSError as error:
        opened.close()
        raise AddressError(f"{address}: {error.strerror}") from error
    opened.setblocking(False)
    return opened


def application(probes: Probes) -> FastAPI:
    """The web application."""
    from fastapi import FastAPI
    from fastapi.responses import PlainTextResponse, Response

    app = FastAPI(title="dra-scheduler", docs_url=None, redoc_url=None, openapi_url=None)

    def answer(problem: str | None) -> PlainTextResponse:
        return PlainTextResponse("ok\n" if problem is None else f"{problem}\n", 200 if problem is None else 503)

    @app.get("/livez")
    async def livez() -> PlainTextResponse:
        return answer(probes.live())

    @app.get("/readyz")
    async def readyz() -> PlainTextResponse:
        return answer(probes.live() or probes.ready())

    @app.get("/metrics")
    async def metrics() -> Response:
        return Response(render(probes.metrics()), media_type=CONTENT_TYPE)

    return app


@asynccontextmanager
async def serving(listener: socket.socket, probes: Probes) -> AsyncIterator[asyncio.Task[None]]:
    """Serve on an open listener as long as the context lasts; yields the task that does."""
    task = asyncio.create_task(_serve(listener, probes), name="http")
    try:
        yield task
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        listener.close()


async def _serve(listener: socket.socket, probes: Probes) -> None:
    # In a thread, because the first lists can be read meanwhile.
    app = await asyncio.to_thread(application, probes)
    import uvicorn

    class Server(uvicorn.Server):
        """Leaves the signals to the process that it is only a part of."""

        @contextlib.contextmanager
        def capture_signals(self) -> Iterator[None]:
            yield

    config = uvicorn.Config(
        app, log_config=None, log_level="warning", access_log=False, lifespan="off", ws="none", timeout_keep_alive=30
    )
    server = Server(config)
    try:
        await server.serve(sockets=[listener])
    except asyncio.CancelledError:
        server.force_exit = True
        await server.shutdown(sockets=[listener])
        raise
