"""What each selector text says about each row, kept for texts in use and brought up to date when asked."""

from __future__ import annotations

from functools import partial

import numpy as np

from dra_allocator.arrays import BoolArray, IntArray, grown
from dra_allocator.budget import UNLIMITED, Budget
from dra_allocator.lru import ByteLru
from dra_allocator.table import Table
from dra_cel.derived import DerivedAttribute, compile_derived
from dra_cel.device import DeviceFields
from dra_cel.errors import CelError, CompileError, EvaluationError
from dra_cel.masks import Masks
from dra_cel.selector import Selector, start_compiling
from dra_cel.slices import Slices, rest

_COMPILED = 4096
_CHUNK = 1 << 13
"""Rows evaluated at a time."""
_REMEMBERED = 1 << 16
_NO_ROWS: IntArray = np.empty(0, np.int32)


class _Piece:
    """A budget for the smallest piece of work that is worth a question."""

    def exhausted(self) -> bool:
        return True


_PIECE = _Piece()


class SelectorMasks:
    """The masks of one selector over all rows of a table.

    A selector that does not compile is an error on every row. `position` counts the journal entries seen. Rows are
    evaluated in batches, each as work in slices, so that it does not matter who asks for how much of it. What an open
    row was found to be is remembered until the row changes: shared devices are visited on many nodes. `any_open` is
    whether there was an open row ever.
    """

    def __init__(self, table: Table, selector: Selector | CompileError) -> None:
        self.table = table
        self.selector = selector
        self.position = -1
        self._target = -1
        self._left: IntArray = _NO_ROWS
        self._batch: IntArray = _NO_ROWS
        self._work: Slices[Masks] | None = None
        self._match: BoolArray = np.zeros(0, np.bool_)
        self._open: BoolArray = np.zeros(0, np.bool_)
        self._failing: BoolArray = np.zeros(0, np.bool_)
        self._known: dict[int, tuple[bool | EvaluationError, int]] = {}
        self.any_open = False

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
        return 3 * len(self._match) + 300 * len(self._known) + 512

    @property
    def is_current(self) -> bool:
        """Whether all changes of the table are taken in."""
        return self.position == self.table.journal.position

    def resolve(self, row: int) -> bool:
        """Evaluate an open row; raises CompileError or EvaluationError, as the case may be. It may have rests."""
        return self.evaluate(row)[0]

    def evaluate(self, row: int) -> tuple[bool, int]:
        """Evaluate an open row; the result and its CEL cost. Raises as `resolve` does."""
        if isinstance(self.selector, CompileError):
            raise self.selector
        known = self._known.get(row)
        if known is None:
            position = self.table.journal.position
            known = _evaluated(self.selector, self.table.rows.columns.fields(row))
            self._remember(row, known, position)
        result, cost = known
        if isinstance(result, EvaluationError):
            raise result.with_traceback(None)
        return result, cost

    def _remember(self, row: int, known: tuple[bool | EvaluationError, int], position: int) -> None:
        """Remember what a row is, unless it has changed since a position of the journal."""
        changed = self.table.rows_since(position)
        if changed is not None and row not in changed:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            self._known[row] = known

    def try_resolve(self, row: int) -> bool:
        """Evaluate an open row; a failure counts as no match."""
        try:
            return self.resolve(row)
        except CelError:
            return False

    def catch_up(self, budget: Budget = UNLIMITED) -> bool:
        """Evaluate the rows that changed since the last time; return False if the budget ended it before.

        What changes while that goes on is evaluated again at its end.
        """
        while self._work is not None or self._begin():
            assert self._work is not None
            if not self._work.step(budget.exhausted):
                return False
            self._write(self._batch, self._work.value)
            self._work = None
            if budget.exhausted() and not self._is_done():
                return False
        return True

    def _is_done(self) -> bool:
        return not len(self._left) and self._target == self.table.journal.position

    def _begin(self) -> bool:
        """Begin with the next batch; return False if there is nothing left to do."""
        if not len(self._left):
            self.position = self._target
            if self.is_current:
                return False
            rows = self.table.rows_since(self.position) if self.position >= 0 else None
            if rows is None or 2 * len(rows) > len(self.table.rows):
                rows = np.arange(len(self.table.rows), dtype=np.int32)
            self._left, self._target = rows, self.table.journal.position
            total = len(self.table.rows)
            self._match, self._open = grown(self._match, total), grown(self._open, total)
            self._failing = grown(self._failing, total)
        self._batch, self._left = self._left[:_CHUNK], self._left[_CHUNK:]
        self._work = Slices(partial(_masks, self.selector, self.table, self._batch))
        return True

    def _write(self, rows: IntArray, masks: Masks) -> None:
        unsure = masks.error | masks.unknown
        self._match[rows], self._open[rows], self._failing[rows] = masks.match, unsure, masks.error
        self.any_open = self.any_open or bool(unsure.any())
        if self._known:
            for row in rows.tolist():
                self._known.pop(row, None)


