"""Which devices cannot be had, even alone, because the counters of their pool are used up (KEP-4815).

A necessary condition for a device, the same as the rule about counters applies before it takes it: so that nodes whose
counters leave nothing of what is asked for are ruled out by counting. Follows the pools where something changes hands.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dra_allocator.arrays import BoolArray, IntArray, grown
from dra_allocator.budget import UNLIMITED, Budget, drained
from dra_allocator.features import Features
from dra_allocator.journal import Journal
from dra_allocator.ledger import Ledger
from dra_allocator.occupancy import FREE, SHARED, Occupancy
from dra_allocator.pools import PoolRules, PoolState, assess, counter_sets, is_counter_slice
from dra_allocator.records import PoolID, PoolRecord
from dra_allocator.sums import Longs
from dra_allocator.table import Table
from dra_allocator.traits import Traits
from dra_cel.quantity import NANO

_CHUNK = 32
"""Pools looked at between two questions to the budget: about a millisecond."""
_MATRICES = 256
_LARGEST = 1 << 62


@dataclass(frozen=True, slots=True)
class _Matrix:
    """What devices consume: per device and counter, in `unit` nano-units each. `traits` keeps their identity."""

    amounts: Longs
    consumes: BoolArray
    shareable: BoolArray
    unit: int
    traits: tuple[Traits, ...]


@dataclass(frozen=True, slots=True)
class _Layout:
    """A pool at a version: its rows, what they consume, and how much of each counter there is in all."""

    version: int
    rows: IntArray
    matrix: _Matrix
    totals: Longs


class CounterRoom:
    """The blocked devices under one set of features; catches up with table and ledger when asked.

    Attributes:
        changed: rows for which the answer has changed, in the order of the changes.

    """

    def __init__(self, table: Table, ledger: Ledger, occupancy: Occupancy, features: Features) -> None:
        self.changed: Journal[IntArray] = Journal(1 << 12)
        self._table = table
        self._ledger = ledger
        self._occupancy = occupancy
        self._rules = PoolRules.of(features)
        self._shares = features.consumable_capacity
        self._blocked: BoolArray = np.zeros(0, np.bool_)
        self._layouts: dict[PoolID, _Layout] = {}
        self._matrices: dict[object, _Matrix | None] = {}
        self._pending: dict[PoolID, None] = {}
        self._table_position = -1
        self._ledger_position = -1

    def blocked(self) -> BoolArray:
        """Return per row whether the device cannot be had although nobody holds it."""
        self.prepare(UNLIMITED)
        return self._blocked[: len(self._table.rows)]

    def has_counters(self, pool: PoolID) -> bool:
        """Return whether devices of the pool may be blocked; up to date after `blocked`."""
        return pool in self._layouts

    def prepare(self, budget: Budget) -> bool:
        """Catch up with table and ledger; return False if the budget ended it before."""
        if not self._rules.partitionable:
            self._blocked = grown(self._blocked, len(self._table.rows))
            return True
        if self._table_position != self._table.journal.position:
            self._read_table()
        if self._ledger_position != self._ledger.journal.position:
            self._read_ledger()
        return not self._pending or drained(self._pending, self._refresh, _CHUNK, budget)

    def _read_table(self) -> None:
        journal = self._table.journal
        self._blocked = grown(self._blocked, len(self._table.rows))
        entries = journal.since(self._table_position) if self._table_position >= 0 else None
        if entries is None:
            self._layouts.clear()
            self._note(np.flatnonzero(self._blocked).astype(np.int32), np.False_)
            entries = list(self._table.pools.values())
        for entry in entries:
            if isinstance(entry, PoolRecord):
                if entry.id in self._layouts or any(record.shared_counters for record in entry.slices.values()):
                    self._pending[entry.id] = None
            else:
                self._note(entry, np.False_)
        self._table_position = journal.position

    def _read_ledger(self) -> None:
        journal = self._ledger.journal
        if not self._layouts:
            self._ledger_position = journal.position
            return
        devices = journal.since(self._ledger_position) if self._ledger_position >= 0 else None
        ids = self._layouts if devices is None else {PoolID(one.driver, one.pool) for one in devices}
        self._pending.update((pool_id, None) for pool_id in ids if pool_id in self._layouts)
        self._ledger_position = journal.position

    def _refresh(self, pool_id: PoolID) -> None:
        pool = self._table.pools.get(pool_id)
        layout = self._layouts.get(pool_id)
        if layout is None or pool is None or layout.version != pool.version:
            layout = None if pool is None else self._layout(pool)
            if layout is None:
                self._layouts.pop(pool_id, None)
                if pool is not None:
                    self._note(pool.rows(), np.False_)
                return
            self._layouts[pool_id] = layout
        matrix = layout.matrix
        states = self._occupancy.states()[layout.rows]
        left = layout.totals - matrix.amounts[states != FREE].sum(axis=0)
        due = matrix.consumes & ~(matrix.shareable & (states == SHARED)) if self._shares else matrix.consumes.copy()
        if left.min(initial=0) >= 0:
            due &= (matrix.amounts > left).any(axis=1)
        self._note(layout.rows, due)

    def _note(self, rows: IntArray, blocked: BoolArray | np.bool_) -> None:
        changed = rows[self._blocked[rows] != blocked]
        if len(changed):
            self._blocked[rows] = blocked
            self.changed.add(changed)

    def _layout(self, pool: PoolRecord) -> _Layout | None:
        """Return what is known of the pool, None if counters do not decide here: the search looks at the node then."""
        state = assess(pool, self._rules, self._table.rows)
        totals = {
            (name, counter): amount.nanos
            for name, counters in counter_sets(state.counted).items()
            for counter, amount in counters.counters.items()
        }
        if state.state is not PoolState.COMPLETE or not totals:
            return None
        parts = [record.rows for record in state.counted if not is_counter_slice(record, self._rules)]
        rows = np.concatenate(parts) if parts else np.empty(0, np.int32)
        traits = tuple(self._table.rows.traits[one] for one in self._table.rows.traits_ids[rows].tolist())
        matrix = self._matrix(traits, tuple(totals), max(map(abs, totals.values())))
        if matrix is None or any(amount % matrix.unit for amount in totals.values()):
            return None
        amounts = np.array([amount // matrix.unit for amount in totals.values()], np.int64)
        return _Layout(pool.version, rows, matrix, amounts)

    def _matrix(self, traits: tuple[Traits, ...], counters: tuple[tuple[str, str], ...], most: int) -> _Matrix | None:
        """Return what devices with these traits consume, shared by all pools that are alike."""
        key = tuple(map(id, traits)), counters, most
        if key not in self._matrices:
            if len(self._matrices) >= _MATRICES:
                self._matrices.clear()
            self._matrices[key] = _matrix(traits, counters, most)
        return self._matrices[key]


def _matrix(traits: tuple[Traits, ...], counters: tuple[tuple[str, str], ...], most: int) -> _Matrix | None:
    """Return the matrix, or None if its sums may not fit 64 bits."""
    places = {counter: at for at, counter in enumerate(counters)}
    entries: dict[tuple[int, int], int] = {}
    for row, one in enumerate(traits):
        for consumption in one.consumes_counters:
            for counter, amount in consumption.counters.items():
                place = row, places[consumption.counter_set, counter]
                entries[place] = entries.get(place, 0) + amount.nanos
    unit = NANO if all(amount % NANO == 0 for amount in entries.values()) else 1
    if max(most, *map(abs, entries.values()), 1) // unit * (len(traits) + 1) >= _LARGEST:
        return None
    amounts = np.zeros((len(traits), len(counters)), np.int64)
    for place, nanos in entries.items():
        amounts[place] = nanos // unit
    return _Matrix(
        amounts,
        np.array([bool(one.consumes_counters) for one in traits], np.bool_),
        np.array([one.allow_multiple_allocations for one in traits], np.bool_),
        unit,
        traits,
    )
