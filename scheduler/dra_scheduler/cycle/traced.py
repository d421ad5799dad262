"""A diagnosis that also knows which nodes fell out for which reason: for explanations of single nodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from dra_scheduler.cache.label_columns import BoolArray
from dra_scheduler.cache.node_table import NodeTable
from dra_scheduler.cycle.diagnosis import Diagnosis
from dra_scheduler.plugins import Plugin


class TracedDiagnosis(Diagnosis):
    """`reasons` has the rows that fell out, by kube-scheduler's text; a row may have several reasons of one filter."""

    def __init__(self, table: NodeTable) -> None:
        super().__init__(table)
        self.reasons: dict[str, BoolArray] = {}

    def drop(self, plugin: Plugin, failed: BoolArray, reason: str, *, resolvable: bool = False) -> BoolArray:
        """See Diagnosis."""
        out = super().drop(plugin, failed, reason, resolvable=resolvable)
        self._note(reason, out)
        return out

    def drop_each(self, plugin: Plugin, reasons: Iterable[tuple[str, BoolArray]], unresolvable: BoolArray) -> None:
        """See Diagnosis."""
        given = list(reasons)
        before = self.left.copy()
        super().drop_each(plugin, given, unresolvable)
        for reason, failed in given:
            self._note(reason, failed & before)

    def among(self, rows: BoolArray, *, ignore: Iterable[str] = ()) -> Mapping[str, int]:
        """Return how many of the rows fell out for each reason."""
        counts = {reason: int(np.count_nonzero(out & rows)) for reason, out in self.reasons.items()}
        return {reason: count for reason, count in counts.items() if count and reason not in frozenset(ignore)}

    def _note(self, reason: str, rows: BoolArray) -> None:
        if rows.any():
            self.reasons[reason] = self.reasons.get(reason, False) | rows
