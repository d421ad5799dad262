"""Which rows the nodes in their scope may use, as one byte per row, for counting over all nodes at once."""

from __future__ import annotations

import numpy as np

from dra_allocator.arrays import ByteArray, grown
from dra_allocator.budget import UNLIMITED, Budget
from dra_allocator.pools import PoolRules, PoolState, assess, is_counter_slice, is_seen
from dra_allocator.records import PoolRecord
from dra_allocator.table import Table

_CHUNK = 64
"""Pools assessed between two questions to the budget: about a millisecond."""
UNUSABLE, USABLE, SUSPECT = 0, 1, 2
"""SUSPECT: it depends on the node, or the node has to report it; the exact search must look."""


class Usability:
    """UNUSABLE, USABLE or SUSPECT per row under one set of pool rules; catches up with the table when asked.

    Suspects are the rows of invalid pools, of pools that differ from node to node, and of slices that need a feature
    of the node.
    """

    def __init__(self, table: Table, rules: PoolRules) -> None:
        self._table = table
        self._rules = rules
        self._states: ByteArray = np.zeros(64, np.uint8)
        self._pending: dict[int, PoolRecord] = {}
        self._position = -1

    def states(self) -> ByteArray:
        """Return the current state of each row."""
        self.prepare(UNLIMITED)
        return self._states[: len(self._table.rows)]

    def prepare(self, budget: Budget) -> bool:
        """Catch up with the table; return False if the budget ended it before."""
        if self._position != self._table.journal.position:
            self._read_journal()
        while self._pending:
            for _ in range(min(_CHUNK, len(self._pending))):
                self._assess(self._pending.popitem()[1])
            if self._pending and budget.exhausted():
                return False
        return True

    def _read_journal(self) -> None:
        journal = self._table.journal
        self._states = grown(self._states, len(self._table.rows))
        entries = journal.since(self._position) if self._position >= 0 else None
        if entries is None:
            self._states[:] = UNUSABLE
            entries = list(self._table.pools.values())
        for entry in entries:
            if isinstance(entry, PoolRecord):
                self._pending[id(entry)] = entry
            else:
                self._states[entry] = UNUSABLE
        self._position = journal.position

    def _assess(self, pool: PoolRecord) -> None:
        self._states[pool.rows()] = UNUSABLE
        state = assess(pool, self._rules, self._table.rows).state
        if state is PoolState.INCOMPLETE:
            return
        for record in pool.newest_slices():
            if is_seen(record, self._rules) and not is_counter_slice(record, self._rules):
                fine = state is PoolState.COMPLETE and not record.skip_node_operations
                self._states[record.rows] = USABLE if fine else SUSPECT
