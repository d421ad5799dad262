"""Devices that have too little capacity left for a request, each looked at by itself (KEP-5075)."""

from __future__ import annotations

from collections.abc import Hashable, Mapping

import numpy as np

from dra_allocator.arrays import BoolArray
from dra_allocator.capacity import CapacityError, consumption
from dra_allocator.device import DeviceCapacity
from dra_allocator.facts import Fact, Shortage, amount_text
from dra_allocator.requests import ResolvedRequest
from dra_allocator.view import View

_MAX_ROWS = 512
"""Devices looked at; the rest counts as good enough, and is looked at where rules are."""

Lack = tuple[str, int, int, int]
"""Capacity, wanted, left and total (nano-units); left -1: the device's policy does not allow the amount."""


class CapacityLeft:
    """What shares of others leave of each device, for one request."""

    def __init__(self, view: View, request: ResolvedRequest) -> None:
        self._view = view
        self._request = request
        self._known: dict[Hashable, Lack | None] = {}

    def short(self, rows: BoolArray) -> tuple[BoolArray | None, tuple[Fact, ...]]:
        """Return those of the rows that cannot serve the request, None if it cannot be so, and the nearest lack."""
        view = self._view
        traits, ids = view.table.rows.traits, view.table.rows.traits_ids
        if not view.features.consumable_capacity:
            return None, ()
        asks = bool(self._request.spec.capacity)
        concerned = [
            number
            for number in np.flatnonzero(np.bincount(ids[rows])).tolist()
            if asks or traits[number].policies or traits[number].allow_multiple_allocations
        ]
        if not concerned:
            return None, ()
        found = np.zeros_like(rows)
        lacks: list[tuple[Lack, int]] = []
        for row in np.flatnonzero(rows & np.isin(ids, concerned))[:_MAX_ROWS].tolist():
            lack = self._lack(row)
            if lack is not None:
                found[row] = True
                lacks.append((lack, row))
        return found, tuple(self._facts(lacks))

    def _lack(self, row: int) -> Lack | None:
        """Return what the device has too little of; None if it can serve the request, or asking is an error."""
        rows = self._view.table.rows
        used: dict[str, int] = {}
        if rows.traits_of(row).allow_multiple_allocations and not self._request.spec.admin_access:
            for holder in self._view.holders(rows.device_id(row)):
                for name, amount in holder.consumed.items():
                    used[name] = used.get(name, 0) + amount.nanos
        device = rows.device(row)
        capacities = {one.published or name: one for name, one in device.capacity.items()}
        amounts = tuple((name, one.value.nanos) for name, one in capacities.items())
        key = int(rows.traits_ids[row]), amounts, tuple(sorted(used.items()))
        if key not in self._known:
            self._known[key] = self._compare(capacities, used)
        return self._known[key]

    def _compare(self, capacities: Mapping[str, DeviceCapacity], used: Mapping[str, int]) -> Lack | None:
        requested = self._request.spec.capacity
        for name, amount in requested.items():
            if name not in capacities:
                return name, amount.nanos, 0, 0
        try:
            amounts = consumption(requested, capacities, self._view.features.fractional_capacity_range)
        except CapacityError:
            return None
        if amounts is None:
            return next(
                ((name, amount.nanos, -1, capacities[name].value.nanos) for name, amount in requested.items()), None
            )
        for name, amount in amounts.items():
            total = capacities[name].value.nanos
            left = total - used.get(name, 0)
            if amount.nanos > left:
                return name, amount.nanos, left, total
        return None

    def _facts(self, lacks: list[tuple[Lack, int]]) -> list[Fact]:
        """Return for each capacity the device that has most of it left."""
        best: dict[str, tuple[Lack, int]] = {}
        for lack, row in lacks:
            if lack[0] not in best or lack[2] > best[lack[0]][0][2]:
                best[lack[0]] = lack, row
        return [self._fact(lack, row) for lack, row in best.values()]

    def _fact(self, lack: Lack, row: int) -> Shortage:
        name, wanted, left, total = lack
        texts = ["" if nanos < 0 else amount_text(nanos) for nanos in (wanted, left, total)]
        return Shortage(name, texts[0], texts[1], texts[2], device=str(self._view.table.rows.device_id(row)))
