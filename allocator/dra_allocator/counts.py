"""How many devices each node has for a request, for all nodes at once, kept up to date by the rows that change.

The count of a node is exact for devices that are simply free or not, and an upper bound where shares, counters or
constraints decide. Nodes with a device that must be looked at (its selector is not evaluated yet, its pool looks
different from node to node) are told apart, and so are those with a device on which a selector fails.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dra_allocator.arrays import BoolArray, ByteArray, IntArray, grown
from dra_allocator.budget import UNLIMITED, Budget
from dra_allocator.claim import Toleration
from dra_allocator.journal import Journal
from dra_allocator.masks import MaskStore
from dra_allocator.occupancy import FREE, SHARED, usage
from dra_allocator.requests import ResolvedRequest
from dra_allocator.rules.fitness import blocking_taints, is_tolerated
from dra_allocator.sums import AVAILABLE, BOUND, COUNTED, FAILING, FAILS, LOOK, NONE, UNKNOWN, Longs, Sums, part_of
from dra_allocator.table import Table
from dra_allocator.taint_rules import TaintRules
from dra_allocator.traits import Traits
from dra_allocator.usability import SUSPECT, UNUSABLE
from dra_allocator.view import View
from dra_allocator.visibility import NOWHERE, scope_of_home

_KIND, _SHAREABLE, _ALWAYS = 7, 8, 16
"""Bits of what a row is whoever holds it: a code of `sums`, may be shared, counts also while it is held."""
_CHUNK = 1 << 16
"""Rows counted between two questions to the budget: about two milliseconds."""
_TOUCHED = 1 << 12
Where = IntArray | slice


@dataclass(frozen=True, slots=True)
class Signature:
    """All that decides which devices a request can have: equal requests share their counts."""

    selectors: tuple[str, ...]
    tolerations: tuple[Toleration, ...]
    admin: bool

    @classmethod
    def of(cls, request: ResolvedRequest) -> Signature:
        """Return the signature of a request."""
        texts = tuple(selector.text for selector in request.selectors)
        return cls(texts, request.spec.tolerations, request.spec.admin_access)


class RequestCounts:
    """The counts of one signature. `catch_up` before reading.

    Attributes:
        bounds: number of free rows that are BOUND.
        touched: ids of the nodes with local rows that have become something else, since `recounts` was last raised.
        recounts: how often all rows were counted.

    """

    def __init__(self, view: View, masks: MaskStore, signature: Signature) -> None:
        self._view = view
        self._store = masks
        self._signature = signature
        self._table_position = -1
        self._ledger_position = -1
        self._taint_version = -1
        self._started = (-1, -1)
        self._next_row = 0
        self._fixed: ByteArray = np.zeros(0, np.uint8)
        self._codes: ByteArray = np.zeros(0, np.uint8)
        self._homes: IntArray = np.zeros(0, np.int32)
        self._sums = Sums()
        self.bounds = 0
        self.recounts = 0
        self.touched: Journal[int] = Journal(_TOUCHED)

    @property
    def codes(self) -> ByteArray:
        """NONE, COUNTED, LOOK or BOUND per row."""
        return self._codes[: len(self._view.table.rows)]

    @property
    def homes(self) -> IntArray:
        """Per row its home when it was counted."""
        return self._homes[: len(self._view.table.rows)]

    @property
    def table(self) -> Table:
        """The table whose rows are counted."""
        return self._view.table

    def shared(self, part: int) -> bool:
        """Return whether rows of scopes that several nodes share are summed in a part."""
        return self._sums.is_shared(part)

    def overlaid_homes(self, view: View) -> set[int]:
        """Return the homes of the rows that the view's overlay concerns."""
        return {int(self._homes[row]) for row, _ in self._overlaid(view)}

    @property
    def size(self) -> int:
        """Bytes used."""
        return len(self._codes) * 6 + self._sums.nbytes + 1024

    def is_current(self) -> bool:
        """Return whether nothing has changed since the last time."""
        table, ledger = self._view.table, self._view.ledger
        return (
            self._table_position == table.journal.position
            and self._ledger_position == ledger.journal.position
            and self._taint_version == table.taint_version
        )

    def catch_up(self, budget: Budget = UNLIMITED) -> bool:
        """Take in what has changed; return False if the budget ended it before.

        All rows are counted in chunks. What changes while that goes on is taken in at its end.
        """
        while not self.is_current():
            changed = self._changed_rows()
            moved = self._view.occupancy.changed_rows(self._ledger_position) if self._ledger_position >= 0 else None
            if changed is None or moved is None:
                if not self._count_all(budget):
                    return False
                continue
            table, ledger = self._view.table, self._view.ledger
            positions = table.journal.position, ledger.journal.position
            if len(changed):
                self._replace(changed)
            states = self._view.occupancy.states()
            for row in moved:
                self._set(row, self._code(int(self._fixed[row]), int(states[row])))
            self._table_position, self._ledger_position = positions
        return True

    def available(self, view: View) -> Longs:
        """Return the number of devices per node id in the view's eyes. The array is not the caller's to change."""
        return self._total(view, AVAILABLE)

    def unknown(self, view: View) -> Longs | None:
        """Return per node id how many devices must be looked at; None: no node has any."""
        return self._total(view, UNKNOWN) if self._sums.any(UNKNOWN) or view.overlay.devices else None

    def failing(self, view: View) -> Longs | None:
        """Return per node id on how many devices a selector fails; None: no node has any."""
        return self._total(view, FAILING) if self._sums.any(FAILING) or view.overlay.devices else None

    # What rows are.

    def _code(self, fixed: int, held: int) -> int:
        """Return what a row is, held like this."""
        kind = fixed & _KIND
        if held == FREE or self._signature.admin or fixed & _ALWAYS or (held == SHARED and fixed & _SHAREABLE):
            return kind
        return NONE

    def _codes_of(self, fixed: ByteArray, held: ByteArray) -> ByteArray:
        """Like `_code`, for many rows."""
        codes: ByteArray = fixed & np.uint8(_KIND)
        if not self._signature.admin:
            usable = (held == FREE) | ((fixed & _ALWAYS) > 0) | ((held == SHARED) & ((fixed & _SHAREABLE) > 0))
            codes[~usable] = NONE
        return codes

    def _fix(self, rows: Where) -> ByteArray:
        """Return what rows are whoever holds them."""
        table = self._view.table
        usable = self._view.usability.states()[rows]
        selectable, fits, kinds = self._of_traits(table.rows.traits_ids[rows])
        if self._view.features.device_taints:
            for taint, marked in TaintRules.of(table, self._store).marked():
                if not is_tolerated(taint, self._signature.tolerations):
                    fits &= ~marked[rows]
        alive, undecided, failing = self._selected(rows, (usable != UNUSABLE) & selectable)
        fixed: ByteArray = np.where(alive & fits, kinds, np.uint8(NONE))
        shareable = kinds & np.uint8(_SHAREABLE)
        fixed[undecided] = LOOK | shareable[undecided]
        fixed[failing] = FAILS | shareable[failing]
        fixed[usable == SUSPECT] = LOOK | _ALWAYS
        return fixed

    def _selected(self, rows: Where, usable: BoolArray) -> tuple[BoolArray, BoolArray, BoolArray]:
        """Return the rows that are selected, those that are not decided yet, and those that are known to fail."""
        alive = usable.copy()
        undecided = np.zeros(len(alive), np.bool_)
        failing = np.zeros(len(alive), np.bool_)
        for text in self._signature.selectors:
            masks = self._store.get(self._view.table, text)
            failing |= alive & masks.failing[rows]
            undecided |= alive & masks.open[rows]
            alive &= masks.match[rows]
        return alive, undecided, failing

    def _of_traits(self, traits_ids: IntArray) -> tuple[BoolArray, BoolArray, ByteArray]:
        """Return per row whether its selectors are asked, whether its traits fit, and what it is if they do."""
        traits = self._view.table.rows.traits
        selectable = np.zeros(len(traits), np.bool_)
        fits = np.zeros(len(traits), np.bool_)
        kinds = np.zeros(len(traits), np.uint8)
        for traits_id in np.flatnonzero(np.bincount(traits_ids)).tolist():
            one = traits[traits_id]
            binding = not one.binding_conditions or self._view.features.binding_conditions
            selectable[traits_id] = one.unsupported is None and binding
            fits[traits_id] = self._fits(one)
            kinds[traits_id] = self._kind(one)
        return selectable[traits_ids], fits[traits_ids], kinds[traits_ids]

    def _kind(self, traits: Traits) -> int:
        if traits.unreadable is not None and self._signature.selectors:
            kind = FAILS
        else:
            kind = COUNTED if traits.is_plain else BOUND
        shareable = traits.allow_multiple_allocations and self._view.features.consumable_capacity
        return kind | (_SHAREABLE if shareable else 0)

    def _fits(self, traits: Traits) -> bool:
        features = self._view.features
        if traits.consumes_counters and not features.partitionable_devices:
            return False
        if not features.device_taints:
            return True
        return all(is_tolerated(taint, self._signature.tolerations) for taint in blocking_taints(traits.taints))

    # Keeping up.

    def _changed_rows(self) -> IntArray | None:
        """Return the rows that the table changed, None if it is better to start afresh."""
        table = self._view.table
        if self._table_position < 0 or table.taint_version != self._taint_version:
            return None
        changed = table.rows_since(self._table_position)
        return None if changed is None or 2 * len(changed) > len(table.rows) else changed

    def _count_all(self, budget: Budget) -> bool:
        """Go on with counting all rows; return whether it is done."""
        table = self._view.table
        if self._next_row == 0 or self._started[1] != table.taint_version:
            self._next_row, self._started = 0, (table.journal.position, table.taint_version)
        while self._next_row < len(table.rows):
            end = min(self._next_row + _CHUNK, len(table.rows))
            self._fixed = grown(self._fixed, len(table.rows))
            self._fixed[self._next_row : end] = self._fix(slice(self._next_row, end))
            self._next_row = end
            if end < len(table.rows) and budget.exhausted():
                return False
        self._next_row = 0
        self._codes = self._codes_of(self._fixed[: len(table.rows)], self._view.occupancy.states())
        self._homes = table.rows.homes.copy()
        self._sums = Sums.of(self._codes, self._homes, max(len(table.nodes), 1))
        self.bounds = int(np.count_nonzero(self._codes == BOUND))
        self.recounts += 1
        self._table_position, self._taint_version = self._started
        self._ledger_position = self._view.ledger.journal.position
        return True

    def _replace(self, rows: IntArray) -> None:
        table = self._view.table
        size = len(table.rows)
        self._fixed, self._codes = grown(self._fixed, size), grown(self._codes, size)
        self._homes = grown(self._homes, size, NOWHERE)
        self._sums.grow(len(table.nodes))
        for row in rows.tolist():
            self._set(row, NONE)
        self._fixed[rows] = self._fix(rows)
        self._homes[rows] = table.rows.homes[rows]
        codes = self._codes_of(self._fixed[rows], self._view.occupancy.states()[rows])
        for row, code in zip(rows.tolist(), codes.tolist(), strict=True):
            self._set(row, code)

    def _set(self, row: int, code: int) -> None:
        before = int(self._codes[row])
        if before == code:
            return
        self._codes[row] = code
        self.bounds += (code == BOUND) - (before == BOUND)
        home = int(self._homes[row])
        self._sums.move(home, before, code)
        if home >= 0:
            self.touched.add(home)

    def _total(self, view: View, part: int) -> Longs:
        total = self._sums.per_node(view.table.scopes, len(view.table.nodes), part)
        for row, code in self._overlaid(view):
            change = (part_of(code) == part) - (part_of(int(self._codes[row])) == part)
            if change:
                total = total + change * self._nodes_of(view, row)
        return total

    def _overlaid(self, view: View) -> Iterator[tuple[int, int]]:
        """Yield the rows of devices whose holders the view's overlay changes, with what they are then."""
        for device in view.overlay.devices:
            for row in view.table.rows_of(device):
                yield row, self._code(int(self._fixed[row]), usage(view.holders(device)))

    def _nodes_of(self, view: View, row: int) -> Longs:
        home = int(self._homes[row])
        nodes = np.zeros(len(view.table.nodes), np.int64)
        if home >= 0:
            nodes[home] = 1
        elif home != NOWHERE:
            nodes += view.table.scopes.mask(scope_of_home(home), len(nodes))
        return nodes
