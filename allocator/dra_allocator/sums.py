"""Sums over rows per node: rows local to a node, and rows of the shared scopes that include it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from dra_allocator.arrays import ByteArray, IntArray, grown
from dra_allocator.visibility import NOWHERE, Scopes, scope_of_home

Longs = npt.NDArray[np.int64]
NONE, COUNTED, LOOK, BOUND, FAILS = 0, 1, 2, 3, 4
"""What a row is to a request: nothing, a device, a device to be looked at, one that rules may refuse, an error."""
AVAILABLE, UNKNOWN, FAILING = 0, 1, 2
"""What is summed: COUNTED and BOUND, LOOK, FAILS."""
_PART = (-1, AVAILABLE, UNKNOWN, AVAILABLE, FAILING)


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
    """How many rows each node sees of those that are available, unknown, and failing."""

    def __init__(self, parts: tuple[_Part, ...] = ()) -> None:
        self._parts = parts or (_Part(), _Part(), _Part())

    @classmethod
    def of(cls, codes: ByteArray, homes: IntArray, nodes: int) -> Sums:
        """Return the sums over all rows for so many node ids."""
        available = (codes == COUNTED) | (codes == BOUND)
        return cls(tuple(_part(homes[rows], nodes) for rows in (available, codes == LOOK, codes == FAILS)))

    @property
    def nbytes(self) -> int:
        """Bytes used."""
        return sum(part.local.nbytes for part in self._parts)

    def any(self, part: int) -> bool:
        """Return whether any row is summed there."""
        return self._parts[part].rows > 0

    def is_shared(self, part: int) -> bool:
        """Return whether rows of scopes that several nodes share are summed there."""
        return bool(self._parts[part].shared)

    def grow(self, nodes: int) -> None:
        """Make room for more node ids."""
        for part in self._parts:
            part.local = grown(part.local, nodes)

    def move(self, home: int, before: int, after: int) -> None:
        """Change what a row is."""
        if before != NONE:
            self._parts[_PART[before]].add(home, -1)
        if after != NONE:
            self._parts[_PART[after]].add(home, 1)

    def per_node(self, scopes: Scopes, size: int, part: int) -> Longs:
        """Return a sum per node id; the array is not the caller's to change."""
        return self._parts[part].per_node(scopes, size)


def part_of(code: int) -> int:
    """Return where a row is summed, -1: nowhere."""
    return _PART[code]


def _part(homes: IntArray, nodes: int) -> _Part:
    local = np.bincount(homes[homes >= 0], minlength=nodes).astype(np.int64)
    numbers, counts = np.unique(homes[homes < NOWHERE], return_counts=True)
    shared = {scope_of_home(home): count for home, count in zip(numbers.tolist(), counts.tolist(), strict=True)}
    return _Part(local, shared, len(homes))
