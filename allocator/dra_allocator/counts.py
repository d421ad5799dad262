"""How many devices each node has for a request, for all nodes at once, kept up to date by the rows that change.

The count of a node is exact for devices that are simply free or not, and an upper bound where shares, counters or
constraints decide. Nodes with a device that must be looked at (its selector is not evaluated yet, its pool looks
different from node to node) are told apart, and so are those with a device on which a selector fails.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dra_allocator.arrays import ByteArray, IntArray, grown
from dra_allocator.budget import UNLIMITED, Budget
from dra_allocator.journal import Journal
from dra_allocator.kinds import RowKinds
from dra_allocator.masks import MaskStore
from dra_allocator.occupancy import SHARED, usage
from dra_allocator.records import PoolID
from dra_allocator.signature import Signature
from dra_allocator.sums import AVAILABLE, BOUND, FAILING, NONE, UNKNOWN, Longs, Sums, part_of
from dra_allocator.table import Table
from dra_allocator.view import View
from dra_allocator.visibility import NOWHERE, scope_of_home

_CHUNK = 1 << 16
"""Rows counted between two questions to the budget: about two milliseconds."""
_SHARES = 256
"""Rows of which others have shares among them: about as long."""
_TOUCHED = 1 << 12


class _Position(NamedTuple):
    """Up to where the journals of table, ledger, moved and blocked devices are read; version of the taints."""

    table: int
    ledger: int
    moved: int
    blocked: int
    taints: int


_NO_ROWS: IntArray = np.empty(0, np.int32)
_NEVER = _Position(-1, -1, -1, -1, -1)


class RequestCounts:
    """The counts of one signature. `catch_up` before reading.

    Attributes:
        size: bytes used.
        bounds: number of free rows that are BOUND.
        touched: ids of the nodes with local rows that have become something else, since `recounts` was last raised.
        recounts: how often all rows were counted.

    """

    def __init__(self, view: View, masks: MaskStore, signature: Signature) -> None:
        self._view = view
        self._kinds = RowKinds(view, masks, signature)
        self._at = _NEVER
        self._started = _NEVER
        self._next_row = 0
        self._fixed: ByteArray = np.zeros(0, np.uint8)
        self._codes: ByteArray = np.zeros(0, np.uint8)
        self._homes: IntArray = np.zeros(0, np.int32)
        self._sums = Sums()
        self.size = 0
        self.bounds = 0
        self.recounts = 0
        self.touched: Journal[int] = Journal(_TOUCHED)

    @property
    def codes(self) -> ByteArray:
        """NONE, COUNTED, LOOK or BOUND per row."""
        return self._codes[: len(self._view.table.rows)]

    @property
    def homes(self) -> IntArray:
        """Per row its home when it was counted."""
        return self._homes[: len(self._view.table.rows)]

    @property
    def table(self) -> Table:
        """The table whose rows are counted."""
        return self._view.table

    def shared(self, part: int) -> bool:
        """Return whether rows of scopes that several nodes share are summed in a part."""
        return self._sums.is_shared(part)

    def overlaid_homes(self, view: View) -> set[int]:
        """Return the homes of the rows that the view's overlay concerns."""
        return {int(self._homes[row]) for row in self._overlaid(view)}

    def has_read_table(self) -> bool:
        """Return whether no row and no rule about taints has changed since the last time."""
        table = self._view.table
        return self._at.table == table.journal.position and self._at.taints == table.taint_version

    def is_current(self) -> bool:
        """Return whether nothing has changed since the last time."""
        at, table, view = self._at, self._view.table, self._view
        return (
            at.ledger == view.ledger.journal.position
            and at.table == table.journal.position
            and at.blocked == view.room.changed.position
            and at.taints == table.taint_version
        )

    def catch_up(self, budget: Budget = UNLIMITED) -> bool:
        """Take in what has changed; return False if the budget ended it before.

        All rows are counted in chunks. What changes while that goes on is taken in at its end.
        """
        while not self.is_current():
            changed, moved = self._changed_rows(), self._moved_rows()
            if changed is None or moved is None:
                if not self._count_all(budget):
                    return False
                continue
            now = self._now()
            if len(changed):
                self._replace(changed)
            states, blocked = self._view.occupancy.states(), self._view.room.blocked()
            for row in moved:
                fixed, held = int(self._fixed[row]), int(states[row])
                self._set(row, self._kinds.code(self._view, row, fixed, held, bool(blocked[row])))
            self._at = now
        return True

    def available(self, view: View) -> Longs:
        """Return the number of devices per node id in the view's eyes. The array is not the caller's to change."""
        return self._total(view, AVAILABLE)

    def unknown(self, view: View) -> Longs | None:
        """Return per node id how many devices must be looked at; None: no node has any."""
        return self._total(view, UNKNOWN) if self._sums.any(UNKNOWN) or view.overlay.devices else None

    def failing(self, view: View) -> Longs | None:
        """Return per node id on how many devices a selector fails; None: no node has any."""
        return self._total(view, FAILING) if self._sums.any(FAILING) or view.overlay.devices else None

    # Keeping up.

    def _now(self) -> _Position:
        table, ledger = self._view.table, self._view.ledger
        moved, blocked = self._view.occupancy.moved.position, self._view.room.changed.position
        return _Position(table.journal.position, ledger.journal.position, moved, blocked, table.taint_version)

    def _changed_rows(self) -> IntArray | None:
        """Return the rows that the table changed, None if it is better to start afresh."""
        table = self._view.table
        if self._at.table < 0 or table.taint_version != self._at.taints:
            return None
        if self._at.table == table.journal.position:
            return _NO_ROWS
        changed = table.rows_since(self._at.table)
        return None if changed is None or 2 * len(changed) > len(table.rows) else changed

    def _moved_rows(self) -> set[int] | None:
        """Return the rows that changed hands, or whose counters did; None if it is better to start afresh."""
        if self._at.ledger < 0:
            return None
        room, occupancy = self._view.room, self._view.occupancy
        occupancy.prepare(UNLIMITED)
        room.prepare(UNLIMITED)
        moved = occupancy.moved.since(self._at.moved)
        if moved is None or room.changed.position == self._at.blocked:
            return None if moved is None else {*moved}
        blocked = room.changed.since(self._at.blocked)
        return None if blocked is None else {*moved, *(row for rows in blocked for row in rows.tolist())}

    def _count_all(self, budget: Budget) -> bool:
        """Go on with counting all rows; return whether it is done. What changes meanwhile is taken in afterwards."""
        table = self._view.table
        states, blocked = self._view.occupancy.states(), self._view.room.blocked()
        if self._next_row == 0 or self._started.taints != table.taint_version:
            self._next_row, self._started = 0, self._now()
        while self._next_row < len(table.rows):
            rows = slice(self._next_row, self._chunk_end(states))
            self._fixed, self._codes = grown(self._fixed, len(table.rows)), grown(self._codes, len(table.rows))
            self._fixed[rows] = self._kinds.fixed(rows)
            self._codes[rows] = self._kinds.codes(rows, self._fixed[rows], states[rows], blocked[rows])
            self._next_row = rows.stop
            if rows.stop < len(table.rows) and budget.exhausted():
                return False
        self._next_row = 0
        self._homes = table.rows.homes.copy()
        self._sums = Sums.of(self.codes, self._homes, max(len(table.nodes), 1))
        self.bounds = int(np.count_nonzero(self.codes == BOUND))
        self.recounts += 1
        self._measure()
        self._at = self._started
        return True

    def _chunk_end(self, states: ByteArray) -> int:
        """Return where the next chunk of rows ends; those of which others have shares take longest."""
        end = min(self._next_row + _CHUNK, len(states))
        shared = np.flatnonzero(states[self._next_row : end] == SHARED)
        return end if len(shared) <= _SHARES else self._next_row + int(shared[_SHARES])

    def _replace(self, rows: IntArray) -> None:
        table = self._view.table
        size = len(table.rows)
        self._fixed, self._codes = grown(self._fixed, size), grown(self._codes, size)
        self._homes = grown(self._homes, size, NOWHERE)
        self._sums.grow(len(table.nodes))
        for row in rows.tolist():
            self._set(row, NONE)
        self._fixed[rows] = self._kinds.fixed(rows)
        self._homes[rows] = table.rows.homes[rows]
        states, blocked = self._view.occupancy.states(), self._view.room.blocked()
        codes = self._kinds.codes(rows, self._fixed[rows], states[rows], blocked[rows])
        for row, code in zip(rows.tolist(), codes.tolist(), strict=True):
            self._set(row, code)
        self._measure()

    def _measure(self) -> None:
        self.size = len(self._codes) * 6 + self._sums.nbytes + 1024

    def _set(self, row: int, code: int) -> None:
        before = int(self._codes[row])
        if before == code:
            return
        self._codes[row] = code
        self.bounds += (code == BOUND) - (before == BOUND)
        home = int(self._homes[row])
        self._sums.move(home, before, code)
        if home >= 0:
            self.touched.add(home)

    def _total(self, view: View, part: int) -> Longs:
        total = self._sums.per_node(view.table.scopes, len(view.table.nodes), part)
        if not view.overlay.devices:
            return total
        for row, code in self._overlaid(view).items():
            change = (part_of(code) == part) - (part_of(int(self._codes[row])) == part)
            if change:
                total = total + change * self._nodes_of(view, row)
        return total

    def _overlaid(self, view: View) -> dict[int, int]:
        """Return the rows of devices whose holders the view's overlay changes, with what they are then.

        Also those of all devices whose counters that may change, as if there were enough.
        """
        found: dict[int, int] = {}
        states = view.occupancy.states() if view.overlay.devices else None
        for pool_id in {PoolID(one.driver, one.pool) for one in view.overlay.devices}:
            if states is not None and view.room.has_counters(pool_id):
                for row in view.table.pools[pool_id].rows().tolist():
                    found[row] = self._kinds.code(view, row, int(self._fixed[row]), int(states[row]), blocked=False)
        for device in view.overlay.devices:
            held = usage(view.holders(device))
            for row in view.table.rows_of(device):
                found[row] = self._kinds.code(view, row, int(self._fixed[row]), held, blocked=False)
        return found

    def _nodes_of(self, view: View, row: int) -> Longs:
        home = int(self._homes[row])
        nodes = np.zeros(len(view.table.nodes), np.int64)
        if home >= 0:
            nodes[home] = 1
        elif home != NOWHERE:
            nodes += view.table.scopes.mask(scope_of_home(home), len(nodes))
        return nodes
