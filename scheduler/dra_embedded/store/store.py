"""Objects by kind and key under one counter of resource versions, as etcd keeps them.

Every method runs to its end in one step of the event loop, so that each is one transaction: a caller reads, decides and
writes without an await in between, and no lock is needed.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from typing import Any

from dra_embedded.store.history import Change, History, Stored

DEFAULT_HISTORY = 20_000
"""Changes remembered for each kind, for watches to resume from."""


class Bucket:
    """The objects of one kind. Keys are `namespace/name`, or `name` for kinds outside namespaces."""

    def __init__(self, history_limit: int) -> None:
        self.objects: dict[str, Stored] = {}
        self.history = History(history_limit)
        self._sorted: list[str] | None = None

    def keys(self, namespace: str | None) -> list[str]:
        """The keys in order, of all namespaces (None) or of one."""
        if self._sorted is None:
            self._sorted = sorted(self.objects)
        if namespace is None:
            return self._sorted
        first = bisect_left(self._sorted, f"{namespace}/")
        last = bisect_left(self._sorted, f"{namespace}0")  # '0' follows '/' in ASCII
        return self._sorted[first:last]

    def items(self, namespace: str | None) -> Iterator[Stored]:
        """The objects in the order of their keys."""
        objects = self.objects
        return (objects[key] for key in self.keys(namespace))

    def list_at(self, revision: int, namespace: str | None) -> list[Stored] | None:
        """The objects as they were at `revision`, in the order of their keys; None: too long ago to know."""
        later = self.history.after(revision)
        if later is None:
            return None
        if not later:
            return list(self.items(namespace))
        objects = dict(self.objects)
        for change in reversed(later):
            if change.previous is not None:
                objects[change.previous.key] = change.previous
            elif change.current is not None:
                del objects[change.current.key]
        prefix = "" if namespace is None else f"{namespace}/"
        return [objects[key] for key in sorted(objects) if key.startswith(prefix)]

    def put(self, stored: Stored) -> Change:
        """Insert or replace, and record the change."""
        previous = self.objects.get(stored.key)
        if previous is None:
            self._sorted = None
        self.objects[stored.key] = stored
        change = Change(stored.revision, previous, stored)
        self.history.append(change)
        return change

    def remove(self, key: str, revision: int) -> tuple[Change, Stored]:
        """Take an object away and record the change; `key` must be there."""
        previous = self.objects.pop(key)
        self._sorted = None
        change = Change(revision, previous, None)
        self.history.append(change)
        return change, previous


class Store:
    """All buckets and the counter they share; `revision` is the newest resource version."""

    def __init__(self, history_limit: int = DEFAULT_HISTORY) -> None:
        self.revision = 1
        self._history_limit = history_limit
        self._buckets: dict[str, Bucket] = {}
        self.listeners: list[Callable[[str, Change], None]] = []
        """Called with the bucket's name and the change, within the write."""

    def bucket(self, name: str) -> Bucket:
        """The bucket of a kind, made when first asked for."""
        bucket = self._buckets.get(name)
        if bucket is None:
            bucket = self._buckets[name] = Bucket(self._history_limit)
        return bucket

    def buckets(self) -> dict[str, Bucket]:
        """Every bucket by its name."""
        return self._buckets

    def get(self, bucket: str, key: str) -> Stored | None:
        """The object, or None."""
        return self.bucket(bucket).objects.get(key)

    def write(self, bucket: str, key: str, obj: dict[str, Any]) -> Stored:
        """Store `obj` under the next resource version, which is written into its metadata.

        The store takes the dict over: the caller must not change it any more. Its metadata must not be shared with
        another stored object.
        """
        self.revision += 1
        obj["metadata"]["resourceVersion"] = str(self.revision)
        stored = Stored(key, obj, self.revision)
        self._tell(bucket, self.bucket(bucket).put(stored))
        return stored

    def delete(self, bucket: str, key: str) -> Stored:
        """Remove an object that is there; the result has the resource version of its deletion."""
        self.revision += 1
        change, removed = self.bucket(bucket).remove(key, self.revision)
        self._tell(bucket, change)
        return at_revision(removed, self.revision)

    def _tell(self, bucket: str, change: Change) -> None:
        for listener in self.listeners:
            listener(bucket, change)


def at_revision(stored: Stored, revision: int) -> Stored:
    """The same object with another resource version, as DELETED events carry it."""
    metadata = {**stored.object["metadata"], "resourceVersion": str(revision)}
    return Stored(stored.key, {**stored.object, "metadata": metadata}, revision)
