"""Filters over a node's name, labels, taints and `unschedulable`; results are remembered per NodeSelection."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

import numpy as np

from dra_scheduler.cache.label_columns import BoolArray
from dra_scheduler.cache.node_selection import UNSCHEDULABLE_TAINT, NodeSelection, Taint
from dra_scheduler.cache.node_table import NodeTable
from dra_scheduler.cycle.diagnosis import Diagnosis
from dra_scheduler.plugins import Plugin

UNSCHEDULABLE = "node(s) were unschedulable"
UNTOLERATED = "node(s) had untolerated taint(s)"
NO_MATCH = "node(s) didn't match Pod's node affinity/selector"
NOT_NAMED = "node(s) didn't satisfy plugin(s) [NodeAffinity]"


_REMEMBERED_BYTES = 32 * 1024 * 1024
_CORDONED = Taint(UNSCHEDULABLE_TAINT, "", "NoSchedule")

Step = tuple[Plugin, BoolArray, str]


class PlacementFilter:
    """Evaluates NodeSelections, each once per version of the nodes' static facts."""

    def __init__(self) -> None:
        self._version = -1
        self._steps: OrderedDict[NodeSelection, Sequence[Step]] = OrderedDict()

    def apply(self, selection: NodeSelection, table: NodeTable, diagnosis: Diagnosis) -> None:
        """Take out the nodes where the pod may not go."""
        if table.static_version != self._version:
            self._steps.clear()
            self._version = table.static_version
        steps = self._steps.get(selection)
        if steps is None:
            steps = self._steps[selection] = _steps(selection, table)
            if len(self._steps) > max(1, _REMEMBERED_BYTES // (4 * table.rows)):
                self._steps.popitem(last=False)
        for plugin, failed, reason in steps:
            diagnosis.drop(plugin, failed, reason)


def conflicting_names(selection: NodeSelection) -> bool:
    """Whether required affinity by `metadata.name` can match no node at all."""
    names = selection.names()
    return names is not None and not names


def _steps(selection: NodeSelection, table: NodeTable) -> Sequence[Step]:
    """Return the filters that can fail at all, in kube-scheduler's order."""
    steps: list[Step] = []
    names = selection.names()
    if names is not None:
        named = np.zeros(table.rows, np.bool_)
        named[[row for row in map(table.row, names) if row is not None]] = True
        steps.append(("NodeAffinity", ~named, NOT_NAMED))
    if table.unschedulable.any() and not selection.tolerated((_CORDONED,)):
        steps.append(("NodeUnschedulable", table.unschedulable.copy(), UNSCHEDULABLE))
    tolerated = np.array([selection.tolerated(taints) for taints in table.taint_classes], np.bool_)
    if not tolerated.all():
        steps.append(("TaintToleration", ~tolerated[table.taint_class], UNTOLERATED))
    if selection.labels or selection.terms is not None:
        matching = table.labels.pairs(selection.labels)
        if selection.terms is not None:
            matching = matching & table.labels.terms(selection.terms)
        steps.append(("NodeAffinity", ~matching, NO_MATCH))
    return steps
