"""The part of a cycle before the allocator: a pod's claims, and the nodes that are left by the filters."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from random import Random

import numpy as np
from numpy.typing import NDArray

from dra_allocator.claim import ResourceClaim
from dra_api.clock import Clock
from dra_scheduler.cache.cluster import Cluster
from dra_scheduler.cache.label_columns import BoolArray, IntArray
from dra_scheduler.cache.node_table import NodeTable
from dra_scheduler.cache.pod_affinity import NO_AFFINITY
from dra_scheduler.cache.pod_info import PodInfo
from dra_scheduler.cycle import rejecting
from dra_scheduler.cycle.decision import Reject
from dra_scheduler.cycle.diagnosis import Diagnosis
from dra_scheduler.cycle.extended_resources import SpecialClaim, Variant, backed_resources, variants
from dra_scheduler.cycle.filters.affinity import filter_affinity
from dra_scheduler.cycle.filters.claims import NOT_AVAILABLE, filter_allocated, filter_special, usable
from dra_scheduler.cycle.filters.declared_features import LACKING, filter_features
from dra_scheduler.cycle.filters.placement import PlacementFilter, conflicting_names
from dra_scheduler.cycle.filters.resources import filter_ports, filter_resources, fits_row
from dra_scheduler.cycle.node_resources import GATE as NODE_RESOURCES
from dra_scheduler.cycle.node_resources import cannot_be_shared
from dra_scheduler.cycle.pod_claims import PodClaims, is_reserved_for, refused, resolve
from dra_scheduler.cycle.score import NodeOrder

Possible = Callable[[Sequence[ResourceClaim], NDArray[np.int32]], BoolArray | None]
"""Tells which nodes (the allocator's ids) counting devices does not rule out for claims; None: not now."""
LEFT_TO_OTHERS = "node(s) left to other pods of the group"


@dataclass(frozen=True, slots=True)
class Question:
    """What is put to the allocator: rows of the node table in the order to try, and what the filters found.

    `variants` has the same rows, parted by what the pod needs of them; `backed` are the pod's extended resources that
    devices may serve.
    """

    claims: PodClaims
    rows: IntArray
    diagnosis: Diagnosis
    versions: tuple[int, ...]
    variants: tuple[Variant, ...]
    backed: Mapping[str, str]

    @property
    def is_special(self) -> bool:
        """Whether some nodes serve the pod's extended resources by devices."""
        return any(variant.special is not None for variant in self.variants)


class Questioner:
    """Runs the filters. Reads the cluster, changes nothing."""

    def __init__(
        self, cluster: Cluster, clock: Clock, random: Random, binding_timeout: float, possible: Possible
    ) -> None:
        self._cluster = cluster
        self._possible = possible
        self._clock = clock
        self._binding_timeout = binding_timeout
        self._order = NodeOrder(random)
        self._placement = PlacementFilter()

    def ask(self, pod: PodInfo, claims: PodClaims, avoid: Collection[str] = ()) -> Question | Reject:
        """Return the nodes to try, none of those in `avoid`, or why there are none."""
        text = refused(pod, claims, self._cluster)
        if text:
            return rejecting.before_filters(pod, self._cluster, "DynamicResources", text)
        return self._one_node(pod, claims) if pod.node_name else self._all_nodes(pod, claims, avoid)

    def still_so(self, pod: PodInfo, question: Question, node: str, special: SpecialClaim | None) -> bool:
        """Whether the filters would still let this node pass, and the pod's special claim would be the same there."""
        table = self._cluster.nodes
        if self._versions(pod) != question.versions or resolve(pod, self._cluster.claims) != question.claims:
            return False
        row = table.row(node)
        if row is None or pod.node_name:
            return row is not None
        if question.backed and variants(pod, self._cluster, np.array([row]))[0].special != special:
            return False
        return fits_row(pod, table, row, question.backed)

    def _all_nodes(self, pod: PodInfo, claims: PodClaims, avoid: Collection[str]) -> Question | Reject:
        cluster, table = self._cluster, self._cluster.nodes
        problem = rejecting.unsupported(pod, cluster)
        if problem is not None:
            return problem
        if conflicting_names(pod.selection):
            return rejecting.before_filters(pod, cluster, "NodeAffinity", rejecting.CONFLICTING_NAMES)
        diagnosis = Diagnosis(table)
        backed = self.filter(pod, claims, diagnosis, avoid)
        if not diagnosis.any_left():
            self.tell_apart(claims, diagnosis)
            return rejecting.no_fit(pod, cluster, diagnosis)
        rows = _nominated_first(pod, table, self._order.best_first(pod, table, diagnosis.left))
        return Question(claims, rows, diagnosis, self._versions(pod), variants(pod, cluster, rows), backed)

    def filter(
        self, pod: PodInfo, claims: PodClaims, diagnosis: Diagnosis, avoid: Collection[str] = ()
    ) -> Mapping[str, str]:
        """Take out of a diagnosis all nodes where a pod may not go; return the resources that devices may serve."""
        cluster, table = self._cluster, self._cluster.nodes
        backed = backed_resources(pod, cluster)
        self._placement.apply(pod.selection, table, diagnosis)
        filter_ports(pod, table, diagnosis)
        filter_resources(pod, table, diagnosis, backed)
        filter_affinity(pod, cluster.pods, table, cluster.namespaces, diagnosis)
        # A special claim that has to go comes first: where it is in the way, nothing is said about others.
        filter_special(pod, cluster, diagnosis, backed)
        self._filter_claims(pod, claims, diagnosis)
        filter_features(pod, cluster, diagnosis)
        _leave_out(avoid, table, diagnosis)
        return backed

    def _one_node(self, pod: PodInfo, claims: PodClaims) -> Question | Reject:
        """A pod that somebody put on a node: only its claims are our business, and only there."""
        cluster = self._cluster
        diagnosis = Diagnosis(cluster.nodes)
        row = cluster.nodes.row(pod.node_name)
        diagnosis.left[:] = False
        if row is not None:
            diagnosis.left[row] = True
        self._filter_claims(pod, claims, diagnosis)
        if not diagnosis.any_left():
            self.tell_apart(claims, diagnosis)
            return rejecting.no_fit(pod, cluster, diagnosis)
        rows = np.flatnonzero(diagnosis.left)
        return Question(claims, rows, diagnosis, self._versions(pod), (Variant(rows, np.arange(len(rows)), None),), {})

    def tell_apart(self, claims: PodClaims, diagnosis: Diagnosis) -> None:
        """Say of nodes that lack a feature, or where an allocated claim cannot be used, if they have no devices either.

        Giving up the allocation does not help there, and kube-scheduler counts them as nodes without devices.
        """
        kept_out = diagnosis.kept_out(claim.uid for claim in claims.allocated)
        away = np.flatnonzero(kept_out | diagnosis.lacking)
        asked = [claim.spec for claim in claims.unallocated if claim.spec is not None]
        ids = self._cluster.nodes.engine_ids[away]
        possible = None if not asked or not len(away) or (ids < 0).any() else self._possible(asked, ids)
        if possible is not None:
            rows = np.zeros_like(diagnosis.left)
            rows[away[~possible]] = True
            diagnosis.not_by_allocations(rows & kept_out, NOT_AVAILABLE, rejecting.NO_DEVICES)
            diagnosis.not_by_features(rows & diagnosis.lacking, LACKING, rejecting.NO_DEVICES)

    def _filter_claims(self, pod: PodInfo, claims: PodClaims, diagnosis: Diagnosis) -> None:
        cluster = self._cluster
        if cluster.gates.enabled(NODE_RESOURCES):
            for claim in claims.allocated:
                problem = cannot_be_shared(claim, pod.uid, cluster.devices, lambda one: is_reserved_for(one, pod))
                if problem and claim.effective is not None:
                    diagnosis.drop("DynamicResources", usable(claim.effective, cluster.nodes), problem)
        timeout = self._binding_timeout if cluster.features.binding_conditions else None
        filter_allocated(claims.allocated, cluster.nodes, diagnosis, self._clock.now(), timeout)

    def _versions(self, pod: PodInfo) -> tuple[int, ...]:
        """Return what tells whether filters would still let the same nodes pass, ports and resources aside."""
        pods = self._cluster.pods
        social = pods.repelling or pod.affinity is not NO_AFFINITY
        extended = any("/" in resource for resource in pod.requests)
        classes = self._cluster.classes.version if extended else -1
        return self._cluster.nodes.static_version, pods.placements if social else -1, classes


def _leave_out(avoid: Collection[str], table: NodeTable, diagnosis: Diagnosis) -> None:
    if avoid:
        out = np.zeros(table.rows, np.bool_)
        out[[row for row in map(table.row, avoid) if row is not None]] = True
        diagnosis.drop("GangScheduling", out, LEFT_TO_OTHERS)


def _nominated_first(pod: PodInfo, table: NodeTable, rows: IntArray) -> IntArray:
    """Put the node first that the pod was said to go to: its devices may be on their way there already."""
    row = table.row(pod.nominated) if pod.nominated else None
    if row is None:
        return rows
    there = rows == row
    ordered: IntArray = np.concatenate([rows[there], rows[~there]])
    return ordered
