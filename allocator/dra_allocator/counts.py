"""How many devices each node has for a request, for all nodes at once, kept up to date by the rows that change.

The count of a node is exact for devices that are simply free or not, and an upper bound where shares, counters or
constraints decide. Nodes with a device that must be looked at (its selector fails or is not evaluated yet, its pool
looks different from node to node) are flagged: counts do not decide these.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dra_allocator.arrays import BoolArray, ByteArray, IntArray, grown
from dra_allocator.claim import Toleration
from dra_allocator.masks import MaskStore, SelectorMasks
from dra_allocator.occupancy import FREE, SHARED, usage
from dra_allocator.requests import ResolvedRequest
from dra_allocator.rules.fitness import is_tolerated
from dra_allocator.taint_rules import TaintRules
from dra_allocator.traits import Traits
from dra_allocator.usability import SUSPECT, UNUSABLE
from dra_allocator.view import View
from dra_allocator.visibility import NOWHERE, scope_of_home

NONE, COUNTED, LOOK, BOUND = 0, 1, 2, 3
"""What a row is to a request: nothing, a device, to be looked at, a device that rules may refuse."""

Longs = npt.NDArray[np.int64]
_ALL = slice(None)
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
        codes: NONE, COUNTED, LOOK or BOUND per row.
        bounds: number of BOUND rows.

    """

    def __init__(self, view: View, masks: MaskStore, signature: Signature) -> None:
        self._view = view
        self._store = masks
        self._signature = signature
        self._table_position = -1
        self._ledger_position = -1
        self._taint_version = -1
        self._codes: ByteArray = np.zeros(0, np.uint8)
        self._homes: IntArray = np.zeros(0, np.int32)
        self._local: dict[int, Longs] = {}
        self._shared: dict[int, dict[int, int]] = {}
        self.bounds = 0

    @property
    def codes(self) -> ByteArray:
        """What each row is to the request."""
        return self._codes[: len(self._view.table.rows)]

    @property
    def size(self) -> int:
        """Bytes used."""
        return len(self._codes) * 5 + sum(counts.nbytes for counts in self._local.values()) + 1024

    def catch_up(self) -> bool:
        """Take in what has changed; return whether anything had to be read."""
        table, ledger = self._view.table, self._view.ledger
        position, held, taints = table.journal.position, ledger.journal.position, table.taint_version
        if (position, held, taints) == (self._table_position, self._ledger_position, self._taint_version):
            return False
        changed = table.rows_since(self._table_position) if self._table_position >= 0 else None
        moved = self._view.occupancy.changed_rows(self._ledger_position) if self._ledger_position >= 0 else None
        if changed is None or moved is None or taints != self._taint_version or 2 * len(changed) > len(table.rows):
            self._recount()
        else:
            self._grow()
            rows = np.union1d(changed, np.array(moved, np.int32)) if len(changed) else np.array(moved, np.int32)
            if len(rows):
                self._replace(rows.astype(np.int32))
        self._table_position, self._ledger_position, self._taint_version = position, held, taints
        return True

    def available(self, view: View) -> Longs:
        """Return the number of devices per node id in the view's eyes; flagged nodes have at least so many."""
        return self._total(view, (COUNTED, BOUND))

    def flagged(self, view: View) -> BoolArray:
        """Return per node id whether it has a device that must be looked at."""
        return self._total(view, (LOOK,)) > 0

    # Codes.

    def _code(self, rows: Where, held: ByteArray) -> ByteArray:
        """Return the codes of rows, given how they are held."""
        table = self._view.table
        usable = self._view.usability.states()[rows]
        traits_ids = table.rows.traits_ids[rows]
        fits, plain = self._fit_of_traits(traits_ids)
        alive, undecided = self._selected(rows, usable != UNUSABLE)
        if self._view.features.device_taints:
            for taint, marked in TaintRules.of(table, self._store).marked():
                if not is_tolerated(taint, self._signature.tolerations):
                    fits &= ~marked[rows]
        code: ByteArray = np.where(alive & fits, np.where(plain, COUNTED, BOUND), NONE).astype(np.uint8)
        code[undecided] = LOOK
        if not self._signature.admin:
            code[~((held == FREE) | ((held == SHARED) & self._shareable(traits_ids)))] = NONE
        code[usable == SUSPECT] = LOOK
        return code

    def _selected(self, rows: Where, usable: BoolArray) -> tuple[BoolArray, BoolArray]:
        alive = usable.copy()
        undecided = np.zeros(len(alive), np.bool_)
        for masks in self._masks():
            undecided |= alive & masks.open[rows]
            alive &= masks.match[rows]
        return alive, undecided

    def _masks(self) -> Iterator[SelectorMasks]:
        for text in self._signature.selectors:
            yield self._store.get(self._view.table, text)

    def _fit_of_traits(self, traits_ids: IntArray) -> tuple[BoolArray, BoolArray]:
        """Return per row whether its traits allow the request at all, and whether they leave nothing to rules."""
        fits = np.zeros(len(self._view.table.rows.traits), np.bool_)
        plain = np.zeros_like(fits)
        for traits_id in np.unique(traits_ids).tolist():
            traits = self._view.table.rows.traits[traits_id]
            fits[traits_id] = self._fits(traits)
            plain[traits_id] = traits.is_plain and traits.unreadable is None
        return fits[traits_ids], plain[traits_ids]

    def _fits(self, traits: Traits) -> bool:
        features = self._view.features
        if traits.unsupported is not None or (traits.binding_conditions and not features.binding_conditions):
            return False
        if traits.consumes_counters and not features.partitionable_devices:
            return False
        if not features.device_taints:
            return True
        blocking = [taint for taint in traits.taints if taint.effect in ("NoSchedule", "NoExecute")]
        return all(is_tolerated(taint, self._signature.tolerations) for taint in blocking)

    def _shareable(self, traits_ids: IntArray) -> BoolArray:
        if not self._view.features.consumable_capacity:
            return np.zeros(len(traits_ids), np.bool_)
        traits = self._view.table.rows.traits
        shareable = np.zeros(len(traits), np.bool_)
        for traits_id in np.unique(traits_ids).tolist():
            shareable[traits_id] = traits[traits_id].allow_multiple_allocations
        return shareable[traits_ids]

    # Sums.

    def _recount(self) -> None:
        table = self._view.table
        self._codes = self._code(_ALL, self._view.occupancy.states())
        self._homes = table.rows.homes.copy()
        size = max(len(table.nodes), 1)
        self._local, self._shared, self.bounds = {}, {}, 0
        for code in (COUNTED, LOOK, BOUND):
            homes = self._homes[self._codes == code]
            self._local[code] = np.bincount(homes[homes >= 0], minlength=size).astype(np.int64)
            numbers, counts = np.unique(homes[homes < NOWHERE], return_counts=True)
            self._shared[code] = {
                scope_of_home(home): count for home, count in zip(numbers.tolist(), counts.tolist(), strict=True)
            }
        self.bounds = int(np.count_nonzero(self._codes == BOUND))

    def _grow(self) -> None:
        table = self._view.table
        self._codes = grown(self._codes, len(table.rows))
        self._homes = grown(self._homes, len(table.rows), NOWHERE)
        for code, counts in self._local.items():
            self._local[code] = grown(counts, len(table.nodes))

    def _replace(self, rows: IntArray) -> None:
        self._add(rows, -1)
        self._codes[rows] = self._code(rows, self._view.occupancy.states()[rows])
        self._homes[rows] = self._view.table.rows.homes[rows]
        self._add(rows, 1)

    def _add(self, rows: IntArray, sign: int) -> None:
        for code, home in zip(self._codes[rows].tolist(), self._homes[rows].tolist(), strict=True):
            if code == NONE:
                continue
            if code == BOUND:
                self.bounds += sign
            if home >= 0:
                self._local[code][home] += sign
            elif home != NOWHERE:
                shared = self._shared[code]
                number = scope_of_home(home)
                shared[number] = shared.get(number, 0) + sign

    def _total(self, view: View, codes: tuple[int, ...]) -> Longs:
        size = len(view.table.nodes)
        total = np.zeros(size, np.int64)
        for code in codes:
            local = self._local[code][:size]
            total[: len(local)] += local
            for number, count in self._shared[code].items():
                if count:
                    total += count * view.table.scopes.mask(number, size)
        for row, code in self._overlaid(view):
            total += self._nodes_of(view, row, size) * (int(code in codes) - int(self._codes[row] in codes))
        return total

    def _overlaid(self, view: View) -> Iterator[tuple[int, int]]:
        """Yield the rows of devices whose holders the view's overlay changes, with their code then."""
        if self._signature.admin:
            return
        for device in view.overlay.devices:
            row = view.table.row_of(device)
            if row is not None:
                held = np.array([usage(view.holders(device))], np.uint8)
                yield row, int(self._code(np.array([row], np.int32), held)[0])

    def _nodes_of(self, view: View, row: int, size: int) -> Longs:
        home = int(self._homes[row])
        nodes = np.zeros(size, np.int64)
        if home >= 0:
            nodes[home] = 1
        elif home != NOWHERE:
            nodes += view.table.scopes.mask(scope_of_home(home), size)
        return nodes
