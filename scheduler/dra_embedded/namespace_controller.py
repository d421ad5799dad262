"""Empties terminating namespaces and then lets them go, as the namespace controller does."""

from __future__ import annotations

import asyncio
from typing import Any

from dra_api.references import NAMESPACE
from dra_embedded.clients.api import Api
from dra_embedded.clients.informer import Informer, key_of
from dra_embedded.clients.work_queue import WorkQueue
from dra_embedded.server import EmbeddedServer

Object = dict[str, Any]

LOOK_AGAIN = 1.0
"""Seconds between two looks at what is left in a terminating namespace."""


class NamespaceController:
    """The controller; `run` it as a task. It asks the server which kinds there are, and does the rest by requests."""

    def __init__(self, server: EmbeddedServer) -> None:
        self._server = server
        self._api = Api(server)
        self._namespaces = Informer(self._api, NAMESPACE.path(), self._changed)
        self.queue = WorkQueue(self._work)

    async def run(self) -> None:
        """Work until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._namespaces.run())
            group.create_task(self.queue.run())

    def idle(self) -> bool:
        """Whether nothing is left to do now."""
        return self.queue.idle()

    def _changed(self, _old: Object | None, new: Object | None) -> None:
        if new is not None and new["metadata"].get("deletionTimestamp"):
            self.queue.add(key_of(new))

    async def _work(self, name: str) -> float | None:
        namespace = await self._api.find(NAMESPACE.path(name=name))
        if namespace is None or not namespace["metadata"].get("deletionTimestamp"):
            return None
        if await self._empty(name):
            return LOOK_AGAIN
        finalizers = [each for each in namespace["spec"].get("finalizers") or () if each != "kubernetes"]
        body = {**namespace, "spec": {**namespace["spec"], "finalizers": finalizers}}
        await self._api.request("PUT", NAMESPACE.path(name=name, subresource="finalize"), body)
        return None

    async def _empty(self, name: str) -> bool:
        """Delete what is in a namespace; whether something is still there."""
        left = False
        for served in self._server.registry.resources():
            if not served.resource.namespaced:
                continue
            path = served.resource.path(namespace=name, version=served.versions[0])
            if (await self._api.request("GET", path, query={"limit": "1"}))["items"]:
                await self._api.request("DELETE", path)
                left |= bool((await self._api.request("GET", path, query={"limit": "1"}))["items"])
        return left
