"""DeviceTaintRules: which rows each one taints (KEP-5055)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dra_allocator.arrays import BoolArray, IntArray, grown
from dra_allocator.device import DeviceTaint, DeviceTaintRule
from dra_allocator.masks import MaskStore
from dra_allocator.records import PoolID
from dra_allocator.table import Table


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

    def marked(self) -> list[tuple[DeviceTaint, BoolArray]]:
        """Return each rule's taint with the rows that have it; effects that keep nobody away are left out."""
        table = self._table
        if not table.taint_rules:
            return []
        if self._version != table.taint_version:
            self._marked = [_Marked(rule, np.zeros(0, np.bool_)) for rule in table.taint_rules.values()]
            self._version, self._position = table.taint_version, -1
        if self._position != table.journal.position:
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
        matches: BoolArray = np.full(len(rows), not rule.matches_nothing)
        texts = rule.selectors
        if rule.device_class is not None:
            entry = self._table.classes.get(rule.device_class)
            if entry is None:
                return np.zeros(len(rows), np.bool_)
            texts = (*entry[0].selectors, *texts)
        for text in texts:
            masks = self._masks.get(self._table, text)
            for index in np.flatnonzero(matches).tolist():
                row = int(rows[index])
                matches[index] = masks.try_resolve(row) if masks.open[row] else masks.match[row]
        return matches
