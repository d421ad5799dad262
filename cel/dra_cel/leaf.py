"""Leaves of a column program: evaluated once per distinct combination of the values they read."""

from __future__ import annotations

import math
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from dra_cel.columns import Column, ColumnKey, ColumnSource, RowArray
from dra_cel.device import DeviceFields
from dra_cel.errors import CostLimitExceeded, EvaluationError
from dra_cel.frame import COST_LIMIT, Frame, Step
from dra_cel.slices import tick
from dra_cel.states import ERROR, FALSE, TRUE, UNKNOWN, States

MAX_TABLE = 1 << 20
"""Combinations of codes up to which a table is indexed directly instead of sorting."""
MAX_REMEMBERED = 200_000


@dataclass(slots=True)
class Budget:
    """What one call may still spend on evaluating leaves; what is left over stays unknown.

    Attributes:
        evaluations: number of values or combinations.
        cost: units of cost.

    """

    evaluations: int
    cost: int

    @property
    def spent(self) -> bool:
        """Whether nothing is left."""
        return self.evaluations <= 0 or self.cost <= 0


class _Stub:
    """The part of a device that a leaf reads."""

    __slots__ = ("allow_multiple_allocations", "attributes", "capacity", "driver")

    def __init__(self) -> None:
        self.driver = ""
        self.attributes: dict[str, Any] = {}
        self.capacity: dict[str, Any] = {}
        self.allow_multiple_allocations = False


class _Memory:
    """What is known for one set of columns, as long as their codes mean the same."""

    __slots__ = ("_epochs", "_references", "_sizes", "_table", "several", "single")

    def __init__(self, columns: Sequence[Column]) -> None:
        self._references = [_reference(column) for column in columns]
        self._epochs = [column.epoch for column in columns]
        self.single: States = np.full(16, UNKNOWN, np.uint8)
        self.several: dict[tuple[int, ...], int] = {}
        self._sizes: list[int] = []
        self._table: States = self.single

    def table(self, sizes: list[int]) -> States:
        """Return the states of all combinations of codes, as far as they are known."""
        if self._sizes != sizes:
            self._sizes = sizes
            self._table = np.full(math.prod(sizes), UNKNOWN, np.uint8)
            for codes, state in self.several.items():
                self._table[np.ravel_multi_index(codes, sizes)] = state
        return self._table

    def serves(self, columns: Sequence[Column]) -> bool:
        """Return whether it was made for these columns in their present epoch."""
        for column, reference, epoch in zip(columns, self._references, self._epochs, strict=True):
            known = reference() if isinstance(reference, weakref.ref) else reference
            if known is not column or epoch != column.epoch:
                return False
        return True


def _reference(column: Column) -> Any:
    try:
        return weakref.ref(column)
    except TypeError:
        return column


def _missing(table: States, codes: Any) -> list[int]:
    """Return the codes that occur and whose state is not known, each once."""
    if len(codes) * 16 < len(table):
        missing: list[int] = np.unique(codes[table[codes] == UNKNOWN]).tolist()
        return missing
    occurs = np.zeros(len(table), np.bool_)
    occurs[codes] = True
    return np.flatnonzero(occurs & (table == UNKNOWN)).tolist()


