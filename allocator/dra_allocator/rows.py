"""Rows: one slot per published device, with ids that stay as long as the slice has a device of the name."""

from __future__ import annotations

import numpy as np

from dra_allocator.arrays import IntArray, grown
from dra_allocator.columns import Columns
from dra_allocator.device import Device, DeviceCapacity, DeviceID
from dra_allocator.records import SliceRecord
from dra_allocator.traits import Traits, TraitsStore
from dra_allocator.visibility import NOWHERE


class Rows:
    """The devices of all slices, by row. Free rows are used again."""

    def __init__(self) -> None:
        self.columns = Columns()
        self.traits = TraitsStore()
        self._names: list[str] = []
        self._records: list[SliceRecord | None] = []
        self._traits_ids: IntArray = np.zeros(64, np.int32)
        self._homes: IntArray = np.full(64, NOWHERE, np.int32)
        self._free: list[int] = []

    def __len__(self) -> int:
        """Return the number of row slots, free ones included."""
        return self.columns.rows

    @property
    def homes(self) -> IntArray:
        """The home of each row; see `visibility`."""
        return self._homes[: len(self)]

    @property
    def traits_ids(self) -> IntArray:
        """The id of each row's traits."""
        return self._traits_ids[: len(self)]

    def record(self, row: int) -> SliceRecord:
        """Return the slice of a row in use; KeyError for a free one."""
        record = self._records[row]
        if record is None:
            raise KeyError(row)
        return record

    def in_use(self, row: int) -> bool:
        """Return whether the row holds a device."""
        return row < len(self._records) and self._records[row] is not None

    def traits_of(self, row: int) -> Traits:
        """Return the traits of a row in use."""
        return self.traits[int(self._traits_ids[row])]

    def name(self, row: int) -> str:
        """Return the device name of a row in use."""
        return self._names[row]

    def device_id(self, row: int) -> DeviceID:
        """Return the DeviceID of a row in use."""
        pool_id = self.record(row).pool_id
        return DeviceID(pool_id.driver, pool_id.pool, self._names[row])

    def device(self, row: int) -> Device:
        """Put the device of a row together again."""
        traits = self.traits_of(row)
        return Device(
            name=self._names[row],
            attributes=self.columns.attributes(row),
            capacity=self._capacity(row),
            consumes_counters=traits.consumes_counters,
            scope=traits.scope,
            taints=traits.taints,
            binds_to_node=traits.binds_to_node,
            binding_conditions=traits.binding_conditions,
            binding_failure_conditions=traits.binding_failure_conditions,
            allow_multiple_allocations=traits.allow_multiple_allocations,
            unsupported=traits.unsupported,
            unreadable=traits.unreadable,
            node_resources=traits.node_resources,
        )

    def capacities(self, row: int) -> dict[str, DeviceCapacity]:
        """Return the capacities of a row in use by the slice's spelling of their names."""
        return {one.published or name: one for name, one in self._capacity(row).items()}

    def alike_in_capacity(self, rows: IntArray) -> tuple[IntArray, IntArray]:
        """Group rows with the same traits and capacities; see `Columns.alike_in_capacity`."""
        return self.columns.alike_in_capacity(rows, self._traits_ids[rows])

    def _capacity(self, row: int) -> dict[str, DeviceCapacity]:
        policies = self.traits_of(row).policies
        published = self.columns.published(row)
        return {
            name: DeviceCapacity(value, policies.get(name), published[name])
            for name, value in self.columns.capacity(row).items()
        }

    def assign(self, devices: tuple[Device, ...], old: IntArray) -> tuple[IntArray, IntArray]:
        """Return a row per device of a slice, and those of `old`, its rows so far, that were freed before.

        A device keeps the row that the slice's device of this name had.
        """
        if not len(old):
            self._reserve(len(devices))
            return np.array([self._free.pop() for _ in devices], np.int32), old
        kept = {self._names[row]: row for row in old.tolist()}
        wanted = [kept.pop(device.name, None) for device in devices]
        still_used = [row for row in wanted if row is not None]
        unused: IntArray = np.setdiff1d(old, np.array(still_used, np.int32))
        self.free(unused)
        self._reserve(wanted.count(None))
        return np.array([self._free.pop() if row is None else row for row in wanted], np.int32), unused

    def write(self, row: int, device: Device, record: SliceRecord) -> None:
        """Put a device into an assigned row."""
        if self._records[row] is not None:
            self._clear(row)
        self._names[row] = device.name
        self._records[row] = record
        self._traits_ids[row] = self.traits.acquire(device)
        self.columns.put(row, record.pool_id.driver, device)

    def free(self, rows: IntArray) -> None:
        """Give rows back."""
        for row in rows.tolist():
            self._clear(row)
            self._names[row] = ""
            self._records[row] = None
        self._homes[rows] = NOWHERE
        self._free.extend(rows.tolist()[::-1])

    def _clear(self, row: int) -> None:
        self.columns.clear(row)
        self.traits.release(int(self._traits_ids[row]))
        self._traits_ids[row] = 0

    def _reserve(self, count: int) -> None:
        missing = count - len(self._free)
        if missing <= 0:
            return
        first, rows = len(self), len(self) + missing
        self.columns.resize(rows)
        self._names.extend([""] * missing)
        self._records.extend([None] * missing)
        self._traits_ids = grown(self._traits_ids, rows)
        self._homes = grown(self._homes, rows, NOWHERE)
        self._free.extend(range(rows - 1, first - 1, -1))
