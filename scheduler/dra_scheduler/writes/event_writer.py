"""Events (events.k8s.io/v1) about pods: deduplicated into series, rate-limited per pod, never in anybody's way.

The same event about the same pod is written once, and then counted: its `series` is patched at once when it happens
the second time, later not more often than every `SERIES_INTERVAL`. A different note is a different event, because
nothing but the series of an event can be changed.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from dataclasses import dataclass
from datetime import datetime
from random import Random
from typing import Any

from dra_api.clock import Clock
from dra_api.transport import TransportError
from dra_scheduler.client.api import Api
from dra_scheduler.client.errors import ApiStatusError, NotFoundError
from dra_scheduler.writes.errors import NotWriterError
from dra_scheduler.writes.guarded_api import GuardedApi, MayWrite
from dra_scheduler.writes.outbox import Outbox
from dra_scheduler.writes.refs import PodRef

NOTE_LIMIT = 1024
"""Bytes of UTF-8 that the API server takes in a note."""
NAME_LIMIT = 253
SERIES_INTERVAL = 60.0
"""Seconds at least between two updates of a series."""
SERIES_END = 1800.0
"""Seconds without a repetition after which the same event is written as a new one (API servers keep them an hour)."""
POD_BURST = 25
"""Events about one pod that are written at once; then one each `POD_INTERVAL`."""
POD_INTERVAL = 300.0
WAITING_LIMIT = 10_000
REMEMBERED = 10_000
CONCURRENCY = 16
TERMINATING = "NamespaceTerminating"
"""The cause of a 403 while a namespace is being deleted."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Event:
    """What happened to a pod; equal events are one series."""

    pod: PodRef
    type: str
    """`Normal` or `Warning`."""
    reason: str
    action: str
    note: str


@dataclass(slots=True)
class _Series:
    """What is known of an event that was recorded."""

    first: datetime
    last: datetime
    count: int = 1
    name: str | None = None
    """The object's name once it has been created."""
    written_at: float = 0.0


@dataclass(slots=True)
class _Bucket:
    """A pod's allowance."""

    tokens: float
    at: float


