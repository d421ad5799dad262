"""A cache bounded by bytes: the least recently used entry goes first."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

Value = TypeVar("Value")


class ByteLru(Generic[Value]):
    """Values by key with their sizes. The newest value stays, however large it is."""

    def __init__(self, max_bytes: int) -> None:
        self._entries: OrderedDict[Hashable, tuple[Value, int]] = OrderedDict()
        self._max_bytes = max_bytes
        self.bytes = 0

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: Hashable) -> Value | None:
        """Return a value and mark it as used."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        self._entries.move_to_end(key)
        return entry[0]

    def put(self, key: Hashable, value: Value, size: int) -> None:
        """Add a value, or note its new size, and drop others until the bound holds."""
        old = self._entries.pop(key, None)
        self.bytes += size - (old[1] if old else 0)
        self._entries[key] = value, size
        while self.bytes > self._max_bytes and len(self._entries) > 1:
            _, (_, dropped) = self._entries.popitem(last=False)
            self.bytes -= dropped
