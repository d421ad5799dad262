"""Rows that no request can have because of their pool: it is incomplete, or invalid (see `pools`)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dra_allocator.arrays import BoolArray
from dra_allocator.facts import Fact, PoolFact
from dra_allocator.pools import Assessment, PoolRules, PoolState, assess, is_counter_slice, is_seen
from dra_allocator.records import PoolRecord
from dra_allocator.rejection import Reason
from dra_allocator.sight import Sight
from dra_allocator.usability import USABLE
from dra_allocator.view import View

_FACTS = 8
"""So many pools are described, the others are counted."""


@dataclass(frozen=True, slots=True)
class Fallen:
    """The rows that fell out for one reason."""

    reason: Reason
    detail: str
    rows: BoolArray
    facts: tuple[Fact, ...] = ()


class PoolHealth:
    """What the asked nodes see of pools.

    Attributes:
        visible: rows of newest generations.
        fallen: the visible rows of incomplete and invalid pools.

    """

    def __init__(self, view: View, sight: Sight) -> None:
        self._table = view.table
        self._rules = PoolRules.of(view.features)
        usable: BoolArray = view.usability.states() == USABLE
        self.visible: BoolArray = sight.rows & usable
        self._facts: dict[Reason, list[Fact]] = {"incomplete-pool": [], "invalid-pool": []}
        self._pools: dict[Reason, list[str]] = {"incomplete-pool": [], "invalid-pool": []}
        self._lost = {reason: np.zeros_like(usable) for reason in self._facts}
        for pool in self._doubtful(sight.rows & ~usable):
            self._look(pool, sight.rows)
        self.fallen = tuple(
            Fallen(reason, ", ".join(self._pools[reason][:3]), rows, tuple(self._facts[reason]))
            for reason, rows in self._lost.items()
            if rows.any()
        )

    def _doubtful(self, rows: BoolArray) -> Iterator[PoolRecord]:
        records = self._table.rows
        numbers = np.flatnonzero(rows).tolist()
        pools = dict.fromkeys(records.record(row).pool_id for row in numbers if records.in_use(row))
        return (self._table.pools[pool] for pool in sorted(pools))

    def _look(self, pool: PoolRecord, seen: BoolArray) -> None:
        """Note what is wrong with a pool; its rows of the newest generation are visible anyway."""
        parts = [
            record.rows
            for record in pool.newest_slices()
            if is_seen(record, self._rules) and not is_counter_slice(record, self._rules)
        ]
        rows = np.concatenate(parts) if parts else np.empty(0, np.int32)
        rows = rows[seen[rows]]
        if not len(rows):
            return
        self.visible[rows] = True
        found = assess(pool, self._rules, self._table.rows)
        if found.state is PoolState.INCOMPLETE:
            self._lost["incomplete-pool"][rows] = True
            self._note("incomplete-pool", pool, found)
        elif found.state is PoolState.INVALID:
            self._lost["invalid-pool"][rows] = True
            self._note("invalid-pool", pool, found, found.reason)
        elif found.state is PoolState.VARIES:
            self._look_for_twins(pool, found, seen)

    def _look_for_twins(self, pool: PoolRecord, found: Assessment, seen: BoolArray) -> None:
        """Note what is seen by the nodes for which the pool publishes a name twice."""
        homes = self._table.rows.homes
        rows = pool.rows()
        rows = rows[seen[rows]]
        for name, twins in self._table.twins(pool).items():
            places, counts = np.unique(homes[list(twins)], return_counts=True)
            hit = rows[np.isin(homes[rows], places[counts > 1])]
            if len(hit):
                self._lost["invalid-pool"][hit] = True
                self._note("invalid-pool", pool, found, f"duplicate device name {name}")

    def _note(self, reason: Reason, pool: PoolRecord, found: Assessment, problem: str = "") -> None:
        named = str(pool.id)
        self._pools[reason].append(named)
        if len(self._facts[reason]) < _FACTS:
            newest = pool.newest_slices()
            expected = max((record.slice_count for record in newest), default=0)
            fact = PoolFact(named, newest[0].generation if newest else 0, len(found.counted), expected, problem)
            self._facts[reason].append(fact)