class EventWriter:
    """Writes events in the background: `run` must be running. `record` only puts them into a bounded queue."""

    def __init__(
        self,
        api: Api,
        clock: Clock,
        random: Random,
        *,
        controller: str,
        instance: str,
        may_write: MayWrite = lambda: True,
    ) -> None:
        """`controller`: the scheduler's name; `instance`: this process, such as `dra-scheduler-HOST`."""
        self._api = GuardedApi(api, random, may_write)
        self._clock = clock
        self._random = random
        self._controller = controller
        self._instance = instance[:128]
        self._outbox: Outbox[Event, _Series] = Outbox(clock, limit=WAITING_LIMIT, concurrency=CONCURRENCY)
        self._series: OrderedDict[Event, _Series] = OrderedDict()
        self._buckets: OrderedDict[str, _Bucket] = OrderedDict()
        self._limited = 0
        self.failed = 0
        """How many events the API server refused or did not answer."""

    @property
    def dropped(self) -> int:
        """How many events were not written: too many at once, or too many about one pod."""
        return self._outbox.dropped + self._limited

    @property
    def waiting(self) -> int:
        """How many events are not written yet."""
        return len(self._outbox)

    def record(self, pod: PodRef, event_type: str, reason: str, action: str, note: str) -> None:
        """Say that something happened to the pod. Never blocks; a note longer than 1024 bytes is cut."""
        event = Event(pod, event_type, reason, action, cut(note))
        now, moment = self._clock.monotonic(), self._clock.now()
        series = self._series.get(event)
        if series is not None and (moment - series.last).total_seconds() > SERIES_END:
            series = None
        if series is None:
            if not self._allowed(pod, now):
                self._limited += 1
                return
            series = _Series(moment, moment)
            due = now
        else:
            series.count += 1
            series.last = moment
            due = now if series.count == 2 else max(now, series.written_at + SERIES_INTERVAL)
        if self._outbox.put(event, series, due):
            _remember(self._series, event, series)

    async def run(self) -> None:
        """Write what waits, for ever."""
        await self._outbox.run(self._write)

    async def _write(self, event: Event, series: _Series) -> None:
        try:
            if series.name is not None and not await self._patch(event, series):
                series.name = None  # the API server's copy has expired
            if series.name is None:
                await self._create(event, series)
        except NotWriterError:
            return
        except (ApiStatusError, TransportError) as error:
            self.failed += 1
            if isinstance(error, ApiStatusError) and any(c.reason == TERMINATING for c in error.causes):
                return  # a namespace that goes away takes no more events, and nobody would read them
            log.warning("event not written pod=%s reason=%s error=%s", event.pod, event.reason, error)

    async def _create(self, event: Event, series: _Series) -> None:
        name = event_name(event.pod.name, self._random.getrandbits(64))
        body: dict[str, Any] = {
            "apiVersion": "events.k8s.io/v1",
            "kind": "Event",
            "metadata": {"name": name, "namespace": event.pod.namespace},
            "eventTime": micro_time(series.first),
            "reportingController": self._controller,
            "reportingInstance": self._instance,
            "action": event.action,
            "reason": event.reason,
            "regarding": {
                "apiVersion": "v1",
                "kind": "Pod",
                "namespace": event.pod.namespace,
                "name": event.pod.name,
                "uid": event.pod.uid,
            },
            "note": event.note,
            "type": event.type,
        }
        body |= _series_field(series)
        # Repeated under the same name, a creation that got through unnoticed ends in AlreadyExists, not in two events.
        try:
            await self._api.create(_path(event.pod.namespace), body, repeat=True)
        except ApiStatusError as error:
            if error.reason != "AlreadyExists":
                raise
        series.name = name
        series.written_at = self._clock.monotonic()

    async def _patch(self, event: Event, series: _Series) -> bool:
        """Update the series; False: the event is not there any more."""
        try:
            await self._api.patch(f"{_path(event.pod.namespace)}/{series.name}", _series_field(series))
        except NotFoundError:
            return False
        series.written_at = self._clock.monotonic()
        return True

    def _allowed(self, pod: PodRef, now: float) -> bool:
        """Take one of the pod's tokens."""
        bucket = self._buckets.get(pod.uid) or _Bucket(POD_BURST, now)
        bucket.tokens = min(POD_BURST, bucket.tokens + (now - bucket.at) / POD_INTERVAL)
        bucket.at = now
        _remember(self._buckets, pod.uid, bucket)
        if bucket.tokens < 1:
            return False
        bucket.tokens -= 1
        return True


def cut(note: str) -> str:
    """Cut a note to what the API server takes, between characters."""
    encoded = note.encode()
    if len(encoded) <= NOTE_LIMIT:
        return note
    return encoded[: NOTE_LIMIT - 3].decode("utf-8", "ignore") + "..."


def event_name(pod: str, number: int) -> str:
    """A name for an event: the pod's, as far as it fits, and a number."""
    suffix = f".{number:016x}"
    return pod[: NAME_LIMIT - len(suffix)].rstrip(".-") + suffix


def micro_time(moment: datetime) -> str:
    """A metav1.MicroTime, UTC."""
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _series_field(series: _Series) -> dict[str, Any]:
    if series.count < 2:
        return {}
    return {"series": {"count": series.count, "lastObservedTime": micro_time(series.last)}}


def _path(namespace: str) -> str:
    return f"/apis/events.k8s.io/v1/namespaces/{namespace}/events"


def _remember(cache: OrderedDict[Any, Any], key: Any, value: Any) -> None:
    cache[key] = value
    cache.move_to_end(key)
    while len(cache) > REMEMBERED:
        cache.popitem(last=False)
