"""Owner references: dependents go with their owners (background, foreground, orphan).

It reads the store itself, as a listener to its writes, because it has to know every kind; it writes through the API.
"""

from __future__ import annotations

import asyncio
from typing import Any

from dra_api.transport import MERGE_PATCH
from dra_embedded.clients.api import Api, RefusedError
from dra_embedded.clients.work_queue import WorkQueue
from dra_embedded.server import EmbeddedServer
from dra_embedded.store.history import Change, Stored
from dra_embedded.verbs.delete import FOREGROUND, ORPHAN

Object = dict[str, Any]


class GarbageCollector:
    """The controller; `run` it as a task."""

    def __init__(self, server: EmbeddedServer) -> None:
        self._server = server
        self._store = server.store
        self._api = Api(server)
        self._present: dict[str, str] = {}  # uid -> "bucket key"
        self._dependents: dict[str, dict[str, None]] = {}  # uid of an owner -> "bucket key" of its dependents
        self.queue = WorkQueue(self._work)

    async def run(self) -> None:
        """Work until cancelled."""
        for name, bucket in self._store.buckets().items():
            for stored in bucket.items(None):
                self._changed(name, Change(stored.revision, None, stored))
        self._store.listeners.append(self._changed)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self.queue.run())
        finally:
            self._store.listeners.remove(self._changed)

    def idle(self) -> bool:
        """Whether nothing is left to do now."""
        return self.queue.idle()

    def _changed(self, bucket: str, change: Change) -> None:
        place = f"{bucket} {change.key}"
        before, after = _owner_uids(change.previous), _owner_uids(change.current)
        for uid in before:
            if uid not in after:
                self._dependents.get(uid, {}).pop(place, None)
        for uid in after:
            self._dependents.setdefault(uid, {})[place] = None
        if change.previous is not None:
            self._gone(change.previous, change.current)
        if change.current is not None:
            metadata = change.current.object["metadata"]
            self._present[metadata["uid"]] = place
            waits = "deletionTimestamp" in metadata and _gc_finalizer(metadata) is not None
            if waits or any(uid not in self._present for uid in after):
                self.queue.add(place)

    def _gone(self, previous: Stored, current: Stored | None) -> None:
        metadata = previous.object["metadata"]
        if current is not None and current.object["metadata"]["uid"] == metadata["uid"]:
            return
        self._present.pop(metadata["uid"], None)
        for dependent in self._dependents.get(metadata["uid"], ()):
            self.queue.add(dependent)
        for owner in _owner_uids(previous):
            if owner in self._present:
                self.queue.add(self._present[owner])

    async def _work(self, place: str) -> None:
        bucket, _, key = place.partition(" ")
        stored = self._store.get(bucket, key)
        if stored is None:
            return
        metadata = stored.object["metadata"]
        finalizer = _gc_finalizer(metadata) if "deletionTimestamp" in metadata else None
        if finalizer == ORPHAN:
            await self._orphan(bucket, stored)
        elif finalizer == FOREGROUND:
            await self._delete_dependents(bucket, stored)
        elif "deletionTimestamp" not in metadata:
            await self._check_owners(bucket, stored)

    async def _check_owners(self, bucket: str, stored: Stored) -> None:
        """Delete an object none of whose owners is there; drop the references to those that are not."""
        owners = stored.object["metadata"].get("ownerReferences") or []
        left = [each for each in owners if each["uid"] in self._present]
        if len(left) == len(owners):
            return
        if left:
            await self._patch(bucket, stored, {"ownerReferences": left})
        else:
            await self._delete(bucket, stored)

    async def _delete_dependents(self, bucket: str, stored: Stored) -> None:
        """Foreground: the dependents first; the owner waits for those that block it."""
        uid = stored.object["metadata"]["uid"]
        blocked = False
        for dependent in self._found_dependents(uid):
            owners = dependent[1].object["metadata"].get("ownerReferences") or ()
            blocked |= any(each["uid"] == uid and each.get("blockOwnerDeletion") for each in owners)
            if "deletionTimestamp" not in dependent[1].object["metadata"]:
                await self._delete(*dependent)
        if not blocked:
            await self._drop_finalizer(bucket, stored, FOREGROUND)

    async def _orphan(self, bucket: str, stored: Stored) -> None:
        uid = stored.object["metadata"]["uid"]
        for dependent_bucket, dependent in self._found_dependents(uid):
            owners = dependent.object["metadata"].get("ownerReferences") or ()
            left = [each for each in owners if each["uid"] != uid]
            await self._patch(dependent_bucket, dependent, {"ownerReferences": left or None})
        await self._drop_finalizer(bucket, stored, ORPHAN)

    def _found_dependents(self, uid: str) -> list[tuple[str, Stored]]:
        found = []
        for place in list(self._dependents.get(uid, ())):
            bucket, _, key = place.partition(" ")
            stored = self._store.get(bucket, key)
            if stored is not None:
                found.append((bucket, stored))
        return found

    async def _drop_finalizer(self, bucket: str, stored: Stored, finalizer: str) -> None:
        left = [each for each in stored.object["metadata"].get("finalizers") or () if each != finalizer]
        await self._patch(bucket, stored, {"finalizers": left or None})

    async def _patch(self, bucket: str, stored: Stored, metadata: Object) -> None:
        version = stored.object["metadata"]["resourceVersion"]
        body = {"metadata": {"resourceVersion": version, **metadata}}
        await self._api.request("PATCH", self._path(bucket, stored), body, content_type=MERGE_PATCH)

    async def _delete(self, bucket: str, stored: Stored) -> None:
        metadata = stored.object["metadata"]
        preconditions = {"uid": metadata["uid"], "resourceVersion": metadata["resourceVersion"]}
        body = {"preconditions": preconditions, "propagationPolicy": "Background"}
        try:
            await self._api.request("DELETE", self._path(bucket, stored), body)
        except RefusedError as error:
            if error.status != 404:
                raise

    def _path(self, bucket: str, stored: Stored) -> str:
        served = next(each for each in self._server.registry.resources() if each.bucket == bucket)
        metadata = stored.object["metadata"]
        namespace = metadata.get("namespace", "")
        return served.resource.path(namespace=namespace, name=metadata["name"], version=served.versions[0])


def _owner_uids(stored: Stored | None) -> list[str]:
    if stored is None:
        return []
    return [each["uid"] for each in stored.object["metadata"].get("ownerReferences") or ()]


def _gc_finalizer(metadata: Object) -> str | None:
    finalizers = metadata.get("finalizers") or ()
    return next((each for each in (ORPHAN, FOREGROUND) if each in finalizers), None)
