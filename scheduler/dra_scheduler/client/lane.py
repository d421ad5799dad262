"""One kept connection, for one short request after another.

aiohttp can do all that HTTP can, and takes 0.35 ms of CPU for a request; with four writes for each pod that was the
largest part of a pod's way. What those need is this: a head and a body out, an answer in.
"""

from __future__ import annotations

import asyncio
from typing import cast

from dra_api.transport import Response, TransportError
from dra_scheduler.client.answer import AnswerError, AnswerReader


class Lane(asyncio.Protocol):
    """A connection; `free`: another request may be sent."""

    def __init__(self, limit: int) -> None:
        """`limit`: bytes of an answer's body at most."""
        self._limit = limit
        self._transport: asyncio.Transport | None = None
        self._reader: AnswerReader | None = None
        self._answer: asyncio.Future[Response] | None = None
        self.free = False
        self.used_at = 0.0
        """When it became free (seconds of the event loop)."""

    async def exchange(self, message: bytes, seconds: float) -> Response:
        """Send a request and return the answer. Raises TransportError; then, and when cancelled, it is closed."""
        assert self._transport is not None
        loop = asyncio.get_running_loop()
        self.free = False
        self._reader = AnswerReader(self._limit)
        self._answer = loop.create_future()
        timer = loop.call_later(seconds, self._fail, "no answer in time")
        self._transport.write(message)
        try:
            return await self._answer
        except asyncio.CancelledError:
            self.close()
            raise
        finally:
            timer.cancel()
            self._answer = self._reader = None
            self.used_at = loop.time()

    def close(self) -> None:
        """Close now; a request under way fails."""
        self._fail("the connection was closed")

    # What the event loop calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The connection is there."""
        self._transport = cast(asyncio.Transport, transport)
        self.free = True

    def data_received(self, data: bytes) -> None:
        """A piece of the answer has arrived."""
        if self._reader is None or self._answer is None or self._answer.done():
            self.close()  # nobody has asked
            return
        try:
            answer = self._reader.feed(data)
        except AnswerError as error:
            self._fail(str(error))
            return
        if answer is not None:
            # An answer before the whole request is sent is a refusal to hear the rest.
            keep = self._reader.keep and self._transport is not None and not self._transport.get_write_buffer_size()
            self._answer.set_result(answer)
            self.free = keep
            if not keep:
                self._abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection has ended."""
        self.free = False
        if self._reader is not None and self._answer is not None and not self._answer.done():
            answer = self._reader.end() if exc is None else None
            if answer is not None:
                self._answer.set_result(answer)
                return
        self._fail(f"{type(exc).__name__}: {exc}" if exc is not None else "the server closed the connection")

    def _fail(self, why: str) -> None:
        """The request, if one is under way, may have been carried out or not."""
        self.free = False
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(TransportError(why))
        self._abort()

    def _abort(self) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.abort()
