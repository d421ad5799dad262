"""Filters over other pods: required affinity and anti-affinity, in both directions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from dra_scheduler.cache.label_columns import BoolArray
from dra_scheduler.cache.node_table import NodeTable
from dra_scheduler.cache.pod_affinity import AffinityTerm
from dra_scheduler.cache.pod_info import PodInfo
from dra_scheduler.cache.pod_store import PodStore
from dra_scheduler.cycle.diagnosis import Diagnosis

NOT_NEAR = "node(s) didn't match pod affinity rules"
NOT_APART = "node(s) didn't match pod anti-affinity rules"
REPELLED = "node(s) didn't satisfy existing pods anti-affinity rules"

Namespaces = Mapping[str, Mapping[str, str]]
"""Labels by the name of the namespace."""


def filter_affinity(pod: PodInfo, pods: PodStore, table: NodeTable, namespaces: Namespaces, found: Diagnosis) -> None:
    """Take out the nodes where the pod may not be because of the pods that are there, or near."""
    if pod.affinity.near:
        found.drop("InterPodAffinity", ~_near(pod, pods, table, namespaces), NOT_NEAR)
    if pod.affinity.apart:
        failed = np.zeros(table.rows, np.bool_)
        for term in pod.affinity.apart:
            others = (node for node, other in pods.placed() if _means(term, other, namespaces))
            failed |= _same_topology(term, others, table)
        found.drop("InterPodAffinity", failed, NOT_APART, resolvable=True)
    if pods.repelling:
        failed = np.zeros(table.rows, np.bool_)
        for node, other in pods.repelling.values():
            for term in other.affinity.apart:
                if _means(term, pod, namespaces):
                    failed |= _same_topology(term, (node,), table)
        found.drop("InterPodAffinity", failed, REPELLED, resolvable=True)


def _near(pod: PodInfo, pods: PodStore, table: NodeTable, namespaces: Namespaces) -> BoolArray:
    """Return the nodes where every term finds a pod. A pod counts only if all terms mean it."""
    terms = pod.affinity.near
    meant = [node for node, other in pods.placed() if all(_means(term, other, namespaces) for term in terms)]
    near = np.ones(table.rows, np.bool_)
    for term in terms:
        near &= _same_topology(term, meant, table)
    if near.any() or not all(_means(term, pod, namespaces) for term in terms):
        return near
    if any(_same_topology(term, meant, table).any() for term in terms):
        return near
    # The first of a group of pods that want to be together: anywhere where the labels exist.
    anywhere = np.ones(table.rows, np.bool_)
    for term in terms:
        anywhere &= table.labels.has(term.topology_key)
    return anywhere


def _same_topology(term: AffinityTerm, nodes: Iterable[str], table: NodeTable) -> BoolArray:
    """Return the nodes that have the same value of the term's label as one of these nodes."""
    infos = (table.info(node) for node in set(nodes))
    values = {info.labels[term.topology_key] for info in infos if info is not None and term.topology_key in info.labels}
    return table.labels.one_of(term.topology_key, values)


def _means(term: AffinityTerm, pod: PodInfo, namespaces: Namespaces) -> bool:
    return term.matches(pod.namespace, pod.labels, namespaces.get(pod.namespace, {}))
