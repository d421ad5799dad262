"""Which nodes can use the claims that are allocated already."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime, timedelta

import numpy as np

from dra_allocator.outcome import AllocationResult
from dra_scheduler.cache.claim_store import Claim
from dra_scheduler.cache.cluster import Cluster
from dra_scheduler.cache.label_columns import BoolArray
from dra_scheduler.cache.node_table import NodeTable
from dra_scheduler.cache.pod_info import PodInfo
from dra_scheduler.cycle.diagnosis import Diagnosis
from dra_scheduler.cycle.extended_resources import GATE
from dra_scheduler.readiness import Readiness, allocated_at, readiness

NOT_AVAILABLE = "resourceclaim not available on the node"
LEFT_OVER = "cannot schedule extended resource claim"
"""kube-scheduler's reason on every node while the special claim of an earlier attempt is there."""
NO_CLAIM_THERE = "node(s) need no claim for extended resources, but the pod's status names one"
OPTIONAL_OPERATIONS = "DRAOptionalNodeOperations"


def filter_allocated(
    claims: Iterable[Claim], table: NodeTable, diagnosis: Diagnosis, now: datetime, binding_timeout: float | None
) -> None:
    """Take out the nodes on which an allocated claim cannot be used, and note which claims were in the way.

    `binding_timeout`: seconds for which binding conditions may be waited for; None: they do not count (gate off).
    """
    failed = np.zeros(table.rows, np.bool_)
    for claim in claims:
        allocation = claim.effective
        if allocation is None:
            continue
        away = np.ones(table.rows, np.bool_) if _gave_up(claim, now, binding_timeout) else ~usable(allocation, table)
        if (away & diagnosis.left).any():
            diagnosis.unavailable[claim.uid] = away & diagnosis.left
            failed |= away
    diagnosis.drop("DynamicResources", failed, NOT_AVAILABLE)


def filter_special(pod: PodInfo, cluster: Cluster, diagnosis: Diagnosis, backed: Collection[str]) -> None:
    """Take out all nodes if the pod has a claim for extended resources of an earlier attempt: it has to go first.

    When it has gone the pod's status still names it, which API servers let nobody clear. A kubelet would wait for it
    for ever, so a node that needs no such claim will not do; on the others the name is replaced. `backed` are the
    extended resources that devices may serve.
    """
    if not cluster.gates.enabled(GATE) or (not backed and not _names_special(pod)):
        return
    claim = cluster.claims.special_of(pod.uid)
    if claim is not None and diagnosis.any_left():
        diagnosis.unavailable[claim.uid] = diagnosis.drop("DynamicResources", diagnosis.left.copy(), LEFT_OVER)
    if _names_special(pod):
        served = np.ones(cluster.nodes.rows, np.bool_)
        for resource in backed:
            served &= cluster.nodes.allocatable(resource) > 0
        diagnosis.drop("DynamicResources", served, NO_CLAIM_THERE)


def _names_special(pod: PodInfo) -> bool:
    return bool((pod.raw.get("status") or {}).get("extendedResourceClaimStatus"))


def usable(allocation: AllocationResult, table: NodeTable) -> BoolArray:
    """Return the rows of the nodes on which the devices of an allocation can be used."""
    rows = np.ones(table.rows, np.bool_)
    if allocation.node_selector is not None:
        rows &= table.labels.terms(allocation.node_selector.terms)
    if any(result.skip_node_operations for result in allocation.devices):
        rows &= table.declaring(OPTIONAL_OPERATIONS)
    return rows


def _gave_up(claim: Claim, now: datetime, binding_timeout: float | None) -> bool:
    """Whether the devices' binding conditions failed, or have been waited for too long (KEP-5007)."""
    if binding_timeout is None:
        return False
    state = readiness(claim.raw)
    if state is not Readiness.WAITING:
        return state is Readiness.FAILED
    since = allocated_at(claim.raw)
    return since is not None and now >= since + timedelta(seconds=binding_timeout)
