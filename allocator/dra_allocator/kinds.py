"""What rows are to a request: nothing, a device, one that rules may refuse, one to be looked at, or an error."""

from __future__ import annotations

import numpy as np

from dra_allocator.arrays import BoolArray, ByteArray, IntArray
from dra_allocator.masks import MaskStore
from dra_allocator.occupancy import FREE, SHARED
from dra_allocator.portion import FAILS as CAPACITY_FAILS
from dra_allocator.portion import SERVED, UNSERVED, Portion
from dra_allocator.rules.fitness import blocking_taints, is_tolerated
from dra_allocator.signature import Signature
from dra_allocator.sums import BOUND, COUNTED, FAILS, LOOK, NONE
from dra_allocator.taint_rules import TaintRules
from dra_allocator.traits import Traits
from dra_allocator.usability import SUSPECT, UNUSABLE
from dra_allocator.view import View

_KIND, _SHAREABLE, _ALWAYS = 7, 8, 16
"""Bits of what a row is whoever holds it: a code of `sums`, may be shared, counts also while it is held."""
Where = IntArray | slice


class RowKinds:
    """What rows are to requests of one signature.

    `fixed` is what a row is whoever holds it, in bits of this module; `code` and `codes` turn it into codes of `sums`.
    """

    def __init__(self, view: View, masks: MaskStore, signature: Signature) -> None:
        """`view`: without an overlay."""
        self._view = view
        self._store = masks
        self._signature = signature
        features = view.features
        self._portion = Portion(view.table, dict(signature.capacity), features.fractional_capacity_range)
        self._shares = features.consumable_capacity and not signature.admin

    def code(self, view: View, row: int, fixed: int, held: int, blocked: bool) -> int:
        """Return what a row is, held like this in a view; blocked: counters leave nothing of it."""
        kind = fixed & _KIND
        if self._signature.admin or fixed & _ALWAYS:
            return kind
        if held == FREE:
            return NONE if blocked and kind == BOUND else kind
        if held != SHARED or not fixed & _SHAREABLE or (blocked and kind == BOUND):
            return NONE
        return self._beside(view, row) if kind == BOUND and self._shares else kind

    def codes(self, rows: Where, fixed: ByteArray, held: ByteArray, blocked: BoolArray) -> ByteArray:
        """Like `code` in the view without overlay, for many rows."""
        codes: ByteArray = fixed & np.uint8(_KIND)
        if self._signature.admin:
            return codes
        always, shared = (fixed & _ALWAYS) > 0, (held == SHARED) & ((fixed & _SHAREABLE) > 0)
        codes[~((held == FREE) | always | shared)] = NONE
        codes[(codes == BOUND) & blocked & ~always] = NONE
        if self._shares:
            first = rows.start if isinstance(rows, slice) else 0
            for at in np.flatnonzero(shared & (codes == BOUND)).tolist():
                codes[at] = self._beside(self._view, first + at if isinstance(rows, slice) else int(rows[at]))
        return codes

    def _beside(self, view: View, row: int) -> int:
        """Return what a row is of which others have shares."""
        answer = self._portion.beside(view, row)
        return BOUND if answer == SERVED else LOOK if answer == CAPACITY_FAILS else NONE

    def fixed(self, rows: Where) -> ByteArray:
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
        if self._signature.capacity:
            self._ask_for_capacity(rows, fixed)
        return fixed

    def _ask_for_capacity(self, rows: Where, fixed: ByteArray) -> None:
        """Take out what cannot serve the amounts asked for; what is an error must be looked at."""
        at = np.flatnonzero(((fixed & _KIND) == COUNTED) | ((fixed & _KIND) == BOUND))
        if not len(at):
            return
        numbers = np.arange(rows.start, rows.stop, dtype=np.int32)[at] if isinstance(rows, slice) else rows[at]
        answers = self._portion.of_rows(numbers)
        fixed[at[answers == UNSERVED]] = NONE
        failing = at[answers == CAPACITY_FAILS]
        fixed[failing] = LOOK | (fixed[failing] & _SHAREABLE)

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
