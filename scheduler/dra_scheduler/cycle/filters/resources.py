"""Filters over what pods take of a node: ports, the number of pods, cpu, memory and all other resources."""

from __future__ import annotations

import numpy as np

from dra_scheduler.cache.label_columns import BoolArray
from dra_scheduler.cache.node_table import NodeTable
from dra_scheduler.cache.pod_info import PodInfo
from dra_scheduler.cycle.diagnosis import Diagnosis

PORTS = "node(s) didn't have free ports for the requested pod ports"
TOO_MANY_PODS = "Too many pods"


def filter_ports(pod: PodInfo, table: NodeTable, diagnosis: Diagnosis) -> None:
    """Take out the nodes where one of the pod's host ports is in use."""
    if not pod.ports:
        return
    failed = np.zeros(table.rows, np.bool_)
    failed[list(table.ports.conflicts(pod.ports))] = True
    diagnosis.drop("NodePorts", failed, PORTS, resolvable=True)


def filter_resources(pod: PodInfo, table: NodeTable, diagnosis: Diagnosis) -> None:
    """Take out the nodes that have too little of something left; every lack of a node counts."""
    never = np.zeros(table.rows, np.bool_)
    reasons: list[tuple[str, BoolArray]] = [(TOO_MANY_PODS, ~table.fits_pod_count())]
    for resource, asked in pod.requests.items():
        allocatable = table.allocatable(resource)
        reasons.append((f"Insufficient {resource}", allocatable - table.requested(resource) < asked))
        never |= allocatable < asked
    diagnosis.drop_each("NodeResourcesFit", reasons, never)


def fits_row(pod: PodInfo, table: NodeTable, row: int) -> bool:
    """Whether the pod's ports and resources fit on one node now: the check in the tick of the commit."""
    if not table.fits_pod_count()[row] or row in table.ports.conflicts(pod.ports):
        return False
    return all(
        table.allocatable(resource)[row] - table.requested(resource)[row] >= asked
        for resource, asked in pod.requests.items()
    )
