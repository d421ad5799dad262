"""Which part of a selector devices do not meet, and what they have instead."""

from __future__ import annotations

from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True)
class _Part:
    """An operand, and on which of the rows that were looked at it is false or fails."""

    text: str
    selector: Selector
    false: BoolArray
    failing: BoolArray


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
        parts = [part for text in conjuncts(self._text)[:_MAX_PARTS] if (part := self._look(text, numbers)) is not None]
        # `&&` takes no notice of an operand that fails where another one is false.
        decided: BoolArray = np.zeros(len(numbers), np.bool_)
        for part in parts:
            decided |= part.false
        found = [self._told(part, part.failing & ~decided, numbers) for part in parts]
        unmet = [one for one in found if one.false + one.failing]
        unmet.sort(key=lambda one: -(one.false + one.failing))
        return tuple(unmet[:_TOLD])

    def _look(self, text: str, rows: IntArray) -> _Part | None:
        selector = self._store.selector(text) if self._effort.take_part(text) else None
        if selector is None or isinstance(selector, CompileError):
            return None
        masks = selector.masks(self._table.rows.columns, rows, evaluations=_EVALUATIONS, cost=_COST)
        return _Part(text, selector, ~(masks.match | masks.error | masks.unknown), masks.error)

    def _told(self, part: _Part, failing: BoolArray, rows: IntArray) -> Condition:
        unmet = rows[part.false | failing]
        if not len(unmet):
            return Condition(part.text, 0, 0, len(rows))
        error = self._error(part.selector, rows[failing])
        published = Published(self._table, unmet, self._effort)
        values = tuple(published.values(key) for key in _named(part.selector))
        false = int(np.count_nonzero(part.false))
        return Condition(part.text, false, int(np.count_nonzero(failing)), len(rows), error, values)

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
