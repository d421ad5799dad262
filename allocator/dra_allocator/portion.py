"""Whether single devices have the capacity that a request takes of them: all of it, or what shares leave (KEP-5075).

A necessary condition, the same that the rule about shares applies before it takes a device.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dra_allocator.arrays import ByteArray, IntArray
from dra_allocator.capacity import CapacityError, consumption, fits
from dra_allocator.device import DeviceCapacity
from dra_allocator.table import Table
from dra_allocator.traits import Traits
from dra_allocator.view import View
from dra_cel.quantity import Quantity

SERVED, UNSERVED, FAILS = 0, 1, 2
"""What a device is to the request: it can serve it, it cannot, finding out is an error."""
_REMEMBERED = 4096
_Amounts = dict[str, Quantity] | None


class Portion:
    """What one request's amounts mean for the rows of a table, as nobody holds them or beside others' shares."""

    def __init__(self, table: Table, requested: Mapping[str, Quantity], fractional: bool) -> None:
        self._table = table
        self._requested = requested
        self._fractional = fractional
        self._known: dict[object, tuple[Traits, int, dict[str, DeviceCapacity], _Amounts]] = {}

    def of_rows(self, rows: IntArray) -> ByteArray:
        """Return SERVED, UNSERVED or FAILS per row, if nobody holds it."""
        groups, firsts = self._table.rows.alike_in_capacity(rows)
        answers = np.array([self._of(row)[1] for row in rows[firsts].tolist()], np.uint8)
        return answers[groups]

    def beside(self, view: View, row: int) -> int:
        """Return SERVED, UNSERVED or FAILS for a row beside the shares that others have of it."""
        _, answer, capacities, amounts = self._of(row)
        if answer != SERVED or amounts is None:
            return answer
        used: dict[str, int] = {}
        for holder in view.holders(self._table.rows.device_id(row)):
            for name, amount in holder.consumed.items():
                used[name] = used.get(name, 0) + amount.nanos
        return SERVED if fits(amounts, used, capacities) else UNSERVED

    def _of(self, row: int) -> tuple[Traits, int, dict[str, DeviceCapacity], _Amounts]:
        rows = self._table.rows
        traits = rows.traits_of(row)
        key = id(traits), rows.columns.capacity_place(row)
        known = self._known.get(key)
        if known is None:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            capacities = rows.capacities(row)
            known = self._known[key] = (traits, *self._consumption(capacities))
        return known

    def _consumption(self, capacities: dict[str, DeviceCapacity]) -> tuple[int, dict[str, DeviceCapacity], _Amounts]:
        try:
            amounts = consumption(self._requested, capacities, self._fractional)
        except CapacityError:
            return FAILS, capacities, None
        served = amounts is not None and fits(amounts, {}, capacities)
        return SERVED if served else UNSERVED, capacities, amounts
