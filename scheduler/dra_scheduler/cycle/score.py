"""The order in which nodes are tried: the least allocated first, equals in random order.

Source: kube-scheduler's LeastAllocated over cpu and memory with weight 1 each, in whole points of 0 to 100.
"""

from __future__ import annotations

from random import Random

import numpy as np

from dra_scheduler.cache.label_columns import IntArray
from dra_scheduler.cache.node_table import NodeTable
from dra_scheduler.cache.pod_info import PodInfo
from dra_scheduler.cache.requests import CPU, MEMORY

MAX_SCORE = 100


def scores(pod: PodInfo, table: NodeTable, rows: IntArray) -> IntArray:
    """Return the score of each row; what a node has none of does not count."""
    total = np.zeros(len(rows), np.int64)
    weight = np.zeros(len(rows), np.int64)
    for resource, taken, asked in (
        (CPU, table.scored_cpu, pod.scored_cpu),
        (MEMORY, table.scored_memory, pod.scored_memory),
    ):
        allocatable = table.allocatable(resource)[rows]
        free = np.maximum(allocatable - taken[rows] - asked, 0)
        has = allocatable > 0
        # Exact in 64 bits: amounts are at most 2**55.
        total += np.where(has, free * MAX_SCORE // np.where(has, allocatable, 1), 0)
        weight += has
    result: IntArray = total // np.maximum(weight, 1)
    return result


def order(pod: PodInfo, table: NodeTable, rows: IntArray, random: Random) -> IntArray:
    """Return the rows, best first; equal ones in an order drawn from `random`."""
    if len(rows) < 2:
        return rows
    shuffle = np.random.Generator(np.random.PCG64(random.getrandbits(64))).permutation(len(rows))
    shuffled = rows[shuffle]
    return shuffled[np.argsort(-scores(pod, table, shuffled), kind="stable")]
