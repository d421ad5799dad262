"""The queue of pods, as kube-scheduler's.

                        +---------- event that may help, if it may not try at once ----------+
                        v                                                                    |
    add --> gated --> active --pop--> in flight --+-- done (bound, or gone)                  |
              |         ^   ^                     +-- rejected, no such event meanwhile --> unschedulable
              |         |   +---- time is up ---- backoff <-- rejected, event meanwhile        |
              +---------+                         ^  ^------- conflict, error                  |
            nothing gates it any more             +---- event that may help -------------------+
                                                        or nothing happened for 5 minutes

* Active: highest priority first, then who waits longest.
* Backoff: 1 s after the first attempt, doubling up to 10 s. While nothing is active the pods that wait out a rejection
  are taken early (there is nothing better to do); those that wait out an error are not.
* Gated: `gate` names what is missing before an attempt makes sense (scheduling gates, claims that do not exist yet).
"""

from __future__ import annotations

import asyncio
import contextlib
import heapq
from collections import deque
from collections.abc import Callable, Iterable, Iterator

from dra_allocator.rejection import Explain
from dra_api.clock import Clock
from dra_scheduler.cache.pod_info import PodInfo
from dra_scheduler.plugins import Plugin
from dra_scheduler.queue.entry import Entry, Place
from dra_scheduler.queue.events import ClaimChanged, ClusterEvent, GroupChanged, MemberAdded
from dra_scheduler.queue.hints import Hints, concerned, group_of
from dra_scheduler.queue.in_flight import InFlightEvents
from dra_scheduler.settings import Settings

Gate = Callable[[PodInfo], tuple[Plugin, str] | None]
"""Return who keeps a pod from being tried, and why; None: nobody."""

_Heap = list[tuple[float, float, int, str]]
"""What comes first, what decides among equals, the entry's token, the pod's uid."""
_MOMENT = 0.001
_TOLD_AT_ONCE = 256
"""Pods that are told of events in one go: about 2 ms."""
_WAITING = (Place.UNSCHEDULABLE, Place.GATED)


