"""Times in objects: RFC 3339 texts as Kubernetes writes them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any


def parse_time(text: object) -> datetime | None:
    """Return the time, None for anything that is none."""
    if not isinstance(text, str) or not text:
        return None
    try:
        found = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        return None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


def touched(obj: dict[str, Any]) -> datetime | None:
    """Return when an object was last written, as far as it says so: its creation or its newest managed field."""
    metadata = obj.get("metadata") or {}
    times = [metadata.get("creationTimestamp"), *(f.get("time") for f in metadata.get("managedFields") or ())]
    return max((time for time in map(parse_time, times) if time is not None), default=None)


def times_in(obj: dict[str, Any]) -> Iterator[datetime]:
    """Yield the times of an object and its status that tell when something happened."""
    last = touched(obj)
    if last is not None:
        yield last
    status = obj.get("status") or {}
    if not isinstance(status, dict):
        return
    texts = [(status.get("allocation") or {}).get("allocationTimestamp"), status.get("startTime")]
    texts += [c.get("lastTransitionTime") for c in status.get("conditions") or () if isinstance(c, dict)]
    texts += [obj.get("lastTimestamp"), obj.get("eventTime")]
    yield from (time for time in map(parse_time, texts) if time is not None)
