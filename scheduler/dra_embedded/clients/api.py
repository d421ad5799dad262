"""Requests as dicts, refusals as exceptions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from dra_api.transport import JSON, Request, Transport, TransportError
from dra_embedded.errors import EmbeddedError

Object = dict[str, Any]


class RefusedError(EmbeddedError):
    """The API server refused a controller's request. Caused by a race with another writer, or by the object itself."""

    def __init__(self, status: int, reason: str, message: str) -> None:
        super().__init__(f"{status} {reason}: {message}")
        self.status = status
        self.reason = reason


class Api:
    """A Transport for controllers."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport

    async def request(
        self,
        method: str,
        path: str,
        body: Object | None = None,
        *,
        query: Mapping[str, str] | None = None,
        content_type: str = JSON,
    ) -> Object:
        """The object answered.

        Raises RefusedError for another status than 2xx, TransportError for no answer or one that makes no sense.
        """
        encoded = None if body is None else orjson.dumps(body)
        response = await self.transport.send(Request(method, path, query or {}, encoded, content_type))
        try:
            answer: Object = orjson.loads(response.body)
        except orjson.JSONDecodeError as error:
            raise TransportError(f"{method} {path}: status {response.status}, but the answer is no JSON") from error
        if response.status >= 300:
            raise RefusedError(response.status, str(answer.get("reason", "")), str(answer.get("message", "")))
        return answer

    async def find(self, path: str) -> Object | None:
        """The object at a path, or None. Raises RefusedError for other refusals."""
        try:
            return await self.request("GET", path)
        except RefusedError as error:
            if error.status == 404:
                return None
            raise
