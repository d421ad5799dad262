"""The pods of one PodGroup on their way to their nodes: none is bound before enough of them can be.

on the way --claims written, devices ready--> ready --enough are--> open: all that are or become ready are bound
     +-------------- failed, and too few are left --------------> broken: all are undone
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from dra_scheduler.errors import SchedulerError


class GroupBrokenError(SchedulerError):
    """Too few pods of a PodGroup are left that could be bound, so none is.

    Whatever kept one of the others from its node caused it; that pod says what. The group is tried again.
    """


class Together:
    """One per group as long as pods of it are on their way.

    `missing` tells how many pods have still to be bound for the group to be complete, given those that are on their
    way; `wake` makes a pod look again.
    """

    def __init__(self, group: str, missing: Callable[[Collection[str]], int], wake: Callable[[str], None]) -> None:
        self.group = group
        self._missing = missing
        self._wake = wake
        self._on_way: dict[str, None] = {}
        self._ready: set[str] = set()
        self._open = False
        self.broken = False

    @property
    def empty(self) -> bool:
        """Whether no pod is on its way any more."""
        return not self._on_way

    def join(self, uids: Iterable[str]) -> None:
        """These pods are on their way."""
        self._on_way.update(dict.fromkeys(uids))

    def leave(self, uid: str) -> None:
        """The pod is bound, or will not be."""
        self._on_way.pop(uid, None)
        self._ready.discard(uid)
        self.look()

    def may_go(self, uid: str, *, ready: bool) -> bool:
        """Whether a pod may be bound, given that its devices are `ready` or not. Raises GroupBrokenError."""
        if ready:
            self._ready.add(uid)
        else:
            self._ready.discard(uid)
        self.look()
        if self.broken:
            raise GroupBrokenError(f"pod group {self.group}: too few of its pods can be bound")
        return ready and self._open

    def look(self) -> None:
        """Open, or break, once it is clear; either is for ever."""
        if self._open or self.broken:
            return
        missing = self._missing(self._on_way.keys())
        self._open = len(self._ready) >= missing
        self.broken = not self._open and len(self._on_way) < missing
        if self._open or self.broken:
            for uid in self._on_way:
                self._wake(uid)
