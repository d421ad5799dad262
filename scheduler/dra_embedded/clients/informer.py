"""A cache of one kind: listed once, then kept up to date by a watch.

list --> watch from its resourceVersion --> cut: watch on from the last one seen
  ^------------------- 410 ------------------------'
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import orjson

from dra_api.transport import Request, TransportError, WatchRefusedError
from dra_embedded.clients.api import Api, RefusedError
from dra_embedded.errors import EmbeddedError

Object = dict[str, Any]
Handler = Callable[[Object | None, Object | None], None]
"""Called with an object before and after a change; None: it was not there, it is gone."""

RETRY_DELAY = 1.0
"""Seconds to wait after a failure."""

_PAGE = "500"


class ExpiredError(EmbeddedError):
    """The server has forgotten the changes after a resourceVersion. Caused by a pause; the answer is to relist."""


class Informer:
    """The objects at a collection's path, by `namespace/name` or name."""

    def __init__(self, api: Api, path: str, handler: Handler) -> None:
        self.objects: dict[str, Object] = {}
        self.synced = asyncio.Event()
        self._api = api
        self._path = path
        self._handler = handler
        self._version: str | None = None

    async def run(self) -> None:
        """List and watch until cancelled."""
        while True:
            try:
                if self._version is None:
                    await self._list()
                await self._watch()
            except (ExpiredError, WatchRefusedError):
                self._version = None
            except (TransportError, RefusedError):
                await asyncio.sleep(RETRY_DELAY)

    async def _list(self) -> None:
        listed: dict[str, Object] = {}
        query = {"limit": _PAGE}
        while True:
            page = await self._api.request("GET", self._path, query=query)
            for obj in page["items"]:
                listed[key_of(obj)] = obj
            token = page["metadata"].get("continue")
            if not token:
                break
            query = {"limit": _PAGE, "continue": token}
        for key in [key for key in self.objects if key not in listed]:
            self._apply(key, None)
        for key, obj in listed.items():
            self._apply(key, obj)
        self._version = page["metadata"]["resourceVersion"]
        self.synced.set()

    async def _watch(self) -> None:
        query = {"watch": "true", "allowWatchBookmarks": "true", "resourceVersion": str(self._version)}
        async with self._api.transport.watch(Request("GET", self._path, query)) as lines:
            async for line in lines:
                event = _event(line)
                obj: Object = event["object"]
                if event["type"] == "ERROR":
                    raise ExpiredError(str(obj.get("message", "")))
                self._version = obj["metadata"]["resourceVersion"]
                if event["type"] != "BOOKMARK":
                    self._apply(key_of(obj), None if event["type"] == "DELETED" else obj)

    def _apply(self, key: str, obj: Object | None) -> None:
        old = self.objects.pop(key, None) if obj is None else self.objects.get(key)
        if obj is not None:
            if old is not None and old["metadata"]["resourceVersion"] == obj["metadata"]["resourceVersion"]:
                return
            self.objects[key] = obj
        if old is not None or obj is not None:
            self._handler(old, obj)


def _event(line: bytes) -> Object:
    try:
        event: Object = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise TransportError(f"a watch event is no JSON: {line[:80]!r}") from error
    return event


def key_of(obj: Object) -> str:
    """`namespace/name`, or the name outside namespaces."""
    metadata = obj["metadata"]
    namespace = metadata.get("namespace")
    return f"{namespace}/{metadata['name']}" if namespace else str(metadata["name"])
