"""Complete lists in pages that stay small enough to be decoded between two turns of the event loop."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass

import orjson

from dra_api.references import Resource
from dra_api.transport import Request, Transport
from dra_scheduler.client.api import Object
from dra_scheduler.client.errors import GoneError, ResponseError
from dra_scheduler.client.status import error_of

FIRST_LIMIT = 100
MIN_LIMIT = 10
MAX_LIMIT = 1000
"""Objects in a page."""
PAGE_BYTES = 500_000
"""What a page should be about; decoding one takes some 4 ms, and nothing else runs meanwhile."""
RESTARTS = 3
"""How often a list is begun anew because its continue token expired; then it is asked for in one piece."""


@dataclass(frozen=True, slots=True)
class Page:
    """Objects with `apiVersion` and `kind` filled in. `first`: a list begins (again), earlier pages do not count."""

    items: list[Object]
    resource_version: str
    first: bool


class Listing:
    """Lists one kind; remembers from list to list how many objects make a page of a good size."""

    def __init__(self, transport: Transport, resource: Resource, path: str, query: Mapping[str, str]) -> None:
        self._transport = transport
        self._resource = resource
        self._path = path
        self._query = query
        self._limit = FIRST_LIMIT

    async def pages(self) -> AsyncGenerator[Page, None]:
        """Yield the pages of one complete list.

        Raises ApiStatusError, ResponseError, TransportError.
        """
        token, first, restarts = "", True, 0
        while True:
            query = dict(self._query)
            if restarts <= RESTARTS:
                query["limit"] = str(self._limit)
            if token:
                query["continue"] = token
            try:
                answer = await self._get(query)
            except GoneError:
                if not token:
                    raise
                token, first, restarts = "", True, restarts + 1
                continue
            meta = answer["metadata"]
            yield Page(self._items(answer), str(meta.get("resourceVersion") or ""), first)
            token, first = str(meta.get("continue") or ""), False
            if not token:
                return

    async def _get(self, query: Mapping[str, str]) -> Object:
        response = await self._transport.send(Request("GET", self._path, query))
        if response.status != 200:
            raise error_of(response)
        try:
            answer = orjson.loads(response.body)
        except orjson.JSONDecodeError as error:
            raise ResponseError(f"GET {self._path}: the answer is not JSON") from error
        if not isinstance(answer, dict) or not isinstance(answer.get("metadata"), dict):
            raise ResponseError(f"GET {self._path}: the answer is not a list of objects")
        items = answer.get("items")
        if items:
            ideal = int(len(items) * PAGE_BYTES / max(1, len(response.body)))
            self._limit = min(MAX_LIMIT, max(MIN_LIMIT, min(ideal, self._limit * 4)))
        return answer

    def _items(self, answer: Object) -> list[Object]:
        items = answer.get("items") or []
        if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
            raise ResponseError(f"GET {self._path}: the answer is not a list of objects")
        api_version = answer.get("apiVersion")
        for item in items:
            # Items of a list do not say what they are; whoever converts them wants to know.
            item.setdefault("apiVersion", api_version)
            item.setdefault("kind", self._resource.kind)
        return items
