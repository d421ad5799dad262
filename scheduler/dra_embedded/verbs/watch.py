"""Watches: from a resource version on, or from the objects as they are now; bookmarks; cut when too slow.

    resourceVersion absent or "0"    ADDED of every object, then changes
    resourceVersion N                changes after N; ERROR 410 Expired when some of them are forgotten
    sendInitialEvents=true           ADDED of every object, a BOOKMARK marked initial-events-end, then changes

A selector turns changes into what its watcher sees: an object that begins to match is ADDED, one that ceases to is
DELETED.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator, Mapping
from typing import Any

import orjson

from dra_api.transport import Request
from dra_api.validation import FieldError
from dra_api.validation.errors import forbidden, not_supported
from dra_embedded.bodies import encode, head
from dra_embedded.context import Context
from dra_embedded.paths import Target
from dra_embedded.status import Subject, bad_request, expired, invalid
from dra_embedded.store.history import Change, Stored
from dra_embedded.store.store import Bucket, at_revision
from dra_embedded.verbs.selection import parse_selection

MIN_TIMEOUT = 1800.0
"""Seconds a watch lives at least when it names no timeoutSeconds; at most twice as long."""

BOOKMARK_INTERVAL = 60.0
"""Seconds between bookmarks, for watches that asked for them."""

INITIAL_EVENTS_END = "k8s.io/initial-events-end"


class Watch:
    """One watch: checks its request when made (raises StatusError), then yields lines of JSON."""

    def __init__(self, context: Context, target: Target, request: Request) -> None:
        query = request.query
        _check_options(query)
        self._context = context
        self._target = target
        self._selection = parse_selection(target, query)
        self._bucket: Bucket = context.store.bucket(target.served.bucket)
        self._bookmarks = query.get("allowWatchBookmarks") in ("true", "1")
        self._initial_end = self._bookmarks and query.get("sendInitialEvents") in ("true", "1")
        self._prefix = f"{target.namespace}/" if target.namespace is not None else ""
        self._timeout = _timeout(query, context)
        version = query.get("resourceVersion", "")
        self._from_now = version in ("", "0") or query.get("sendInitialEvents") in ("true", "1")
        self._revision = context.store.revision if self._from_now else _number(version)
        self._position = self._bucket.history.position_after(self._revision)
        self._initial = list(self._bucket.items(target.namespace)) if self._from_now else []
        if query.get("sendInitialEvents") == "false" and version in ("", "0"):
            self._initial = []

    async def lines(self) -> AsyncGenerator[bytes, None]:
        """The events until the watch times out or is cut."""
        if self._position is None:
            yield _line(b"ERROR", orjson.dumps(expired(f"too old resource version: {self._revision}").body()))
            return
        for stored in self._initial:
            if self._selection.matches(stored.object):
                yield _line(b"ADDED", encode(stored, self._target))
        self._initial = []
        if self._initial_end:
            yield self._bookmark(initial_end=True)
        loop = asyncio.get_running_loop()
        end = loop.time() + self._timeout
        next_bookmark = loop.time() + BOOKMARK_INTERVAL
        while True:
            for line in self._ready():
                yield line
            if self._is_cut() or loop.time() >= end:
                return
            if self._bookmarks and loop.time() >= next_bookmark:
                next_bookmark = loop.time() + BOOKMARK_INTERVAL
                yield self._bookmark()
            if self._position == self._bucket.history.end:
                await self._change_or(min(end, next_bookmark) if self._bookmarks else end)

    def _is_cut(self) -> bool:
        return self._position is None

    def _ready(self) -> Iterator[bytes]:
        """Lines of the changes that are there; leaves the position None when the watcher was too slow."""
        history = self._bucket.history
        while self._position is not None and self._position < history.end:
            change = history.at(self._position)
            if change is None:
                self._position = None  # forgotten before this watcher came to it: cut it, it lists anew
                return
            self._position += 1
            self._revision = max(self._revision, change.revision)
            line = self._event(change)
            if line is not None:
                yield line

    def _event(self, change: Change) -> bytes | None:
        if not change.key.startswith(self._prefix):
            return None
        before = self._selected(change.previous)
        now = self._selected(change.current)
        if now is not None:
            return _line(b"ADDED" if before is None else b"MODIFIED", encode(now, self._target))
        if before is None:
            return None
        return _line(b"DELETED", encode(at_revision(before, change.revision), self._target))

    def _selected(self, stored: Stored | None) -> Stored | None:
        if stored is None or self._selection.everything or self._selection.matches(stored.object):
            return stored
        return None

    def _bookmark(self, *, initial_end: bool = False) -> bytes:
        # Every change up to the store's revision has been looked at when this is called.
        self._revision = max(self._revision, self._context.store.revision)
        metadata: dict[str, Any] = {"resourceVersion": str(self._revision), "creationTimestamp": None}
        if initial_end:
            metadata["annotations"] = {INITIAL_EVENTS_END: "true"}
        return _line(b"BOOKMARK", head(self._target) + b'"metadata":' + orjson.dumps(metadata) + b"}")

    async def _change_or(self, deadline: float) -> None:
        """Wait for the next change, or until the loop's time is `deadline`."""
        loop = asyncio.get_running_loop()
        woken: asyncio.Future[None] = loop.create_future()
        self._bucket.history.wake_on_change(woken)
        timer = loop.call_at(deadline, lambda: None if woken.done() else woken.set_result(None))
        try:
            await woken
        finally:
            timer.cancel()
            self._bucket.history.stop_waking(woken)


def _line(kind: bytes, obj: bytes) -> bytes:
    return b'{"type":"' + kind + b'","object":' + obj + b"}\n"


def _number(version: str) -> int:
    if version.isascii() and version.isdigit():
        return int(version)
    raise bad_request(f'invalid resource version: resourceVersion: Invalid value: "{version}": not a whole number')


def _timeout(query: Mapping[str, str], context: Context) -> float:
    text = query.get("timeoutSeconds", "0")
    try:
        seconds = float(int(text))
    except ValueError as error:
        raise bad_request(f"timeoutSeconds must be an integer, not {text!r}") from error
    return seconds if seconds > 0 else MIN_TIMEOUT * (1 + context.random.random())


def _check_options(query: Mapping[str, str]) -> None:
    """Parameters of a watch that exclude each other. Raises StatusError (422)."""
    match, initial = query.get("resourceVersionMatch", ""), query.get("sendInitialEvents")
    errors: list[FieldError] = []
    field = "resourceVersionMatch"
    if initial is not None and match != "NotOlderThan":
        message = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
        errors.append(forbidden(field, message))
    if match:
        if initial is None:
            message = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"
            errors.append(forbidden(field, message))
        if match != "NotOlderThan":
            errors.append(not_supported(field, match, ("NotOlderThan",)))
        if query.get("continue"):
            message = "resourceVersionMatch is forbidden when continue is provided"
            errors.append(forbidden(field, message))
    if errors:
        raise invalid(Subject("meta.k8s.io", "ListOptions"), "", errors)
