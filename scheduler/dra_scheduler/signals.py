"""Waking those that wait for something about an object, by uid."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Collection, Iterator

DEVICES_CHANGED = "devices"
"""Stands for all devices, classes and taint rules together, and for nodes that are deleted."""


class Signals:
    """Who listens is woken by every `notify` of one of its uids; nothing is kept for those who come later."""

    def __init__(self) -> None:
        self._listeners: dict[str, set[asyncio.Event]] = {}

    @contextlib.contextmanager
    def listen(self, uids: Collection[str]) -> Iterator[asyncio.Event]:
        """Return an event that is set whenever something happens to one of the objects."""
        event = asyncio.Event()
        for uid in uids:
            self._listeners.setdefault(uid, set()).add(event)
        try:
            yield event
        finally:
            for uid in uids:
                listeners = self._listeners[uid]
                listeners.discard(event)
                if not listeners:
                    del self._listeners[uid]

    def notify(self, uid: str) -> None:
        """Something happened to the object."""
        for event in self._listeners.get(uid, ()):
            event.set()
