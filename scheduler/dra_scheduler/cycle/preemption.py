"""Whether taking other pods away would help, for the second half of kube-scheduler's message.

Nothing is ever preempted here; where it would help, the text says that this scheduler does not do it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping

import numpy as np

from dra_scheduler.cache.label_columns import BoolArray
from dra_scheduler.cache.node_table import NodeTable
from dra_scheduler.cache.pod_info import PodInfo
from dra_scheduler.cache.requests import PODS

NOT_HELPFUL = "Preemption is not helpful for scheduling"
NO_VICTIMS = "No preemption victims found for incoming pod"
NOT_DONE = "Preemption is not done by this scheduler"
NEVER = "not eligible due to preemptionPolicy=Never."


def preemption(
    pod: PodInfo, table: NodeTable, resolvable: BoolArray | None, backed: Collection[str] = ()
) -> Mapping[str, int] | str:
    """Return nodes by reason, or why preemption is not considered at all.

    `resolvable` are the nodes that the pod does not fit on because of other pods; None: there are none. `backed` are
    extended resources that devices serve on nodes that have none of it themselves.
    """
    if pod.never_preempts:
        return NEVER
    rows = np.empty(0, np.int64) if resolvable is None else np.flatnonzero(resolvable)
    counts: Counter[str] = Counter()
    counts[NOT_HELPFUL] = len(table) - len(rows)
    victims = table.lowest_priority[rows] < pod.priority
    counts[NO_VICTIMS] = int(np.count_nonzero(~victims))
    for row in rows[victims].tolist():
        for reason in _without_victims(pod, table, row, backed):
            counts[reason] += 1
    return {reason: count for reason, count in counts.items() if count}


def _without_victims(pod: PodInfo, table: NodeTable, row: int, backed: Collection[str]) -> list[str]:
    """Return what would still be missing on the node if all pods of lower priority were gone."""
    staying = [other for other in table.pods.get(row, {}).values() if other.priority >= pod.priority]
    missing = ["Too many pods"] if len(staying) + 1 > table.allocatable(PODS)[row] else []
    for resource, asked in pod.requests.items():
        if resource in backed and not table.allocatable(resource)[row]:
            continue
        taken = sum(other.requests.get(resource, 0) for other in staying)
        if table.allocatable(resource)[row] - taken < asked:
            missing.append(f"Insufficient {resource}")
    return missing or [NOT_DONE]
