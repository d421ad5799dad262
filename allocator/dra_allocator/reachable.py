"""What devices can consume together, exactly: the sums that so many of the last devices may have.

Dynamic programming over the devices in their order, from the last to the first. A sum is left out if even the
lightest of the devices before it would make it too much, or if another is at least as small in every counter. Often
few remain, where amounts repeat or leave little room; where too many do, there is no answer.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dra_allocator.lightest import Floats
from dra_cel.slices import rest

_MARGIN = 1 + 1e-9
_MOST = 6000
"""Sums in all: some ten milliseconds. With more there is no answer."""
_PAIRWISE = 48
"""So many sums of three and more counters are compared each with each; of more only equal ones are left out."""


class Reachable:
    """Sums of `wanted` and fewer of the rows of `amounts` that may be part of `wanted` rows within `left`.

    `weights`: ways to weigh the counters, one per column; each rules sums out.
    """

    def __init__(self, amounts: Floats, left: Floats, wanted: int, weights: Floats) -> None:
        self._amounts = amounts
        self._limits = left * _MARGIN
        self._weights = weights
        self.is_complete = True
        self._sums: list[list[Floats]] = self._build(wanted)

    @property
    def is_possible(self) -> bool:
        """Whether there are `wanted` rows within `left` at all."""
        return len(self._sums[0][-1]) > 0

    def firsts(self, rows: Sequence[int], wanted: int, left: Floats) -> list[bool]:
        """Return whether each row can be the first of `wanted` within `left`, the others being rows after it."""
        return [self._goes(self._sums[row + 1][wanted - 1], left * _MARGIN - self._amounts[row]) for row in rows]

    @staticmethod
    def _goes(sums: Floats, left: Floats) -> bool:
        return bool((sums <= left).all(axis=1).any())

    def _build(self, wanted: int) -> list[list[Floats]]:
        count, counters = self._amounts.shape
        lightest = self._lightest_before(wanted)
        room = (self._limits @ self._weights) * _MARGIN
        nothing = np.zeros((0, counters))
        following = [np.zeros((1, counters)), *[nothing] * wanted]
        table, total = [following], 0
        for row in range(count - 1, -1, -1):
            sums = [following[0]]
            for number in range(1, wanted + 1):
                rest()
                both = np.concatenate([following[number], following[number - 1] + self._amounts[row]])
                before = lightest[row][wanted - number] if row >= wanted - number else None
                if before is None:
                    both = both[:0]
                elif len(both):
                    both = both[(both @ self._weights + before <= room).all(axis=1)]
                sums.append(_smallest(both))
            following = sums
            total += sum(map(len, sums))
            if total > _MOST:
                self.is_complete = False
                return []
            table.append(sums)
        return table[::-1]

    def _lightest_before(self, wanted: int) -> list[Floats]:
        """Return per row, and count up to `wanted`, the least that so many rows before it weigh."""
        heavy = self._amounts @ self._weights
        found = []
        for row in range(len(heavy)):
            lightest = np.sort(heavy[:row], axis=0)[:wanted].cumsum(axis=0)
            found.append(np.concatenate([np.zeros((1, heavy.shape[1])), lightest]))
        return found


def _smallest(sums: Floats) -> Floats:
    """Return the sums without those that others make needless."""
    if len(sums) < 2:
        return sums
    sums = sums[np.lexsort(sums.T[::-1])]
    if sums.shape[1] <= 2:
        last = sums[:, -1]
        least = np.minimum.accumulate(last)
        keep = np.concatenate([[True], last[1:] < least[:-1]])
        return sums[:1] if sums.shape[1] == 1 else sums[keep]
    keep = np.concatenate([[True], (sums[1:] != sums[:-1]).any(axis=1)])
    sums = sums[keep]
    if len(sums) <= _PAIRWISE:
        smaller = (sums[:, None, :] <= sums[None, :, :]).all(axis=2)
        smaller &= ~np.eye(len(sums), dtype=np.bool_)
        sums = sums[~smaller.any(axis=0)]
    return sums
