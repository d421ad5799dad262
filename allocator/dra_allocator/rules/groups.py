"""Compatibility groups: all devices on a counter set share a group (DRADeviceCompatibilityGroups, Kubernetes 1.37).

A device without groups goes only with devices without groups.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from dra_allocator.candidates import Candidates, Need
from dra_allocator.problem import NodeProblem
from dra_allocator.rules.pool_use import Charges, held_consumption

Groups = frozenset[str]
"""What the devices on a counter set have in common; empty: they have no groups."""


def joined(members: Groups | None, candidate: Groups) -> Groups | None:
    """Return what the devices on a counter set have in common with one more, or None if it must not join.

    `members` None: there are none yet.
    """
    if members is None:
        return candidate
    if not members or not candidate:
        return members if not members and not candidate else None
    return members & candidate or None


class CompatibilityGroups:
    """Keeps, per pool and counter set, a stack of what the devices on it have in common."""

    can_fail = False

    def __init__(self, problem: NodeProblem) -> None:
        self._problem = problem
        self._charges = Charges(problem)
        self._common: dict[int, dict[str, Groups]] = {}
        self._undo: list[list[tuple[str, Groups | None]]] = []

    def take(self, request: Candidates, position: int) -> bool:
        """See `Rule`."""
        if self._charges.is_due(request, position):
            before = self._join(position)
            if before is None:
                return False
            self._undo.append(before)
        self._charges.add(request, position)
        return True

    def release(self, request: Candidates, position: int) -> None:
        """See `Rule`."""
        self._charges.remove(request, position)
        if self._charges.is_due(request, position):
            _restore(self._pool(position), self._undo.pop())

    def key(self, position: int) -> Hashable:
        """See `Rule`."""
        consumptions = self._problem.traits[position].consumes_counters
        if not consumptions:
            return None
        groups = tuple((one.counter_set, one.compatibility_groups) for one in consumptions)
        return int(self._problem.layout.pool_numbers[position]), groups

    def state(self) -> Hashable:
        """See `Rule`."""
        return frozenset((number, frozenset(common.items())) for number, common in self._common.items())

    def prune(self, request: Candidates, positions: Sequence[int], wanted: int) -> Sequence[int]:
        """Keep the devices that may join one by one."""
        return [position for position in positions if self._may_join(request, position)]

    def fails(self, request: Candidates, position: int) -> bool:
        """See `Rule`."""
        return False

    def suffices(self, needs: Sequence[Need]) -> bool:
        """See `Rule`; nothing is known beyond single devices."""
        return True

    def _may_join(self, request: Candidates, position: int) -> bool:
        if not self._charges.is_due(request, position):
            return True
        before = self._join(position)
        if before is None:
            return False
        _restore(self._pool(position), before)
        return True

    def _join(self, position: int) -> list[tuple[str, Groups | None]] | None:
        """Add the device to its counter sets and return what was there before; None: it must not join."""
        common = self._pool(position)
        before: list[tuple[str, Groups | None]] = []
        for consumption in self._problem.traits[position].consumes_counters:
            members = common.get(consumption.counter_set)
            narrowed = joined(members, frozenset(consumption.compatibility_groups))
            if narrowed is None:
                _restore(common, before)
                return None
            before.append((consumption.counter_set, members))
            common[consumption.counter_set] = narrowed
        return before

    def _pool(self, position: int) -> dict[str, Groups]:
        number = int(self._problem.layout.pool_numbers[position])
        common = self._common.get(number)
        if common is None:
            common = self._common[number] = {}
            for consumption in held_consumption(self._problem, self._problem.layout.pools[number]):
                groups = frozenset(consumption.compatibility_groups)
                members = common.get(consumption.counter_set)
                common[consumption.counter_set] = _narrowed_by_held(members, groups)
        return common


def _narrowed_by_held(members: Groups | None, groups: Groups) -> Groups:
    """Like `joined`, for devices that are held already: where they do not go together, nothing more may join.

    That can happen if a slice changes; a group that no device can have stands for it.
    """
    narrowed = joined(members, groups)
    return frozenset({""}) if narrowed is None else narrowed


def _restore(common: dict[str, Groups], before: list[tuple[str, Groups | None]]) -> None:
    for counter_set, members in reversed(before):
        if members is None:
            del common[counter_set]
        else:
            common[counter_set] = members
