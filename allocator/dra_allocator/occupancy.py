"""Which rows are held, as one byte per row: what the ledger says, in the table's terms."""

from __future__ import annotations

import numpy as np

from dra_allocator.arrays import ByteArray, grown
from dra_allocator.budget import UNLIMITED, Budget, drained
from dra_allocator.device import DeviceID
from dra_allocator.journal import Journal
from dra_allocator.ledger import Holder, Ledger
from dra_allocator.table import Table

_CHUNK = 256
"""Devices looked up between two questions to the budget: about a millisecond."""
FREE, WHOLE, SHARED = 0, 1, 2


def usage(holders: tuple[Holder, ...]) -> int:
    """Return whether a device with these holders is free, held as a whole, or held in shares only."""
    if not holders:
        return FREE
    for holder in holders:
        if holder.share_id is None:
            return WHOLE
    return SHARED


class Occupancy:
    """FREE, WHOLE or SHARED per row; catches up with table and ledger when asked.

    Attributes:
        moved: rows of devices that changed hands, in the order in which that was taken in; also where the state is as
            it was.

    """

    def __init__(self, table: Table, ledger: Ledger) -> None:
        self.moved: Journal[int] = Journal(1 << 16)
        self._table = table
        self._ledger = ledger
        self._states: ByteArray = np.zeros(len(table.rows), np.uint8)
        self._pending: dict[DeviceID, None] = {}
        self._table_position = -1
        self._ledger_position = -1

    def states(self) -> ByteArray:
        """Return the current state of each row."""
        self.prepare(UNLIMITED)
        return self._states[: len(self._table.rows)]

    def prepare(self, budget: Budget) -> bool:
        """Catch up with table and ledger; return False if the budget ended it before."""
        table_is_read = self._table_position == self._table.journal.position
        ledger_is_read = self._ledger_position == self._ledger.journal.position
        if table_is_read and ledger_is_read and not self._pending:
            return True
        if not table_is_read:
            self._read_table()
        if self._ledger_position != self._ledger.journal.position:
            self._read_ledger()
        return drained(self._pending, self._refresh, _CHUNK, budget)

    def _read_table(self) -> None:
        rows = self._table.rows_since(self._table_position) if self._table_position >= 0 else None
        self._states = grown(self._states, len(self._table.rows))
        if rows is None:
            self._ledger_position = -1
        else:
            self._states[rows] = FREE
            in_use = (row for row in rows.tolist() if self._table.rows.in_use(row))
            self._pending.update((self._table.rows.device_id(row), None) for row in in_use)
        self._table_position = self._table.journal.position

    def _read_ledger(self) -> None:
        devices = self._ledger.journal.since(self._ledger_position) if self._ledger_position >= 0 else None
        if devices is None:
            self._states[:] = FREE
            self._pending.update(dict.fromkeys(self._ledger.held()))
        else:
            self._pending.update(dict.fromkeys(devices))
        self._ledger_position = self._ledger.journal.position

    def _refresh(self, device: DeviceID) -> None:
        for row in self._table.rows_of(device):
            self._states[row] = usage(self._ledger.holders_of(device))
            self.moved.add(row)