class Leaf:
    """A part of an expression whose value is a bool, or whatever a dynamic value turns out to be.

    Evaluating may have a rest, in which columns and memory change. So what a call reads is fetched at its start:
    codes, and the lists of values that go with them (renumbering makes new lists). What it notes in a memory that is
    not the present one any more is lost, not wrong.

    Attributes:
        keys: the columns it reads; None: it may read everything, so it is never evaluated by columns.

    """

    __slots__ = ("_memory", "_slots", "_step", "keys")

    def __init__(self, step: Step, slots: int, keys: Sequence[ColumnKey] | None) -> None:
        self._step = step
        self._slots = slots
        self.keys = keys
        self._memory: _Memory | None = None

    def states(self, source: ColumnSource, rows: RowArray | None, budget: Budget) -> States:
        """Return the state of each row, UNKNOWN where the budget did not suffice."""
        tick()
        count = source.rows if rows is None else len(rows)
        if self.keys is None:
            return np.full(count, UNKNOWN, np.uint8)
        columns = [source.column(key) for key in self.keys]
        memory = self._memory
        if memory is None or not memory.serves(columns):
            memory = self._memory = _Memory(columns)
        if not columns:
            return np.full(count, self._constant(memory, budget), np.uint8)
        codes = [column.codes[: source.rows] if rows is None else column.codes[rows] for column in columns]
        if len(columns) == 1:
            return self._by_value(memory, columns[0], codes[0], budget)
        return self._by_combination(memory, columns, codes, budget)

    def _constant(self, memory: _Memory, budget: Budget) -> int:
        if memory.single[0] == UNKNOWN:
            memory.single[0] = self._evaluate((), budget)
        return int(memory.single[0])

    def _by_value(self, memory: _Memory, column: Column, codes: Any, budget: Budget) -> States:
        values = column.values
        table = memory.single
        if len(table) < len(values):
            grown = np.full(max(len(values), 2 * len(table)), UNKNOWN, np.uint8)
            grown[: len(table)] = table
            table = memory.single = grown
        states = table[codes]
        if (states == UNKNOWN).any():
            for code in _missing(table, codes):
                if budget.spent:
                    break
                table[code] = self._evaluate((values[code] if code else None,), budget)
            states = table[codes]
        return cast(States, states)

    def _by_combination(
        self, memory: _Memory, columns: Sequence[Column], codes: Sequence[Any], budget: Budget
    ) -> States:
        sizes = [len(column.values) for column in columns]
        if math.prod(sizes) > MAX_TABLE:
            return self._by_sorting(memory, columns, codes, budget)
        values = [column.values for column in columns]
        table = memory.table(sizes)
        keys = codes[0].astype(np.int64)
        for part, size in zip(codes[1:], sizes[1:], strict=True):
            keys = keys * size + part
        states = table[keys]
        if (states == UNKNOWN).any():
            for key in _missing(table, keys):
                combination = tuple([int(part) for part in np.unravel_index(key, sizes)])
                table[key] = self._combination(memory, values, combination, budget)
            states = table[keys]
        return cast(States, states)

    def _by_sorting(self, memory: _Memory, columns: Sequence[Column], codes: Sequence[Any], budget: Budget) -> States:
        """Evaluate combinations of so many values that a table of all of them would be too large."""
        keys = np.zeros(len(codes[0]), np.int64)
        for part, column in zip(codes, columns, strict=True):
            # Renumber at each step, so that the product stays within 64 bits.
            keys = np.unique(keys * len(column.values) + part, return_inverse=True)[1].astype(np.int64)
        values = [column.values for column in columns]
        _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        states = np.full(len(first), UNKNOWN, np.uint8)
        for index, row in enumerate(first.tolist()):
            combination = tuple([int(part[row]) for part in codes])
            states[index] = self._combination(memory, values, combination, budget)
        return states[inverse]

    def _combination(
        self, memory: _Memory, values: Sequence[Sequence[Any]], codes: tuple[int, ...], budget: Budget
    ) -> int:
        known = memory.several.get(codes)
        if known is not None:
            return known
        if budget.spent:
            return UNKNOWN
        if len(memory.several) >= MAX_REMEMBERED:
            memory.several.clear()
        result = self._evaluate(
            [known[code] if code else None for known, code in zip(values, codes, strict=True)], budget
        )
        if result != UNKNOWN:
            memory.several[codes] = result
        return result

    def _evaluate(self, values: Sequence[Any], budget: Budget) -> int:
        tick()
        stub = _Stub()
        for key, value in zip(self.keys or (), values, strict=True):
            if value is None:
                continue
            if key.kind == "attribute":
                stub.attributes[key.name] = value
            elif key.kind == "capacity":
                stub.capacity[key.name] = value
            elif key.kind == "driver":
                stub.driver = value
            else:
                stub.allow_multiple_allocations = value
        frame = Frame(cast(DeviceFields, stub), self._slots, min(COST_LIMIT, max(budget.cost, 1)))
        try:
            value = self._step(frame)
            frame.check_cost()
            state = TRUE if value is True else FALSE if value is False else ERROR
        except CostLimitExceeded:
            # Only Kubernetes' own limit is an error; what is too dear for this call is left for later.
            state = ERROR if frame.limit == COST_LIMIT else UNKNOWN
        except EvaluationError:
            state = ERROR
        budget.evaluations -= 1
        budget.cost -= frame.cost
        return state
