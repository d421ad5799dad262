"""The lightest rows that meet several demands, no row given twice.

The sets of rows that can be given out together are the independent sets of a matroid: to take the lightest row that
still goes, again and again, is exact.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dra_allocator.arrays import IntArray
from dra_allocator.matching import Demand

Floats = NDArray[np.float64]
Fixed = NDArray[np.int8]
"""Per row one of the following: as you like, it must be among them, it must not."""
FREE, IN, OUT = 0, 1, 2


class Lightest:
    """Demands for rows."""

    def __init__(self, demands: Sequence[Demand]) -> None:
        merged: dict[tuple[int, ...], int] = {}
        for wanted, rows in demands:
            key = tuple(rows)
            merged[key] = merged.get(key, 0) + wanted
        self._sets = list(merged)
        self._wanted = list(merged.values())
        self._count = sum(self._wanted)
        self._only: IntArray | None = np.array(self._sets[0], np.int32) if len(merged) == 1 else None
        self._takers: dict[int, list[int]] = {}
        for demand, rows_of in enumerate(self._sets):
            for row in rows_of:
                self._takers.setdefault(row, []).append(demand)

    def rows(self, heavy: Floats, fixed: Fixed | None) -> IntArray | None:
        """Return rows that meet all demands and weigh the least together; None: there are not enough.

        `fixed` None: all are as you like.
        """
        if fixed is None:
            if self._only is None:
                chosen = self._matched(heavy, None)
            else:
                chosen = self._only[heavy[self._only].argsort(kind="stable")[: self._count]]
            return None if len(chosen) < self._count else chosen
        weights = np.where(fixed == IN, -1.0, heavy)
        chosen = self._matched(weights, fixed) if self._only is None else self._sorted(self._only, weights, fixed)
        missing = len(chosen) < self._count or np.count_nonzero(fixed[chosen] == IN) < np.count_nonzero(fixed == IN)
        return None if missing else chosen

    def _sorted(self, rows: IntArray, weights: Floats, fixed: Fixed) -> IntArray:
        allowed = rows[fixed[rows] != OUT]
        chosen: IntArray = allowed[np.argsort(weights[allowed], kind="stable")[: self._count]]
        return chosen

    def _matched(self, weights: Floats, fixed: Fixed | None) -> IntArray:
        hand = _Hand(self._takers, self._wanted)
        chosen: list[int] = []
        allowed = None if fixed is None else (fixed != OUT).tolist()
        for row in weights.argsort(kind="stable").tolist():
            if len(chosen) == self._count:
                break
            if (allowed is None or allowed[row]) and row in self._takers and hand.give(row):
                chosen.append(row)
        return np.array(chosen, np.int32)


class _Hand:
    """Gives rows to demands, moving rows given before to other demands where that is necessary."""

    def __init__(self, takers: dict[int, list[int]], wanted: Sequence[int]) -> None:
        self._open = list(wanted)
        self._given: list[list[int]] = [[] for _ in wanted]
        self._takers = takers

    def give(self, row: int) -> bool:
        """Give one row more; return False if nobody can take it."""
        for demand in self._takers[row]:
            if self._open[demand]:
                self._open[demand] -= 1
                self._given[demand].append(row)
                return True
        via: dict[int, tuple[int, int]] = {}  # demand -> the row that would come to it, and from which demand
        queue = list(self._takers[row])
        for demand in queue:
            via[demand] = row, -1
        for demand in queue:
            if self._open[demand]:
                self._open[demand] -= 1
                self._hand_on(demand, via)
                return True
            for given in self._given[demand]:
                for other in self._takers[given]:
                    if other not in via:
                        via[other] = given, demand
                        queue.append(other)
        return False

    def _hand_on(self, demand: int, via: dict[int, tuple[int, int]]) -> None:
        while demand >= 0:
            row, source = via[demand]
            self._given[demand].append(row)
            if source >= 0:
                self._given[source].remove(row)
            demand = source
