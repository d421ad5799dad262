"""How the devices that a request can have are spread over the values of an attribute, for all nodes at once.

A matchAttribute needs so many devices with one value, a distinctAttribute so many values: where a node has fewer, no
search can find them. Upper bounds, like the counts that they are made from and follow.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dra_allocator.arrays import BoolArray, IntArray, grown
from dra_allocator.budget import UNLIMITED, Budget
from dra_allocator.columns import Column
from dra_allocator.counts import RequestCounts
from dra_allocator.sums import AVAILABLE, BOUND, COUNTED, Longs
from dra_cel.columns import ColumnKey

_NODES_AT_ONCE = 1 << 13
"""Nodes counted between two questions to the budget: a few milliseconds with ten devices each."""
_FEW = 8
"""Up to so many nodes are found among the rows one by one."""


class Spread:
    """The spread of one attribute over what one request can have. `catch_up` before reading.

    Attributes:
        counts: the request's counts.

    """

    def __init__(self, counts: RequestCounts, attribute: str) -> None:
        self.counts = counts
        self._key = ColumnKey("attribute", attribute)
        self._most: Longs = np.zeros(0, np.int64)
        self._different: Longs = np.zeros(0, np.int64)
        self._seen: tuple[int, int] | None = None
        self._position = 0
        self._next_node = 0
        self._started: tuple[tuple[int, int], int] = (-1, -1), 0
        self._lists = (-1, 0, False)

    @property
    def size(self) -> int:
        """Bytes used."""
        return self._most.nbytes + self._different.nbytes + 512

    def most(self, nodes: int) -> Longs | None:
        """Return per node id on how many devices the commonest value is; None: it cannot be said."""
        return self._most[:nodes] if self._is_usable() else None

    def different(self, nodes: int) -> Longs | None:
        """Return per node id how many values there are; None: it cannot be said."""
        return self._different[:nodes] if self._is_usable() else None

    def is_current(self) -> bool:
        """Return whether nothing has changed since the last time."""
        return self._seen == self._state() and self._position == self.counts.touched.position

    def catch_up(self, budget: Budget = UNLIMITED) -> bool:
        """Take in what the counts, which are up to date, took in; return False if the budget ended it before."""
        while not self.is_current():
            touched = self.counts.touched.since(self._position) if self._seen == self._state() else None
            if touched is None:
                if not self._count_all(budget):
                    return False
                continue
            self._position = self.counts.touched.position
            self._recount({*touched})
        return True

    def _state(self) -> tuple[int, int]:
        return self.counts.recounts, self._column().epoch

    def _column(self) -> Column:
        return self.counts.table.rows.columns.column(self._key)

    def _is_usable(self) -> bool:
        """Return whether each device is on one node and has one value at most."""
        return not self.counts.shared(AVAILABLE) and not self._has_lists()

    def _has_lists(self) -> bool:
        column = self._column()
        epoch, known, found = self._lists
        if epoch != column.epoch:
            known, found = 0, False
        if known < len(column.values):
            found = found or any(isinstance(value, tuple) for value in column.values[known:])
            self._lists = column.epoch, len(column.values), found
        return found

    def _count_all(self, budget: Budget) -> bool:
        """Go on with counting on all nodes; return whether it is done. What changes meanwhile is counted again."""
        nodes = len(self.counts.table.nodes)
        if self._next_node == 0 or self._started[0] != self._state():
            self._seen, self._next_node = None, 0
            self._started = self._state(), self.counts.touched.position
        self._grow(nodes)
        while self._next_node < nodes:
            first, last = self._next_node, min(self._next_node + _NODES_AT_ONCE, nodes)
            homes = self.counts.homes
            self._most[first:last] = self._different[first:last] = 0
            self._count((homes >= first) & (homes < last))
            self._next_node = last
            if last < nodes and budget.exhausted():
                return False
        self._next_node = 0
        self._seen, self._position = self._started
        return True

    def _recount(self, nodes: set[int]) -> None:
        self._grow(len(self.counts.table.nodes))
        homes = self.counts.homes
        if len(nodes) <= _FEW:
            for node in nodes:
                self._count_one(node, np.flatnonzero(homes == node))
            return
        ids = np.array(sorted(nodes), np.int32)
        self._most[ids] = self._different[ids] = 0
        self._count(np.isin(homes, ids))

    def _count_one(self, node: int, rows: NDArray[np.intp]) -> None:
        """Count on one node, all of whose rows these are."""
        found: dict[int, int] = {}
        pairs = zip(self.counts.codes[rows].tolist(), self._column().codes[rows].tolist(), strict=True)
        for code, value in pairs:
            if value > 0 and code in (COUNTED, BOUND):
                found[value] = found.get(value, 0) + 1
        self._most[node], self._different[node] = max(found.values(), default=0), len(found)

    def _count(self, rows: BoolArray) -> None:
        """Count on nodes, all of whose rows these are."""
        at = np.flatnonzero(rows)
        codes = self.counts.codes[at]
        at = at[(codes == COUNTED) | (codes == BOUND)]
        values: IntArray = self._column().codes[at]
        at, values = at[values > 0], values[values > 0]
        if not len(at):
            return
        pairs, sizes = np.unique((self.counts.homes[at].astype(np.int64) << 32) | values, return_counts=True)
        nodes = pairs >> 32
        firsts = np.flatnonzero(np.concatenate([[True], nodes[1:] != nodes[:-1]]))
        self._most[nodes[firsts]] = np.maximum.reduceat(sizes, firsts)
        self._different[nodes[firsts]] = np.diff(firsts, append=len(nodes))

    def _grow(self, nodes: int) -> None:
        self._most, self._different = grown(self._most, nodes), grown(self._different, nodes)
