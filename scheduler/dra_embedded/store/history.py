"""The last changes of one kind, kept for watches to resume from and for lists at an older version.

    dropped          kept (at most 2 x limit)
    ...... 17 18 |  21  25  26  40  ^ next change
                    ^ a watcher's position: any index not yet dropped

A watcher holds a position, not a queue of its own: a slow one costs no memory and blocks no writer, and is cut when its
position has been dropped.
"""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from dataclasses import dataclass
from typing import Any, Final

import orjson

ADDED: Final = "ADDED"
MODIFIED: Final = "MODIFIED"
DELETED: Final = "DELETED"


class Stored:
    """An object as stored, in storage form without kind and apiVersion.

    `object` is never changed after this was made: a change makes a new Stored.
    """

    __slots__ = ("_json", "key", "object", "revision")

    def __init__(self, key: str, obj: dict[str, Any], revision: int) -> None:
        self.key = key
        self.object = obj
        self.revision = revision
        self._json: bytes | None = None

    def json(self) -> bytes:
        """The object as JSON, encoded once."""
        if self._json is None:
            self._json = orjson.dumps(self.object)
        return self._json


@dataclass(frozen=True, slots=True)
class Change:
    """One write: `previous` is None for an ADDED, `current` is None for a DELETED."""

    revision: int
    previous: Stored | None
    current: Stored | None

    @property
    def key(self) -> str:
        """The key of the object."""
        stored = self.current or self.previous
        return "" if stored is None else stored.key


class History:
    """The changes of one kind in order; keeps at least the last `limit` of them."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._changes: list[Change] = []
        self._dropped = 0
        self._forgotten = 0  # the revision of the newest change that was dropped
        self._waiting: list[asyncio.Future[None]] = []

    @property
    def end(self) -> int:
        """The position after the newest change."""
        return self._dropped + len(self._changes)

    def append(self, change: Change) -> None:
        """Add the newest change and wake who waits for it."""
        self._changes.append(change)
        if len(self._changes) >= 2 * self._limit:
            cut = len(self._changes) - self._limit
            self._forgotten = self._changes[cut - 1].revision
            del self._changes[:cut]
            self._dropped += cut
        if self._waiting:
            waiting, self._waiting = self._waiting, []
            for future in waiting:
                if not future.done():
                    future.set_result(None)

    def position_after(self, revision: int) -> int | None:
        """Where to read on from to see every change after `revision`; None: some of them are forgotten."""
        if revision < self._forgotten:
            return None
        return self._dropped + bisect_right(self._changes, revision, key=lambda change: change.revision)

    def at(self, position: int) -> Change | None:
        """The change at a position before `end`; None: it is forgotten."""
        index = position - self._dropped
        return self._changes[index] if index >= 0 else None

    def after(self, revision: int) -> list[Change] | None:
        """Every change after `revision`, oldest first; None: some of them are forgotten."""
        position = self.position_after(revision)
        return None if position is None else self._changes[position - self._dropped :]

    def wake_on_change(self, future: asyncio.Future[None]) -> None:
        """Complete `future` with the next change."""
        self._waiting.append(future)

    def stop_waking(self, future: asyncio.Future[None]) -> None:
        """Undo `wake_on_change` of a future that has not been woken by a change."""
        if future in self._waiting:
            self._waiting.remove(future)
