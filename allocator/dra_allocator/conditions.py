"""Which part of a selector devices do not meet, and what they have instead."""

from __future__ import annotations

import numpy as np

from dra_allocator.arrays import BoolArray, IntArray
from dra_allocator.effort import Effort
from dra_allocator.facts import Condition
from dra_allocator.masks import MaskStore
from dra_allocator.published import Published
from dra_allocator.table import Table
from dra_cel.columns import ColumnKey
from dra_cel.conjunction import conjuncts
from dra_cel.errors import CompileError, EvaluationError
from dra_cel.selector import Selector

_MAX_PARTS = 16
_MAX_NAMES = 3
_TOLD = 3
_EVALUATIONS, _COST = 256, 2_000
"""What one part may evaluate anew: half a millisecond. Devices beyond that are not counted."""


class Conditions:
    """The operands of a selector's outermost `&&`, each looked at by itself."""

    def __init__(self, table: Table, store: MaskStore, text: str, effort: Effort) -> None:
        self._table = table
        self._store = store
        self._text = text
        self._effort = effort

    def unmet(self, rows: BoolArray) -> tuple[Condition, ...]:
        """Return the parts that fail or are false on some of the rows, those with most rows first.

        A selector that does not compile is one part, with the compile error.
        """
        numbers: IntArray = np.flatnonzero(rows).astype(np.int32)
        if not len(numbers):
            return ()
        whole = self._store.selector(self._text)
        if isinstance(whole, CompileError):
            return (Condition(self._text, 0, len(numbers), len(numbers), str(whole)),)
        found = [self._look(part, numbers) for part in conjuncts(self._text)[:_MAX_PARTS]]
        unmet = [one for one in found if one is not None and one.false + one.failing]
        unmet.sort(key=lambda one: -(one.false + one.failing))
        return tuple(unmet[:_TOLD])

    def _look(self, text: str, rows: IntArray) -> Condition | None:
        selector = self._store.selector(text) if self._effort.take_part(text) else None
        if selector is None or isinstance(selector, CompileError):
            return None
        masks = selector.masks(self._table.rows.columns, rows, evaluations=_EVALUATIONS, cost=_COST)
        false = ~(masks.match | masks.error | masks.unknown)
        unmet = rows[false | masks.error]
        if not len(unmet):
            return Condition(text, 0, 0, len(rows))
        error = self._error(selector, rows[masks.error])
        published = Published(self._table, unmet, self._effort)
        values = tuple(published.values(key) for key in _named(selector))
        return Condition(
            text, int(np.count_nonzero(false)), int(np.count_nonzero(masks.error)), len(rows), error, values
        )

    def _error(self, selector: Selector, failing: IntArray) -> str:
        if not len(failing):
            return ""
        try:
            selector.matches(self._table.rows.columns.fields(int(failing[0])))
        except EvaluationError as error:
            return error.message
        return ""


def _named(selector: Selector) -> list[ColumnKey]:
    """Return the names that a selector reads, as far as that is known; the driver only where it reads nothing else."""
    reads = sorted(selector.reads or (), key=lambda key: (key.kind, key.name))
    named = [key for key in reads if key.kind in ("attribute", "capacity")]
    return named[:_MAX_NAMES] or [key for key in reads if key.kind == "driver"]
