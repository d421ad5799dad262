"""A bounded log of what changed, for caches that catch up lazily."""

from __future__ import annotations

from typing import Generic, TypeVar

Entry = TypeVar("Entry")


class Journal(Generic[Entry]):
    """Entries in order, each at a position that never changes; the oldest are dropped in bulk.

    A reader remembers the position up to which it has read. `since` returns None for a position that
    is no longer held: the reader then starts afresh.

    Attributes:
        position: the position after the newest entry.

    """

    __slots__ = ("_base", "_entries", "_limit", "position")

    def __init__(self, limit: int = 1 << 17) -> None:
        self._entries: list[Entry] = []
        self._base = 0
        self._limit = limit
        self.position = 0

    def add(self, entry: Entry) -> None:
        """Append an entry."""
        self._entries.append(entry)
        self.position += 1
        if len(self._entries) > self._limit:
            dropped = self._limit // 2
            del self._entries[:dropped]
            self._base += dropped

    def since(self, position: int) -> list[Entry] | None:
        """Return the entries from `position` on, or None if some of them have been dropped."""
        if position < self._base:
            return None
        return self._entries[position - self._base :]
