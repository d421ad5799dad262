"""Columns: the values of one device field over all rows of a table, dictionary-encoded.

The table belongs to the caller (the allocator); this module says what a selector needs of it and has a
plain implementation for tests and small sets of devices.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from dra_cel.device import DeviceFields
from dra_cel.quantity import Quantity
from dra_cel.semver import Semver

IntArray = npt.NDArray[np.int32]
RowArray = npt.NDArray[np.intp] | npt.NDArray[np.int32] | npt.NDArray[np.int64]
Kind = Literal["driver", "attribute", "capacity", "sharing"]


@dataclass(frozen=True, slots=True)
class ColumnKey:
    """Names a column.

    Attributes:
        kind: `driver`, `attribute`, `capacity` or `sharing` (allowMultipleAllocations).
        name: fully qualified name `domain/name`; empty for `driver` and `sharing`.

    """

    kind: Kind
    name: str = ""


class Column(Protocol):
    """One field over all rows.

    Attributes:
        codes: int32 per row; 0 means that the row lacks the field, k > 0 means `values[k]`.
        values: the distinct values (see `value_key`); index 0 is unused. It only grows while `epoch` stays.
        epoch: changes when codes are renumbered; `values` is another list then.

    """

    @property
    def codes(self) -> IntArray:
        """Codes by row."""
        ...

    @property
    def values(self) -> Sequence[Any]:
        """Distinct values by code."""
        ...

    @property
    def epoch(self) -> int:
        """Number of the current code assignment."""
        ...


class ColumnSource(Protocol):
    """A table of devices, as selectors read it.

    Attributes:
        rows: number of row slots, unused ones included.

    """

    @property
    def rows(self) -> int:
        """Number of row slots."""
        ...

    def column(self, key: ColumnKey) -> Column:
        """Return the column; all codes are 0 where no device has the field."""
        ...

    def fields(self, row: int) -> DeviceFields:
        """Return one device, for expressions that read whole maps."""
        ...


def value_key(value: object) -> object:
    """Return what tells a column's values apart.

    1, True and "1" are different; so are versions that differ in build metadata only and quantities that
    Kubernetes holds differently, because some functions can tell them apart.
    """
    if isinstance(value, Semver):
        return Semver, value.text
    if isinstance(value, Quantity):
        return Quantity, value.nanos, value.scale, value.compact
    if isinstance(value, tuple):
        return tuple, tuple(value_key(item) for item in value)
    return type(value), value


@dataclass(slots=True, weakref_slot=True, eq=False)
class PlainColumn:
    """A column in memory; see `Column`."""

    codes: IntArray
    values: list[Any]
    epoch: int = 0


class DeviceColumns:
    """A `ColumnSource` over a fixed sequence of devices."""

    def __init__(self, devices: Iterable[DeviceFields]) -> None:
        self._devices = list(devices)
        self._columns: dict[ColumnKey, PlainColumn] = {}

    @property
    def rows(self) -> int:
        """Number of devices."""
        return len(self._devices)

    def fields(self, row: int) -> DeviceFields:
        """Return one device."""
        return self._devices[row]

    def column(self, key: ColumnKey) -> PlainColumn:
        """Return the column, encoding it at its first use."""
        column = self._columns.get(key)
        if column is None:
            column = self._columns[key] = self._encode(key)
        return column

    def _encode(self, key: ColumnKey) -> PlainColumn:
        codes = np.zeros(len(self._devices), np.int32)
        values: list[Any] = [None]
        known: dict[object, int] = {}
        for row, device in enumerate(self._devices):
            value = field_value(device, key)
            if value is not None:
                identity = value_key(value)
                code = known.get(identity)
                if code is None:
                    code = known[identity] = len(values)
                    values.append(value)
                codes[row] = code
        return PlainColumn(codes, values)


def field_value(device: DeviceFields, key: ColumnKey) -> Any:
    """Return a device's value for a column, or None where it lacks the field."""
    if key.kind == "attribute":
        return device.attributes.get(key.name)
    if key.kind == "capacity":
        return device.capacity.get(key.name)
    return device.driver if key.kind == "driver" else device.allow_multiple_allocations
