"""Filters over what pods take of a node: ports, the number of pods, cpu, memory and all other resources."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from dra_scheduler.cache.label_columns import BoolArray
from dra_scheduler.cache.node_table import NodeTable
from dra_scheduler.cache.pod_info import PodInfo, with_node_resources
from dra_scheduler.cache.requests import CPU, EPHEMERAL_STORAGE, MEMORY, Statuses
from dra_scheduler.cycle.diagnosis import Diagnosis

PORTS = "node(s) didn't have free ports for the requested pod ports"
TOO_MANY_PODS = "Too many pods"
_OF_NODES = {CPU, MEMORY, EPHEMERAL_STORAGE}


def filter_ports(pod: PodInfo, table: NodeTable, diagnosis: Diagnosis) -> None:
    """Take out the nodes where one of the pod's host ports is in use."""
    if not pod.ports:
        return
    failed = np.zeros(table.rows, np.bool_)
    failed[list(table.ports.conflicts(pod.ports))] = True
    diagnosis.drop("NodePorts", failed, PORTS, resolvable=True)


def filter_resources(pod: PodInfo, table: NodeTable, diagnosis: Diagnosis, backed: Collection[str] = ()) -> None:
    """Take out the nodes that have too little of something left; every lack of a node counts.

    `backed` are extended resources that devices serve on nodes that have none of it themselves (KEP-5004).
    """
    never = np.zeros(table.rows, np.bool_)
    reasons: list[tuple[str, BoolArray]] = [(TOO_MANY_PODS, ~table.fits_pod_count())]
    for resource, asked in pod.requests.items():
        allocatable = table.allocatable(resource)
        lacking = allocatable - table.requested(resource) < asked
        if resource in backed:
            lacking &= allocatable > 0
            never |= (allocatable < asked) & (allocatable > 0)
        else:
            never |= allocatable < asked
        reasons.append((f"Insufficient {resource}", lacking))
    diagnosis.drop_each("NodeResourcesFit", reasons, never)


def fits_row(pod: PodInfo, table: NodeTable, row: int, backed: Collection[str] = ()) -> bool:
    """Whether the pod's ports and resources fit on one node now: the check in the tick of the commit."""
    if not table.has_room(row) or (pod.ports and row in table.ports.conflicts(pod.ports)):
        return False
    return all(
        table.allocatable(resource)[row] - table.requested(resource)[row] >= asked
        or (resource in backed and table.allocatable(resource)[row] == 0)
        for resource, asked in pod.requests.items()
    )


def lacking_on(pod: PodInfo, taken: Statuses, table: NodeTable, row: int) -> tuple[list[str], bool]:
    """Return what is missing on a node for a pod and what its devices take, and whether other pods have it.

    Only what devices can take is looked at: cpu, memory, ephemeral storage and hugepages. A pod that has the node
    already counts there, so what it asks for is no longer to be found.
    """
    reasons, resolvable = [], True
    counted = pod.requests if pod.node_name else {}
    for resource, asked in (with_node_resources(pod, taken).requests if taken else {}).items():
        if resource not in _OF_NODES and not resource.startswith("hugepages-"):
            continue
        allocatable = int(table.allocatable(resource)[row])
        if allocatable - int(table.requested(resource)[row]) + counted.get(resource, 0) < asked:
            reasons.append(f"Insufficient {resource}")
            resolvable &= allocatable >= asked
    return reasons, resolvable
