"""DeviceTaintRules: which rows each one taints (KEP-5055)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dra_allocator.arrays import BoolArray, IntArray, grown
from dra_allocator.device import DeviceTaint, DeviceTaintRule
from dra_allocator.masks import MaskStore, SelectorMasks
from dra_allocator.records import PoolID
from dra_allocator.table import Table
from dra_cel.slices import unbroken


@dataclass(slots=True)
class _Marked:
    rule: DeviceTaintRule
    rows: BoolArray


class TaintRules:
    """The rows that each DeviceTaintRule of a table taints; catches up with the table when asked.

    All parts of a rule's selector must hold; a part that is absent always does. A CEL selector (API of Kubernetes 1.33
    and 1.34) that fails on a device does not select it.
    """

    def __init__(self, table: Table, masks: MaskStore) -> None:
        self._table = table
        self._masks = masks
        self._marked: list[_Marked] = []
        self._version = -1
        self._position = -1

    @classmethod
    def of(cls, table: Table, masks: MaskStore) -> TaintRules:
        """Return the table's instance for these masks."""
        key = cls, masks
        found = table.derived.get(key)
        if not isinstance(found, TaintRules):
            found = table.derived[key] = cls(table, masks)
        return found

    def settle(self) -> None:
        """Evaluate what the rules' selectors leave open, with rests, so that `marked` need not."""
        table = self._table
        if not table.taint_rules or self._is_current:
            return
        for rule in list(table.taint_rules.values()):
            texts = self._texts(rule)
            if texts is not None:
                self._evaluate_open(self._named(rule), [self._masks.settled(table, text) for text in texts])

    def _evaluate_open(self, rows: IntArray, selectors: Sequence[SelectorMasks]) -> None:
        """Evaluate the open rows; the masks remember what they are."""
        for masks in selectors:
            known = rows[rows < len(masks.open)]
            for row in known[masks.open[known]].tolist():
                masks.try_resolve(row)

    @property
    def _is_current(self) -> bool:
        return self._version == self._table.taint_version and self._position == self._table.journal.position

    def marked(self) -> list[tuple[DeviceTaint, BoolArray]]:
        """Return each rule's taint with the rows that have it; effects that keep nobody away are left out."""
        table = self._table
        if not table.taint_rules:
            return []
        if self._version != table.taint_version:
            self._marked = [_Marked(rule, np.zeros(0, np.bool_)) for rule in table.taint_rules.values()]
            self._version, self._position = table.taint_version, -1
        if self._position != table.journal.position:
            with unbroken():
                self._catch_up()
        size = len(table.rows)
        return [(one.rule.taint, one.rows[:size]) for one in self._marked if one.rule.taint.effect != "None"]

    def _catch_up(self) -> None:
        table = self._table
        rows = table.rows_since(self._position) if self._position >= 0 else None
        for one in self._marked:
            one.rows = grown(one.rows, len(table.rows))
            if rows is None:
                one.rows[:] = False
                named = self._named(one.rule)
            else:
                one.rows[rows] = False
                named = np.array([row for row in rows.tolist() if self._names(one.rule, row)], np.int32)
            one.rows[named] = self._selects(one.rule, named)
        self._position = table.journal.position

    def _named(self, rule: DeviceTaintRule) -> IntArray:
        """Return the rows whose driver, pool and device the rule names."""
        pools = self._table.pools
        if rule.driver is not None and rule.pool is not None:
            found = pools.get(PoolID(rule.driver, rule.pool))
            named = [] if found is None else [found]
        else:
            named = [
                pool
                for pool in pools.values()
                if rule.driver in (None, pool.id.driver) and rule.pool in (None, pool.id.pool)
            ]
        rows = np.concatenate([pool.rows() for pool in named]) if named else np.empty(0, np.int32)
        if rule.device is None:
            return rows
        return np.array([row for row in rows.tolist() if self._table.rows.name(row) == rule.device], np.int32)

    def _names(self, rule: DeviceTaintRule, row: int) -> bool:
        """Return whether the rule names the driver, the pool and the device of a row."""
        if not self._table.rows.in_use(row):
            return False
        pool_id = self._table.rows.record(row).pool_id
        return (
            rule.driver in (None, pool_id.driver)
            and rule.pool in (None, pool_id.pool)
            and rule.device in (None, self._table.rows.name(row))
        )

    def _selects(self, rule: DeviceTaintRule, rows: IntArray) -> BoolArray:
        """Return for rows that the rule names whether its class and selectors match too."""
        texts = self._texts(rule)
        matches: BoolArray = np.full(len(rows), texts is not None and not rule.matches_nothing)
        for text in texts or ():
            masks = self._masks.get(self._table, text)
            unsure = np.flatnonzero(matches & masks.open[rows])
            matches &= masks.match[rows]
            for index in unsure.tolist():
                matches[index] = masks.try_resolve(int(rows[index]))
        return matches

    def _texts(self, rule: DeviceTaintRule) -> tuple[str, ...] | None:
        """Return the selectors of a rule, those of its class included; None: the class is not there."""
        if rule.device_class is None:
            return rule.selectors
        entry = self._table.classes.get(rule.device_class)
        return None if entry is None else (*entry[0].selectors, *rule.selectors)
