"""The devices' attributes and capacities as dictionary-encoded columns: what selectors read.

One column per fully qualified attribute or capacity name, plus the driver and whether a device may be
allocated more than once. A row keeps the list of the columns that it is in (its shape), so that a device can be
put together again without looking at columns of other drivers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from dra_allocator.arrays import IntArray, grown
from dra_allocator.device import Device
from dra_cel.columns import ColumnKey, value_key
from dra_cel.device import DeviceFields
from dra_cel.quantity import Quantity

_DRIVER = ColumnKey("driver")
_SHARING = ColumnKey("sharing")
_COMPACT_ABOVE = 1024
_PLAIN = frozenset((str, int, bool))


class Column:
    """One field over all rows; see `dra_cel.columns.Column`."""

    __slots__ = ("_codes", "_known", "_plain", "epoch", "rows", "values")

    def __init__(self, rows: int) -> None:
        self._codes: IntArray = np.zeros(max(rows, 64), np.int32)
        self._known: dict[type, dict[object, int]] = {str: {}, int: {}, bool: {}}
        self.rows = rows
        self.values: list[Any] = [None]
        self.epoch = 0

    @property
    def codes(self) -> IntArray:
        """One code per row; 0: the row lacks the field."""
        return self._codes[: self.rows]

    def resize(self, rows: int) -> None:
        """Make room for more rows; they lack the field."""
        self._codes = grown(self._codes, rows)
        self.rows = rows

    def put(self, row: int, value: object) -> None:
        """Set a row's value."""
        self._codes[row] = self._code(value)

    def drop(self, row: int) -> None:
        """Take the field from a row."""
        self._codes[row] = 0

    def get(self, row: int) -> Any:
        """Return a row's value, None where it lacks the field."""
        return self.values[self._codes[row]]

    def _code(self, value: object) -> int:
        known, key = self._place(value)
        code = known.get(key)
        if code is None:
            if len(self.values) > _COMPACT_ABOVE and len(self.values) > 2 * self.rows:
                self._compact()
            code = known[key] = len(self.values)
            self.values.append(value)
        return code

    def _place(self, value: object) -> tuple[dict[object, int], object]:
        """Return where the code of a value is, and its key there: by type, because 1, 1.0 and True are one key."""
        kind = type(value)
        known = self._known.get(kind)
        if known is None:
            known = self._known[kind] = {}
        return known, value if kind in _PLAIN else _identity(value)

    def _compact(self) -> None:
        """Forget values that no row has any more: devices come and go, their serial numbers with them."""
        live = np.unique(self.codes)
        live = live[live > 0]
        numbers = np.zeros(len(self.values), np.int32)
        numbers[live] = np.arange(1, len(live) + 1, dtype=np.int32)
        self._codes[: self.rows] = numbers[self.codes]
        self.values = [None, *(self.values[code] for code in live)]
        for known in self._known.values():
            known.clear()
        for code, value in enumerate(self.values[1:], start=1):
            known, key = self._place(value)
            known[key] = code
        self.epoch += 1


def _identity(value: object) -> object:
    """Like `value_key`, but quantities that print differently are different too: results show them."""
    if isinstance(value, Quantity):
        return value_key(value), value.format
    return value_key(value)


class Shape:
    """The columns that a device is in: its attributes and capacities by name, `published` as the slice spells them."""

    __slots__ = ("attributes", "capacities", "columns", "published")

    def __init__(
        self, attributes: Mapping[str, Column], capacities: Mapping[str, Column], published: Mapping[str, str]
    ) -> None:
        self.attributes = tuple(attributes.items())
        self.capacities = tuple(capacities.items())
        self.published = published
        self.columns = (*attributes.values(), *capacities.values())


