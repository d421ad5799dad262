"""A Transport that answers from a table of `METHOD path` to body, status and body, or an exception."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import orjson

from dra_api.transport import Request, Response, TransportError, WatchRefusedError

Answer = dict[str, Any] | tuple[int, Any] | Exception


class Scripted:
    """What the table does not have is a 404; a list of answers is used up, its last one stays."""

    def __init__(self, answers: dict[str, Answer | list[Answer]]) -> None:
        self.answers = answers
        self.requests: list[Request] = []
        self.on_request: Callable[[Request], None] = lambda _: None

    async def send(self, request: Request) -> Response:
        self.requests.append(request)
        self.on_request(request)
        answer: Any = self.answers.get(f"{request.method} {request.path}", (404, b"404 page not found\n"))
        if isinstance(answer, list):
            answer = answer.pop(0) if len(answer) > 1 else answer[0]
        if isinstance(answer, Exception):
            raise answer
        code, body = answer if isinstance(answer, tuple) else (200, answer)
        return Response(code, body if isinstance(body, bytes) else orjson.dumps(body))

    @asynccontextmanager
    async def watch(self, request: Request) -> AsyncIterator[AsyncIterator[bytes]]:
        response = await self.send(request)
        if response.status != 200:
            raise WatchRefusedError(response)

        async def lines() -> AsyncIterator[bytes]:
            for line in response.body.split(b"\n"):
                yield line
            raise TransportError("cut")

        yield lines()