def _masks(selector: Selector | CompileError, table: Table, rows: IntArray) -> Masks:
    if isinstance(selector, CompileError):
        none = np.zeros(len(rows), np.bool_)
        return Masks(none, ~none, none)
    return selector.masks(table.rows.columns, rows)


def _evaluated(selector: Selector, device: DeviceFields) -> tuple[bool | EvaluationError, int]:
    try:
        return selector.evaluate(device)
    except EvaluationError as error:
        error.__context__ = None  # what is remembered holds no stack
        return error.with_traceback(None), 0


class MaskStore:
    """Masks by selector text, bounded by bytes, and compiled expressions, bounded by number."""

    def __init__(self, max_bytes: int) -> None:
        self._masks: ByteLru[SelectorMasks] = ByteLru(max_bytes)
        self._compiled: ByteLru[Selector | CompileError | Slices[Selector]] = ByteLru(_COMPILED)
        self._derived: ByteLru[DerivedAttribute | CompileError] = ByteLru(_COMPILED)

    def get(self, table: Table, text: str) -> SelectorMasks:
        """Return the masks of a selector text, up to date, without a rest: see `prepare` and `settled`."""
        masks = self._masks.get((table, text))
        if masks is None or not masks.is_current:
            masks = self._entry(table, text, self.selector(text))
            masks.catch_up()
            self._masks.put((table, text), masks, masks.size)
        return masks

    def settled(self, table: Table, text: str) -> SelectorMasks:
        """Return the masks of a selector text with all changes up to this call; in slices that may have rests.

        What changes meanwhile may be missing: tables that never rest hold nobody up.
        """
        masks = self._masks.get((table, text))
        if masks is None or not masks.is_current:
            wanted = table.journal.position
            while (selector := self._compile(text, _PIECE)) is None:
                rest()
            masks = self._entry(table, text, selector)
            while masks.position < wanted and not masks.catch_up(_PIECE):
                rest()
            self._masks.put((table, text), masks, masks.size)
        return masks

    def prepare(self, table: Table, text: str, budget: Budget) -> bool:
        """Bring the masks of a selector text up to date; return False if the budget ended it before."""
        known = self._masks.get((table, text))
        if known is not None and known.is_current:
            return True
        selector = self._compile(text, budget)
        if selector is None:
            return False
        masks = self._entry(table, text, selector)
        done = masks.is_current or masks.catch_up(budget)
        self._masks.put((table, text), masks, masks.size)
        return done

    def selector(self, text: str) -> Selector | CompileError:
        """Return the compiled selector, or why there is none, without a rest."""
        found = self._compile(text, UNLIMITED)
        assert found is not None
        return found

    def _entry(self, table: Table, text: str, selector: Selector | CompileError) -> SelectorMasks:
        masks = self._masks.get((table, text))
        return SelectorMasks(table, selector) if masks is None else masks

    def _compile(self, text: str, budget: Budget) -> Selector | CompileError | None:
        """Return the compiled selector, or why there is none; None: the budget ended it before."""
        found = self._compiled.get(text)
        if isinstance(found, Selector | CompileError):
            return found
        work = start_compiling(text) if found is None else found
        compiled: Selector | CompileError | Slices[Selector] = work
        try:
            if work.step(budget.exhausted):
                compiled = work.value
        except CompileError as error:
            compiled = error
        self._compiled.put(text, compiled, 1)
        return None if isinstance(compiled, Slices) else compiled

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