class Columns:
    """All columns of the table; a `dra_cel.columns.ColumnSource`."""

    def __init__(self) -> None:
        self.rows = 0
        self._columns: dict[ColumnKey, Column] = {}
        self._shapes: list[Shape] = [Shape({}, {}, {})]
        self._shape_ids: dict[tuple[tuple[str, ...], ...], int] = {((), (), ()): 0}
        self._shape: IntArray = np.zeros(64, np.int32)
        self._driver = self._create(_DRIVER)
        self._sharing = self._create(_SHARING)

    def column(self, key: ColumnKey) -> Column:
        """Return the column; one that no device is in is all zeros (and not kept)."""
        return self._columns.get(key) or Column(self.rows)

    def fields(self, row: int) -> DeviceFields:
        """Return one device as expressions see it."""
        return DeviceFields(
            driver=self._driver.get(row),
            attributes=self.attributes(row),
            capacity=self.capacity(row),
            allow_multiple_allocations=self._sharing.get(row),
        )

    def attributes(self, row: int) -> dict[str, Any]:
        """Return the attributes of one device by fully qualified name."""
        return {name: column.get(row) for name, column in self._shapes[self._shape[row]].attributes}

    def capacity(self, row: int) -> dict[str, Quantity]:
        """Return the capacities of one device by fully qualified name."""
        return {name: column.get(row) for name, column in self._shapes[self._shape[row]].capacities}

    def published(self, row: int) -> Mapping[str, str]:
        """Return how the slice spells the names of the capacities of one device, by fully qualified name."""
        return self._shapes[int(self._shape[row])].published

    def names(self, rows: IntArray, limit: int = 256) -> list[ColumnKey]:
        """Return the attributes and capacities that some of the rows have; `limit` bounds the shapes looked at."""
        shapes = np.flatnonzero(np.bincount(self._shape[rows]))[:limit].tolist() if len(rows) else []
        attributes = {name for shape in shapes for name, _ in self._shapes[shape].attributes}
        capacities = {name for shape in shapes for name, _ in self._shapes[shape].capacities}
        keys = [ColumnKey("attribute", name) for name in sorted(attributes)]
        return keys + [ColumnKey("capacity", name) for name in sorted(capacities)]

    def capacity_place(self, row: int) -> tuple[object, ...]:
        """Return what stands for the capacities of a row: rows with equal places have equal ones."""
        shape_id = int(self._shape[row])
        codes = [(column.epoch, int(column.codes[row])) for _, column in self._shapes[shape_id].capacities]
        return shape_id, *codes

    def alike_in_capacity(self, rows: IntArray, traits_ids: IntArray) -> tuple[IntArray, IntArray]:
        """Group rows with the same traits and the same capacities.

        Returns the number of its group per row, and per group the index of one of its rows.
        """
        shape_ids = self._shape[rows]
        columns = {id(one): one for shape in np.unique(shape_ids) for _, one in self._shapes[shape].capacities}
        groups, firsts = _grouped(traits_ids.astype(np.int64) * len(self._shapes) + shape_ids)
        for column in columns.values():
            groups, firsts = _grouped(groups.astype(np.int64) * len(column.values) + column.codes[rows])
        return groups, firsts

    def resize(self, rows: int) -> None:
        """Make room for more rows, empty at first."""
        self.rows = rows
        self._shape = grown(self._shape, rows)
        for column in self._columns.values():
            column.resize(rows)

    def put(self, row: int, driver: str, device: Device) -> None:
        """Write one device into an empty row."""
        shape_id = self._shape_of(device)
        self._shape[row] = shape_id
        shape = self._shapes[shape_id]
        for (_, column), value in zip(shape.attributes, device.attributes.values(), strict=True):
            column.put(row, value)
        for (_, column), capacity in zip(shape.capacities, device.capacity.values(), strict=True):
            column.put(row, capacity.value)
        self._driver.put(row, driver)
        self._sharing.put(row, device.allow_multiple_allocations)

    def clear(self, row: int) -> None:
        """Empty a row."""
        for column in self._shapes[self._shape[row]].columns:
            column.drop(row)
        self._driver.drop(row)
        self._sharing.drop(row)
        self._shape[row] = 0

    def _shape_of(self, device: Device) -> int:
        attributes, capacities = tuple(device.attributes), tuple(device.capacity)
        spellings = tuple(capacity.published for capacity in device.capacity.values())
        key = attributes, capacities, spellings
        shape_id = self._shape_ids.get(key)
        if shape_id is None:
            shape_id = self._shape_ids[key] = len(self._shapes)
            self._shapes.append(
                Shape(
                    {name: self._existing(ColumnKey("attribute", name)) for name in attributes},
                    {name: self._existing(ColumnKey("capacity", name)) for name in capacities},
                    dict(zip(capacities, spellings, strict=True)),
                )
            )
        return shape_id

    def _existing(self, key: ColumnKey) -> Column:
        return self._columns.get(key) or self._create(key)

    def _create(self, key: ColumnKey) -> Column:
        column = self._columns[key] = Column(self.rows)
        return column


def _grouped(keys: npt.NDArray[np.int64]) -> tuple[IntArray, IntArray]:
    """Return per key the number of its group, and per group the index of one of its keys."""
    if not len(keys):
        return np.zeros(0, np.int32), np.zeros(0, np.int32)
    keys = keys - keys.min()
    largest = int(keys.max())
    if largest > 4 * len(keys) + 1024:
        _, indices, numbers = np.unique(keys, return_index=True, return_inverse=True)
        return numbers.astype(np.int32), indices.astype(np.int32)
    occurs = np.zeros(largest + 1, np.bool_)
    occurs[keys] = True
    groups: IntArray = (np.cumsum(occurs, dtype=np.int32) - np.int32(1))[keys].astype(np.int32)
    firsts: IntArray = np.zeros(int(groups.max()) + 1, np.int32)
    firsts[groups] = np.arange(len(keys), dtype=np.int32)
    return groups, firsts