class SchedulingQueue:
    """Pods to be scheduled, each in exactly one place."""

    def __init__(self, clock: Clock, settings: Settings, gate: Gate, hints: Hints) -> None:
        self._clock = clock
        self._settings = settings
        self._gate = gate
        self._hints = hints
        self._entries: dict[str, Entry] = {}
        self._parked: dict[str, Entry] = {}
        """Unschedulable pods, in the order in which they became so."""
        self._parked_by: dict[Plugin, dict[str, Entry]] = {}
        self._active: _Heap = []
        self._backoff: _Heap = []
        self._error_backoff: _Heap = []
        self._by_claim: dict[tuple[str, str], set[str]] = {}
        self._by_group: dict[tuple[str, str], dict[str, None]] = {}
        self._in_flight = InFlightEvents()
        self._moving: deque[tuple[ClusterEvent, deque[Entry]]] = deque()
        """Events, and the pods that have still to be told of each."""
        self._tokens = 0
        self._changed = asyncio.Event()

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries.values())

    def get(self, uid: str) -> Entry | None:
        """Return the entry of a pod."""
        return self._entries.get(uid)

    def count(self, *places: Place) -> int:
        """Return how many pods are in these places."""
        return sum(1 for entry in self._entries.values() if entry.place in places)

    # What happens to pods

    def add(self, pod: PodInfo) -> None:
        """A pod is to be scheduled; one that is known already is only brought up to date."""
        entry = self._entries.get(pod.uid)
        if entry is not None:
            self._update(entry, pod)
            return
        entry = self._entries[pod.uid] = Entry(pod, self._clock.monotonic())
        self._index(pod)
        if pod.group:
            self._by_group.setdefault((pod.namespace, pod.group), {})[pod.uid] = None
        self._activate(entry)

    def remove(self, uid: str) -> None:
        """The pod is gone, or has a node."""
        entry = self._entries.pop(uid, None)
        if entry is not None:
            self._unindex(entry.pod)
            self._leave_group(entry.pod)
            self._unpark(entry)
            self._in_flight.end(uid)

    def happened(self, event: ClusterEvent) -> None:
        """Move the pods that an event may help: some at once, if there are many the others before the next `pop`s."""
        self._in_flight.record(event)
        self._moving.append((event, deque(self._concerned(event))))
        self._move_some()
        self._changed.set()

    async def pop(self) -> Entry:
        """Wait for the next pod; it is in flight until `remove`, `reject` or `retry` ends that."""
        while True:
            self._changed.clear()
            entry = self.pop_now()
            if entry is not None:
                return entry
            if self._moving:
                await asyncio.sleep(0)
                continue
            due = self._next_due()
            # Never less than a moment: a sleep too short to change a rounded clock would be repeated for ever.
            timeout = None if due is None else max(_MOMENT, due - self._clock.monotonic())
            with contextlib.suppress(TimeoutError):
                # Not wait_for: in Python 3.11 it loses a cancellation that comes together with the event.
                async with asyncio.timeout(timeout):
                    await self._changed.wait()

    def pop_now(self) -> Entry | None:
        """Return the next pod, or None if none may be tried now."""
        self._move_some()
        self._flush()
        entry = self._first(self._active, Place.ACTIVE) or self._early()
        if entry is not None:
            self._take(entry)
        return entry

    def take_group(self, first: Entry) -> list[Entry]:
        """Take the other pods of a PodGroup along with the one that was popped, in the order in which they came.

        Those that are gated, on their way already or on a node stay where they are.
        """
        group = []
        for uid in self._by_group.get((first.pod.namespace, first.pod.group), ()):
            entry = self._entries[uid]
            if entry is first:
                group.append(entry)
            elif entry.place not in (Place.GATED, Place.IN_FLIGHT) and not entry.pod.node_name:
                self._move(entry, Place.IN_FLIGHT)
                self._take(entry)
                group.append(entry)
        return sorted(group, key=lambda entry: entry.pod.created)

    def reject(self, uid: str, plugins: frozenset[Plugin], reason: str, explain: Explain | None = None) -> None:
        """The pod in flight fits nowhere: it waits for an event that may help, unless one has come meanwhile."""
        entry = self._back(uid, reason)
        if entry is None:
            return
        entry.plugins, entry.explain = plugins, explain
        # Of what happened while it waited nothing is known, so it may be that it helps.
        helped = (entry.changed or uid not in self._in_flight) or any(
            self._hints.helps(entry.pod, plugins, event) for event in self._in_flight.since(uid)
        )
        self._in_flight.end(uid)
        if helped or not plugins:
            self._wait_out(entry, Place.BACKOFF)
        else:
            self._move(entry, Place.UNSCHEDULABLE)
            self._parked[uid] = entry
            for plugin in plugins:
                self._parked_by.setdefault(plugin, {})[uid] = entry
            self._changed.set()

    def waits(self, uid: str) -> None:
        """The pod in flight waits for its devices or its group: minutes, for which no events are kept for it."""
        self._in_flight.end(uid)

    @property
    def events_kept(self) -> int:
        """How many events are kept for the pods in flight."""
        return len(self._in_flight)

    def retry(self, uid: str, reason: str, *, error: bool, explain: Explain | None = None) -> None:
        """The pod in flight is tried again after backoff: early if nothing else is to be done, unless `error`."""
        entry = self._back(uid, reason)
        if entry is None:
            return
        entry.plugins, entry.explain = frozenset(), explain
        self._in_flight.end(uid)
        self._wait_out(entry, Place.ERROR_BACKOFF if error else Place.BACKOFF)

    @property
    def moving(self) -> bool:
        """Whether events have still to be told to pods."""
        return bool(self._moving)

    # Moving

    def _move_some(self) -> None:
        """Tell the oldest events to as many pods as the event loop may be held for."""
        left = _TOLD_AT_ONCE
        while self._moving and left:
            event, entries = self._moving[0]
            if not entries:
                self._moving.popleft()
                continue
            left -= 1
            entry = entries.popleft()
            if self._entries.get(entry.pod.uid) is not entry:
                continue
            if entry.place is Place.GATED:
                self._activate(entry)
            elif entry.place is Place.UNSCHEDULABLE and self._hints.helps(entry.pod, entry.plugins, event):
                self._retry(entry)
        while self._moving and not self._moving[0][1]:
            self._moving.popleft()

    def _update(self, entry: Entry, pod: PodInfo) -> None:
        before, entry.pod = entry.pod, pod
        if before.claims != pod.claims:
            self._unindex(before)
            self._index(pod)
        if entry.place is Place.GATED:
            self._activate(entry)
        elif entry.place is Place.UNSCHEDULABLE and may_matter(before, pod):
            self._retry(entry)
        elif entry.place is Place.ACTIVE and before.priority != pod.priority:
            self._activate(entry)
        elif entry.place is Place.IN_FLIGHT and may_matter(before, pod):
            entry.changed = True

    def _take(self, entry: Entry) -> None:
        """A pod is tried."""
        entry.place = Place.IN_FLIGHT
        entry.attempts += 1
        entry.changed = False
        self._in_flight.begin(entry.pod.uid)

    def _back(self, uid: str, reason: str) -> Entry | None:
        entry = self._entries.get(uid)
        if entry is None or entry.place is not Place.IN_FLIGHT:
            return None
        entry.failed_at = entry.since = self._clock.monotonic()
        entry.reason, entry.explain = reason, None
        return entry

    def _retry(self, entry: Entry) -> None:
        if self._clock.monotonic() < self._backoff_end(entry):
            self._wait_out(entry, Place.BACKOFF)
        else:
            self._activate(entry)

    def _activate(self, entry: Entry) -> None:
        gate = self._gate(entry.pod)
        if gate is not None:
            self._move(entry, Place.GATED)
            plugin, entry.reason = gate
            entry.explain, entry.plugins = None, frozenset({plugin})
            self._changed.set()
            return
        self._move(entry, Place.ACTIVE)
        heapq.heappush(self._active, (-entry.pod.priority, entry.since, entry.token, entry.pod.uid))
        self._changed.set()

    def _wait_out(self, entry: Entry, place: Place) -> None:
        self._move(entry, place)
        heap = self._backoff if place is Place.BACKOFF else self._error_backoff
        heapq.heappush(heap, (self._backoff_end(entry), 0.0, entry.token, entry.pod.uid))
        self._changed.set()

    def _move(self, entry: Entry, place: Place) -> None:
        """Change place; heap entries made before no longer count."""
        self._tokens += 1
        entry.token = self._tokens
        entry.place = place
        self._unpark(entry)

    def _unpark(self, entry: Entry) -> None:
        if self._parked.pop(entry.pod.uid, None) is not None:
            for plugin in entry.plugins:
                self._parked_by[plugin].pop(entry.pod.uid, None)

    # Time

    def _backoff_end(self, entry: Entry) -> float:
        if not entry.attempts:
            return 0.0
        doublings = 1 << min(entry.attempts - 1, 30)
        seconds = min(self._settings.backoff_initial * doublings, self._settings.backoff_max)
        return entry.failed_at + seconds

    def _flush(self) -> None:
        now = self._clock.monotonic()
        for heap, place in ((self._backoff, Place.BACKOFF), (self._error_backoff, Place.ERROR_BACKOFF)):
            while heap and (heap[0][0] <= now or self._valid(heap[0], place) is None):
                entry = self._valid(heapq.heappop(heap), place)
                if entry is not None:
                    self._activate(entry)
        while self._parked:
            entry = next(iter(self._parked.values()))
            if entry.failed_at + self._settings.unschedulable_flush > now:
                break
            self._retry(entry)

    def _next_due(self) -> float | None:
        dues = [heap[0][0] for heap in (self._backoff, self._error_backoff) if heap]
        first = next(iter(self._parked.values()), None)
        if first is not None:
            dues.append(first.failed_at + self._settings.unschedulable_flush)
        return min(dues, default=None)

    def _first(self, heap: _Heap, place: Place) -> Entry | None:
        while heap:
            entry = self._valid(heapq.heappop(heap), place)
            if entry is not None:
                return entry
        return None

    def _early(self) -> Entry | None:
        """Return a pod that waits out a rejection, unless something has begun to gate it."""
        while (entry := self._first(self._backoff, Place.BACKOFF)) is not None:
            if self._gate(entry.pod) is None:
                return entry
            self._activate(entry)
        return None

    def _valid(self, item: tuple[float, float, int, str], place: Place) -> Entry | None:
        _, _, token, uid = item
        entry = self._entries.get(uid)
        return entry if entry is not None and entry.token == token and entry.place is place else None

    # Which pods an event may concern

    def _concerned(self, event: ClusterEvent) -> Iterable[Entry]:
        if isinstance(event, GroupChanged | MemberAdded):
            group = self._by_group.get(group_of(event), ())
            return (entry for entry in map(self._entries.__getitem__, group) if entry.place in _WAITING)
        if isinstance(event, ClaimChanged):
            claim = event.change.claim
            uids = {*self._by_claim.get(claim.key, ()), *((claim.owner_uid,) if claim.special else ())}
            known = [self._entries[uid] for uid in uids if uid in self._entries]
            using = [entry for entry in known if entry.place in _WAITING]
            if not event.change.freed:
                return using
            gated = [entry for entry in using if entry.place is Place.GATED]
            parked = self._parked_by.get("DynamicResources", {}).values()
            return [*gated, *parked] if gated else parked
        plugins = concerned(event)
        if plugins is None:
            return self._parked.values()
        if len(plugins) == 1:
            return self._parked_by.get(next(iter(plugins)), {}).values()
        return {uid: e for plugin in plugins for uid, e in self._parked_by.get(plugin, {}).items()}.values()

    def _index(self, pod: PodInfo) -> None:
        for claim in pod.claims:
            if claim.claim_name is not None:
                self._by_claim.setdefault((pod.namespace, claim.claim_name), set()).add(pod.uid)

    def _leave_group(self, pod: PodInfo) -> None:
        group = self._by_group.get((pod.namespace, pod.group))
        if group is not None:
            group.pop(pod.uid, None)
            if not group:
                del self._by_group[pod.namespace, pod.group]

    def _unindex(self, pod: PodInfo) -> None:
        for claim in pod.claims:
            if claim.claim_name is not None:
                pods = self._by_claim.get((pod.namespace, claim.claim_name), set())
                pods.discard(pod.uid)
                if not pods:
                    self._by_claim.pop((pod.namespace, claim.claim_name), None)


def may_matter(before: PodInfo, after: PodInfo) -> bool:
    """Whether a pod changed in something that decides about it."""
    return _deciding(before) != _deciding(after)


def _deciding(pod: PodInfo) -> tuple[object, ...]:
    return pod.gates, pod.labels, pod.selection, pod.claims, pod.requests, pod.priority, pod.required_features
