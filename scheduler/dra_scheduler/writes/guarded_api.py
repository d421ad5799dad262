"""An Api whose writes ask first whether we may write, and that repeats what the server asks to be repeated."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from random import Random

from dra_api.transport import MERGE_PATCH, TransportError
from dra_scheduler.client.api import Api, Object
from dra_scheduler.client.backoff import Backoff
from dra_scheduler.client.errors import ApiStatusError, ConflictError, NotFoundError, ResponseError
from dra_scheduler.writes.errors import NotWriterError

ATTEMPTS = 5
"""How often a request is sent at most."""
FIRST_DELAY = 0.1
"""Seconds before the second attempt, unless the server says how long."""
DELAY_CAP = 5.0
"""Seconds at most between two attempts, also when the server asks for more: then the pod's own backoff takes over."""
REPEATABLE = frozenset({429, 500, 502, 503, 504})

MayWrite = Callable[[], bool]


class GuardedApi:
    """Writes with the guard `may_write` asked before every single request, repetitions too.

    Repeating is safe for what is sent through here with `repeat=True`: patches that carry a resourceVersion (a second
    one after an unnoticed success is a conflict) or that say the same thing however often. Reads are always repeated.

    A conflict, and that there is no such object, are answers about all that was sent; other refusals, after a request
    whose outcome is unknown, are none: that outcome is raised.

    An answer that no API server gives (a proxy's page) says nothing of what became of the request: it is none.
    """

    def __init__(self, api: Api, random: Random, may_write: MayWrite) -> None:
        self._api = api
        self._random = random
        self._may_write = may_write

    async def get(self, path: str) -> Object:
        """Read live, for looking up an outcome. Raises as Api.get does after the last attempt."""
        return await self._repeat(lambda: self._api.get(path))

    async def patch(self, path: str, body: Object, content_type: str = MERGE_PATCH, *, repeat: bool = True) -> Object:
        """PATCH; raises NotWriterError, and as Api.patch does after the last attempt."""
        return await self._write(lambda: self._api.patch(path, body, content_type), repeat)

    async def create(self, path: str, body: Object, *, repeat: bool = False) -> Object:
        """POST; raises NotWriterError, and as Api.create does (after the last attempt)."""
        return await self._write(lambda: self._api.create(path, body), repeat)

    async def delete(self, path: str, options: Object, *, repeat: bool = True) -> Object:
        """DELETE with preconditions; raises NotWriterError, and as Api.delete does after the last attempt."""
        return await self._write(lambda: self._api.delete(path, options), repeat)

    async def _write(self, send: Callable[[], Awaitable[Object]], repeat: bool) -> Object:
        def guarded() -> Awaitable[Object]:
            if not self._may_write():
                raise NotWriterError("not allowed to write now; another instance may be the scheduler")
            return send()

        return await (self._repeat(guarded) if repeat else _answered(guarded))

    async def _repeat(self, send: Callable[[], Awaitable[Object]]) -> Object:
        backoff = Backoff(self._random, FIRST_DELAY, DELAY_CAP)
        unknown: Exception | None = None
        attempts = 0
        while True:
            attempts += 1
            try:
                return await _answered(send)
            except (TransportError, ApiStatusError, NotWriterError) as error:
                if isinstance(error, ConflictError | NotFoundError):
                    raise
                refused = isinstance(error, NotWriterError) or _is_refusal(error)
                if not refused and not certainly_not_executed(error):
                    unknown = error
                if refused or attempts == ATTEMPTS:
                    if unknown is None or unknown is error:
                        raise
                    # That the last one was not executed says nothing of those before it.
                    raise unknown from error
                delay = backoff.delay()
                if isinstance(error, ApiStatusError) and error.retry_after is not None:
                    delay = min(DELAY_CAP, max(delay, error.retry_after))
            await asyncio.sleep(delay)


def certainly_not_executed(error: Exception) -> bool:
    """Whether a request that ended so has certainly changed nothing, and may be sent again."""
    if isinstance(error, TransportError):
        return not error.sent
    return isinstance(error, ApiStatusError) and error.status == 429


def _is_refusal(error: Exception) -> bool:
    return isinstance(error, ApiStatusError) and error.status not in REPEATABLE


async def _answered(send: Callable[[], Awaitable[Object]]) -> Object:
    try:
        return await send()
    except ResponseError as error:
        raise TransportError(str(error)) from error
