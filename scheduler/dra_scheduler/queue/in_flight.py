"""Events that come while pods are being scheduled or bound.

A pod in flight cannot be moved; an event that would have moved it must not be lost. So events are kept, numbered, as
long as a pod is in flight that was taken before them, and looked through when such a pod comes back.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from dra_scheduler.queue.events import ClusterEvent


class InFlightEvents:
    """Numbered events; kept only as far back as the pods in flight need."""

    def __init__(self) -> None:
        self._next = 0
        self._events: deque[tuple[int, ClusterEvent]] = deque()
        self._marks: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._events)

    def __contains__(self, uid: str) -> bool:
        """Whether events are kept for this pod."""
        return uid in self._marks

    def begin(self, uid: str) -> None:
        """From now on events concern this pod."""
        self._marks[uid] = self._next

    def record(self, event: ClusterEvent) -> None:
        """Keep an event for the pods that are in flight."""
        if self._marks:
            self._events.append((self._next, event))
            self._next += 1

    def since(self, uid: str) -> Iterator[ClusterEvent]:
        """Return the events since `begin`."""
        mark = self._marks[uid]
        return (event for number, event in self._events if number >= mark)

    def end(self, uid: str) -> None:
        """The pod is no longer in flight; what nobody needs any more is dropped."""
        if self._marks.pop(uid, None) is None:
            return
        # Marks are in the order of their numbers, as dicts keep the order of insertion.
        oldest = next(iter(self._marks.values()), self._next)
        while self._events and self._events[0][0] < oldest:
            self._events.popleft()
