"""What each selector text says about each row, kept for texts in use and brought up to date when asked."""

from __future__ import annotations

import numpy as np

from dra_allocator.arrays import BoolArray, IntArray, grown
from dra_allocator.budget import UNLIMITED, Budget
from dra_allocator.lru import ByteLru
from dra_allocator.table import Table
from dra_cel.derived import DerivedAttribute, compile_derived
from dra_cel.errors import CelError, CompileError
from dra_cel.masks import Masks
from dra_cel.selector import Selector, compile_selector

_COMPILED = 4096
_CHUNK = 1 << 13
"""Rows evaluated between two questions to the budget: about a millisecond."""


class SelectorMasks:
    """The masks of one selector over all rows of a table.

    A selector that does not compile is an error on every row. `position` counts the journal entries seen.
    """

    def __init__(self, table: Table, selector: Selector | CompileError) -> None:
        self.table = table
        self.selector = selector
        self.position = -1
        self._started = -1
        self._next_row = 0
        self._match: BoolArray = np.zeros(0, np.bool_)
        self._open: BoolArray = np.zeros(0, np.bool_)
        self._failing: BoolArray = np.zeros(0, np.bool_)

    @property
    def match(self) -> BoolArray:
        """Rows for which the selector is true."""
        return self._match[: len(self.table.rows)]

    @property
    def open(self) -> BoolArray:
        """Rows for which evaluating it fails, or has not been tried: `resolve` tells."""
        return self._open[: len(self.table.rows)]

    @property
    def failing(self) -> BoolArray:
        """Those of the open rows for which evaluating it is known to fail."""
        return self._failing[: len(self.table.rows)]

    @property
    def size(self) -> int:
        """Bytes used."""
        return 3 * len(self._match) + 512

    def resolve(self, row: int) -> bool:
        """Evaluate an open row; raises CompileError or EvaluationError, as the case may be."""
        return self.evaluate(row)[0]

    def evaluate(self, row: int) -> tuple[bool, int]:
        """Evaluate an open row; the result and its CEL cost. Raises as `resolve` does."""
        if isinstance(self.selector, CompileError):
            raise self.selector
        return self.selector.evaluate(self.table.rows.columns.fields(row))

    def try_resolve(self, row: int) -> bool:
        """Evaluate an open row; a failure counts as no match."""
        try:
            return self.resolve(row)
        except CelError:
            return False

    def catch_up(self, budget: Budget = UNLIMITED) -> bool:
        """Evaluate the rows that changed since the last time; return False if the budget ended it before.

        All rows are evaluated in chunks. What changes while that goes on is evaluated again at its end.
        """
        journal = self.table.journal
        while self.position != journal.position:
            rows = self.table.rows_since(self.position) if self.position >= 0 else None
            if rows is not None and 2 * len(rows) <= len(self.table.rows):
                position = journal.position
                self._write(rows)
                self.position = position
            elif not self._evaluate_all(budget):
                return False
        return True

    def _evaluate_all(self, budget: Budget) -> bool:
        """Go on with evaluating all rows; return whether it is done."""
        if self._next_row == 0:
            self.position, self._started = -1, self.table.journal.position
        while self._next_row < len(self.table.rows):
            end = min(self._next_row + _CHUNK, len(self.table.rows))
            self._write(np.arange(self._next_row, end, dtype=np.int32))
            self._next_row = end
            if end < len(self.table.rows) and budget.exhausted():
                return False
        self._next_row = 0
        self.position = self._started
        return True

    def _write(self, rows: IntArray) -> None:
        total = len(self.table.rows)
        self._match, self._open = grown(self._match, total), grown(self._open, total)
        self._failing = grown(self._failing, total)
        if len(rows):
            masks = self._evaluate(rows)
            self._match[rows], self._open[rows] = masks.match, masks.error | masks.unknown
            self._failing[rows] = masks.error

    def _evaluate(self, rows: IntArray) -> Masks:
        if isinstance(self.selector, CompileError):
            none = np.zeros(len(rows), np.bool_)
            return Masks(none, ~none, none)
        return self.selector.masks(self.table.rows.columns, rows)


class MaskStore:
    """Masks by selector text, bounded by bytes, and compiled expressions, bounded by number."""

    def __init__(self, max_bytes: int) -> None:
        self._masks: ByteLru[SelectorMasks] = ByteLru(max_bytes)
        self._compiled: ByteLru[Selector | CompileError] = ByteLru(_COMPILED)
        self._derived: ByteLru[DerivedAttribute | CompileError] = ByteLru(_COMPILED)

    def get(self, table: Table, text: str) -> SelectorMasks:
        """Return the masks of a selector text, up to date."""
        masks = self._masks.get((table, text))
        if masks is None or masks.position != table.journal.position:
            masks = self._caught_up(table, text, UNLIMITED)
        return masks

    def prepare(self, table: Table, text: str, budget: Budget) -> bool:
        """Bring the masks of a selector text up to date; return False if the budget ended it before."""
        masks = self._caught_up(table, text, budget)
        return masks.position == table.journal.position

    def _caught_up(self, table: Table, text: str, budget: Budget) -> SelectorMasks:
        key = table, text
        masks = self._masks.get(key)
        if masks is None:
            masks = SelectorMasks(table, self.selector(text))
        masks.catch_up(budget)
        self._masks.put(key, masks, masks.size)
        return masks

    def selector(self, text: str) -> Selector | CompileError:
        """Return the compiled selector, or why there is none."""
        found = self._compiled.get(text)
        if found is None:
            try:
                found = compile_selector(text)
            except CompileError as error:
                found = error
            self._compiled.put(text, found, 1)
        return found

    def derived(self, text: str) -> DerivedAttribute | CompileError:
        """Return the compiled expression of a derived attribute, or why there is none."""
        found = self._derived.get(text)
        if found is None:
            try:
                found = compile_derived(text)
            except CompileError as error:
                found = error
            self._derived.put(text, found, 1)
        return found
