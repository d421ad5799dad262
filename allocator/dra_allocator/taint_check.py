"""Whether devices that were picked have been tainted since (KEP-5055)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dra_allocator.device import DeviceID, DeviceTaint
from dra_allocator.masks import MaskStore
from dra_allocator.outcome import DeviceResult
from dra_allocator.rules.fitness import blocking_taints, is_tolerated
from dra_allocator.table import Table
from dra_allocator.taint_rules import TaintRules

_MASK_BYTES = 1 << 20
"""For the selectors of rules, which only the API of Kubernetes 1.33 and 1.34 has."""


class TaintCheck:
    """Answers for the devices of a table as it is now, DeviceTaintRules included."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._masks = MaskStore(_MASK_BYTES)

    def first(self, results: Iterable[DeviceResult]) -> tuple[DeviceID, DeviceTaint] | None:
        """Return the first device with a taint that keeps it from its claim, and that taint.

        A device that several nodes know by one name counts once all of them are tainted; one that is gone does not.
        """
        for result in results:
            rows = self._table.rows_of(result.device)
            found = [self._untolerated(row, result) for row in rows]
            if found and all(taint is not None for taint in found) and found[0] is not None:
                return result.device, found[0]
        return None

    def _untolerated(self, row: int, result: DeviceResult) -> DeviceTaint | None:
        taints = blocking_taints(tuple(self._taints(row)))
        return next((taint for taint in taints if not is_tolerated(taint, result.tolerations)), None)

    def _taints(self, row: int) -> Iterator[DeviceTaint]:
        yield from self._table.rows.traits_of(row).taints
        for taint, marked in TaintRules.of(self._table, self._masks).marked():
            if marked[row]:
                yield taint
