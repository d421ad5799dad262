"""Which nodes can use the claims that are allocated already."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

import numpy as np

from dra_allocator.outcome import AllocationResult
from dra_scheduler.cache.claim_store import Claim
from dra_scheduler.cache.cluster import Cluster
from dra_scheduler.cache.label_columns import BoolArray
from dra_scheduler.cache.node_table import NodeTable
from dra_scheduler.cache.pod_info import PodInfo
from dra_scheduler.cycle.diagnosis import Diagnosis
from dra_scheduler.readiness import Readiness, allocated_at, readiness

NOT_AVAILABLE = "resourceclaim not available on the node"
LEFT_OVER = "cannot schedule extended resource claim"
"""kube-scheduler's reason on every node while the special claim of an earlier attempt is there."""
OPTIONAL_OPERATIONS = "DRAOptionalNodeOperations"


def filter_allocated(
    claims: Iterable[Claim], table: NodeTable, diagnosis: Diagnosis, now: datetime, binding_timeout: float
) -> None:
    """Take out the nodes on which an allocated claim cannot be used, and note which claims were in the way."""
    failed = np.zeros(table.rows, np.bool_)
    for claim in claims:
        allocation = claim.effective
        if allocation is None:
            continue
        away = np.ones(table.rows, np.bool_) if _gave_up(claim, now, binding_timeout) else ~_usable(allocation, table)
        if (away & diagnosis.left).any():
            diagnosis.unavailable.add(claim.uid)
            failed |= away
    diagnosis.drop("DynamicResources", failed, NOT_AVAILABLE)


def filter_special(pod: PodInfo, cluster: Cluster, diagnosis: Diagnosis) -> None:
    """Take out all nodes if the pod has a claim for extended resources of an earlier attempt: it has to go first."""
    claim = cluster.claims.special_of(pod.uid)
    if claim is not None and diagnosis.any_left():
        diagnosis.drop("DynamicResources", diagnosis.left.copy(), LEFT_OVER)
        diagnosis.unavailable.add(claim.uid)


def _usable(allocation: AllocationResult, table: NodeTable) -> BoolArray:
    usable = np.ones(table.rows, np.bool_)
    if allocation.node_selector is not None:
        usable &= table.labels.terms(allocation.node_selector.terms)
    if any(result.skip_node_operations for result in allocation.devices):
        declared = [row for row, info in table.infos() if OPTIONAL_OPERATIONS in info.declared_features]
        able = np.zeros(table.rows, np.bool_)
        able[declared] = True
        usable &= able
    return usable


def _gave_up(claim: Claim, now: datetime, binding_timeout: float) -> bool:
    """Whether the devices' binding conditions failed, or have been waited for too long (KEP-5007)."""
    state = readiness(claim.raw)
    if state is not Readiness.WAITING:
        return state is Readiness.FAILED
    since = allocated_at(claim.raw)
    return since is not None and now >= since + timedelta(seconds=binding_timeout)
