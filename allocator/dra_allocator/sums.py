"""Sums over rows per node: rows local to a node, and rows of the shared scopes that include it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from dra_allocator.arrays import ByteArray, IntArray, grown
from dra_allocator.visibility import NOWHERE, Scopes, scope_of_home

Longs = npt.NDArray[np.int64]
_LOOK = 2


@dataclass(slots=True)
class _Part:
    """One sum: per node id for local rows, per scope for shared ones."""

    local: Longs = field(default_factory=lambda: np.zeros(1, np.int64))
    shared: dict[int, int] = field(default_factory=dict)
    rows: int = 0

    def add(self, home: int, change: int) -> None:
        self.rows += change
        if home >= 0:
            self.local[home] += change
        elif home != NOWHERE:
            number = scope_of_home(home)
            self.shared[number] = self.shared.get(number, 0) + change
            if not self.shared[number]:
                del self.shared[number]

    def per_node(self, scopes: Scopes, size: int) -> Longs:
        total = self.local[:size]
        if self.shared:
            total = total.copy()
            for number, count in self.shared.items():
                total += count * scopes.mask(number, size)
        return total


class Sums:
    """How many rows of codes other than 0 each node sees: those to be looked at (code 2), and all others."""

    def __init__(self) -> None:
        self._available = _Part()
        self._look = _Part()

    @classmethod
    def of(cls, codes: ByteArray, homes: IntArray, nodes: int) -> Sums:
        """Return the sums over all rows for so many node ids."""
        sums = cls()
        sums._available = _part(homes[(codes != 0) & (codes != _LOOK)], nodes)
        sums._look = _part(homes[codes == _LOOK], nodes)
        return sums

    @property
    def any_flagged(self) -> bool:
        """Whether any row is to be looked at."""
        return self._look.rows > 0

    @property
    def nbytes(self) -> int:
        """Bytes used."""
        return self._available.local.nbytes + self._look.local.nbytes

    def grow(self, nodes: int) -> None:
        """Make room for more node ids."""
        for part in (self._available, self._look):
            part.local = grown(part.local, nodes)

    def move(self, home: int, before: int, after: int) -> None:
        """Change the code of a row."""
        if before:
            (self._look if before == _LOOK else self._available).add(home, -1)
        if after:
            (self._look if after == _LOOK else self._available).add(home, 1)

    def per_node(self, scopes: Scopes, size: int, available: bool) -> Longs:
        """Return a sum per node id; the array is not the caller's to change."""
        return (self._available if available else self._look).per_node(scopes, size)


def _part(homes: IntArray, nodes: int) -> _Part:
    local = np.bincount(homes[homes >= 0], minlength=nodes).astype(np.int64)
    numbers, counts = np.unique(homes[homes < NOWHERE], return_counts=True)
    shared = {scope_of_home(home): count for home, count in zip(numbers.tolist(), counts.tolist(), strict=True)}
    return _Part(local, shared, len(homes))
