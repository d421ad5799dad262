"""Which rows are held, as one byte per row: what the ledger says, in the table's terms."""

from __future__ import annotations

import numpy as np

from dra_allocator.arrays import ByteArray, IntArray, grown
from dra_allocator.ledger import Holder, Ledger
from dra_allocator.table import Table

FREE, WHOLE, SHARED = 0, 1, 2


def usage(holders: tuple[Holder, ...]) -> int:
    """Return whether a device with these holders is free, held as a whole, or held in shares only."""
    if not holders:
        return FREE
    return WHOLE if any(holder.share_id is None for holder in holders) else SHARED


class Occupancy:
    """FREE, WHOLE or SHARED per row; catches up with table and ledger when asked."""

    def __init__(self, table: Table, ledger: Ledger) -> None:
        self._table = table
        self._ledger = ledger
        self._states: ByteArray = np.zeros(len(table.rows), np.uint8)
        self._table_position = -1
        self._ledger_position = -1

    def states(self) -> ByteArray:
        """Return the current state of each row."""
        table, ledger = self._table, self._ledger
        if self._table_position != table.journal.position:
            self._follow_table()
        if self._ledger_position != ledger.journal.position:
            self._follow_ledger()
        return self._states[: len(table.rows)]

    def changed_rows(self, position: int) -> list[int] | None:
        """Return the rows of the devices that changed hands since a position of the ledger's journal."""
        devices = self._ledger.journal.since(position)
        if devices is None:
            return None
        rows = (self._table.row_of(device) for device in dict.fromkeys(devices))
        return [row for row in rows if row is not None]

    def _follow_table(self) -> None:
        rows = self._table.rows_since(self._table_position) if self._table_position >= 0 else None
        if rows is None:
            self._ledger_position = -1
        else:
            self._states = grown(self._states, len(self._table.rows))
            self._refresh(rows)
        self._table_position = self._table.journal.position

    def _follow_ledger(self) -> None:
        rows = self.changed_rows(self._ledger_position) if self._ledger_position >= 0 else None
        if rows is None:
            self._states = np.zeros(max(len(self._table.rows), 64), np.uint8)
            held = (self._table.row_of(device) for device in self._ledger.held())
            rows = [row for row in held if row is not None]
        for row in rows:
            self._states[row] = usage(self._ledger.holders_of(self._table.rows.device_id(row)))
        self._ledger_position = self._ledger.journal.position

    def _refresh(self, rows: IntArray) -> None:
        self._states[rows] = FREE
        for row in rows.tolist():
            if self._table.rows.in_use(row):
                self._states[row] = usage(self._ledger.holders_of(self._table.rows.device_id(row)))
