"""Requests and answers as dicts over any Transport; everything but success is an exception."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from dra_api.transport import JSON, MERGE_PATCH, Request, Transport
from dra_scheduler.client.errors import ResponseError
from dra_scheduler.client.status import error_of

Object = dict[str, Any]
"""A JSON object of the API, as decoded."""

NO_QUERY: Mapping[str, str] = {}


class Api:
    """An API server's verbs.

    Every method raises ApiStatusError (subclasses in `client.errors`) when the server refuses, ResponseError when the
    answer is none of an API server, and TransportError when there is no answer and the outcome is unknown.
    Nothing is repeated here: reflectors and writers each know when that is safe.
    """

    def __init__(self, transport: Transport) -> None:
        self.transport = transport

    async def get(self, path: str, query: Mapping[str, str] = NO_QUERY) -> Object:
        """Read one object."""
        return await self._send(Request("GET", path, query))

    async def list(self, path: str, query: Mapping[str, str] = NO_QUERY) -> Object:
        """Read one page of a list; `metadata.continue` in it asks for the next."""
        return await self._send(Request("GET", path, query))

    async def create(self, path: str, body: Object, query: Mapping[str, str] = NO_QUERY) -> Object:
        """POST to a collection, or to a subresource that is created (`pods/NAME/binding`)."""
        return await self._send(Request("POST", path, query, orjson.dumps(body)))

    async def replace(self, path: str, body: Object, query: Mapping[str, str] = NO_QUERY) -> Object:
        """PUT an object; fields that the body does not have are erased."""
        return await self._send(Request("PUT", path, query, orjson.dumps(body)))

    async def patch(
        self, path: str, body: Object, content_type: str = MERGE_PATCH, query: Mapping[str, str] = NO_QUERY
    ) -> Object:
        """PATCH an object; `content_type` is one of the patch types of `dra_api.transport`."""
        return await self._send(Request("PATCH", path, query, orjson.dumps(body), content_type))

    async def delete(self, path: str, options: Object | None = None, query: Mapping[str, str] = NO_QUERY) -> Object:
        """DELETE an object; `options` is a DeleteOptions (preconditions, propagationPolicy)."""
        body = orjson.dumps(options) if options is not None else None
        return await self._send(Request("DELETE", path, query, body, JSON))

    async def _send(self, request: Request) -> Object:
        response = await self.transport.send(request)
        if not 200 <= response.status <= 299:
            raise error_of(response)
        try:
            answer = orjson.loads(response.body)
        except orjson.JSONDecodeError as error:
            raise ResponseError(f"{request.method} {request.path}: the answer is not JSON") from error
        if not isinstance(answer, dict):
            raise ResponseError(f"{request.method} {request.path}: the answer is not a JSON object")
        return answer
