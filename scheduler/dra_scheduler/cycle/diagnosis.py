"""Which nodes are left and why the others fell out, filter by filter, for all nodes at once.

A node falls out at the first filter that it fails; that filter's reasons count for it, as in kube-scheduler.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

import numpy as np

from dra_scheduler.cache.label_columns import BoolArray
from dra_scheduler.cache.node_table import NodeTable
from dra_scheduler.plugins import Plugin


class Diagnosis:
    """`left` are the rows still in; `counts` nodes by reason; `resolvable` rows that fell out by other pods' presence.

    `unavailable` are claims (uids) whose allocation kept nodes out, with those rows. `lacking` are rows that do not
    declare a feature, which kube-scheduler finds out only where it has found devices.
    """

    def __init__(self, table: NodeTable) -> None:
        self.left: BoolArray = table.present.copy()
        self.resolvable: BoolArray = np.zeros(table.rows, np.bool_)
        self.counts: Counter[str] = Counter()
        self.plugins: set[Plugin] = set()
        self.unavailable: dict[str, BoolArray] = {}
        self.lacking: BoolArray = np.zeros(table.rows, np.bool_)

    def any_left(self) -> bool:
        """Whether at least one node is left."""
        return bool(self.left.any())

    def drop(self, plugin: Plugin, failed: BoolArray, reason: str, *, resolvable: bool = False) -> BoolArray:
        """Take out the rows in `failed` that were left, for one reason. Returns those that were taken out."""
        out = failed & self.left
        count = int(np.count_nonzero(out))
        if count:
            self.plugins.add(plugin)
            self.counts[reason] += count
            self.left &= ~out
            if resolvable:
                self.resolvable |= out
        return out

    def drop_each(self, plugin: Plugin, reasons: Iterable[tuple[str, BoolArray]], unresolvable: BoolArray) -> None:
        """Take out rows that fail for several reasons at once; each reason of a row counts."""
        out = np.zeros_like(self.left)
        for reason, failed in reasons:
            hit = failed & self.left
            count = int(np.count_nonzero(hit))
            if count:
                self.counts[reason] += count
                out |= hit
        if out.any():
            self.plugins.add(plugin)
            self.left &= ~out
            self.resolvable |= out & ~unresolvable

    def kept_out(self, claims: Iterable[str]) -> BoolArray:
        """Return the rows that the allocations of these claims (uids) kept out."""
        rows = np.zeros_like(self.left)
        for uid in claims:
            if uid in self.unavailable:
                rows |= self.unavailable[uid]
        return rows

    def not_by_allocations(self, rows: BoolArray, reason: str, instead: str) -> None:
        """Rows that were taken out for `reason`, because of allocated claims, are out for another one anyway."""
        if not rows.any():
            return
        self._recount(rows, reason, instead)
        masks = {uid: mask & ~rows for uid, mask in self.unavailable.items()}
        self.unavailable = {uid: mask for uid, mask in masks.items() if mask.any()}

    def not_by_features(self, rows: BoolArray, reason: str, instead: str) -> None:
        """Rows that were taken out for `reason`, because they lack a feature, are out for want of devices before."""
        if not rows.any():
            return
        self._recount(rows, reason, instead)
        self.lacking = self.lacking & ~rows
        self.plugins.add("DynamicResources")
        if not self.lacking.any():
            self.plugins.discard("NodeDeclaredFeatures")

    def _recount(self, rows: BoolArray, reason: str, instead: str) -> None:
        count = int(np.count_nonzero(rows))
        self.counts[reason] -= count
        self.counts[instead] += count
        self.counts = +self.counts

    def refused(self, counts: Mapping[str, int], resolvable: Iterable[int]) -> None:
        """Count nodes that fell out after devices were found on them.

        Devices or fewer other pods may help, so both plugins that wait for those are told of events.
        """
        self.plugins |= {"DynamicResources", "NodeResourcesFit"}
        self.counts.update(counts)
        self.resolvable[list(resolvable)] = True
