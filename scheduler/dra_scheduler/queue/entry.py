"""A pod in the queue."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from dra_allocator.rejection import Explain
from dra_scheduler.cache.pod_info import PodInfo
from dra_scheduler.plugins import Plugin


class Place(enum.Enum):
    """Where an entry is."""

    GATED = "gated"
    ACTIVE = "active"
    BACKOFF = "backoff"
    ERROR_BACKOFF = "error-backoff"
    UNSCHEDULABLE = "unschedulable"
    IN_FLIGHT = "in-flight"


@dataclass(slots=True, eq=False)
class Entry:
    """A pod that is to be scheduled. Times are seconds on the monotonic clock.

    `since` is when it last joined the queue (the order among equal priorities), `failed_at` when its last attempt
    ended, `attempts` how many there were. `plugins` rejected it last; `reason` is the text for people,
    `explain` the data behind it. `token` is the number of the heap entry that counts. `changed`: since it is in flight,
    the pod has changed in something that decides about it.
    """

    pod: PodInfo
    since: float
    place: Place = Place.GATED
    attempts: int = 0
    failed_at: float = 0.0
    plugins: frozenset[Plugin] = frozenset()
    reason: str = ""
    explain: Explain | None = None
    token: int = 0
    changed: bool = False
