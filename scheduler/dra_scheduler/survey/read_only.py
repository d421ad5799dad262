"""A transport through which nothing can be written, whatever is built on top of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager

from dra_api.transport import Request, Response, Transport
from dra_scheduler.errors import SchedulerError
from dra_scheduler.survey.access_review import is_question


class WriteRefusedError(SchedulerError):
    """Something tried to write through a read-only transport: a mistake in the program, and nothing was sent."""


class ReadOnlyTransport:
    """Passes on GET requests, watches, and questions for one's own rights; anything else is refused, not sent."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def send(self, request: Request) -> Response:
        """Send a request. Raises WriteRefusedError for one that writes, and as the transport does."""
        if request.method != "GET" and not is_question(request):
            raise WriteRefusedError(f"read-only: {request.method} {request.path} is not sent")
        return await self._transport.send(request)

    def watch(self, request: Request) -> AbstractAsyncContextManager[AsyncIterator[bytes]]:
        """Open a watch, as the transport does. Raises WriteRefusedError for what is no GET."""
        if request.method != "GET":
            raise WriteRefusedError(f"read-only: {request.method} {request.path} is not sent")
        return self._transport.watch(request)
