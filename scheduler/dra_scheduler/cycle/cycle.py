"""One scheduling cycle: a pod in, a decision out. Reads everything, changes nothing before the commit.

    resolve claims -> filter all nodes -> order -> allocate, in slices -> commit
          |                |                            |                   | something read has changed meanwhile
          +----------------+---------> Reject <---------+                   +--> once more from the start

The event loop gets its turn between slices, so what was read may have changed by the end. The commit compares and
assumes in one tick: nothing can come between. The alternative, to work on a copy of the cluster, was rejected: copying
costs more than all the rest, and the comparison would still be needed at its end.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from random import Random

import numpy as np

from dra_allocator.allocator import Allocator
from dra_allocator.outcome import Allocation, AllocationError, Outcome, OutOfBudget
from dra_allocator.rejection import Rejection
from dra_api.clock import Clock
from dra_scheduler.cache.cluster import Cluster
from dra_scheduler.cache.label_columns import IntArray
from dra_scheduler.cache.pod_affinity import NO_AFFINITY
from dra_scheduler.cache.pod_info import PodInfo
from dra_scheduler.cycle import rejecting
from dra_scheduler.cycle.budget import TimeBudget
from dra_scheduler.cycle.decision import Bind, ClaimPlan, Decision, Reject
from dra_scheduler.cycle.diagnosis import Diagnosis
from dra_scheduler.cycle.filters.affinity import filter_affinity
from dra_scheduler.cycle.filters.claims import filter_allocated
from dra_scheduler.cycle.filters.placement import PlacementFilter, conflicting_names
from dra_scheduler.cycle.filters.resources import filter_ports, filter_resources, fits_row
from dra_scheduler.cycle.pod_claims import PodClaims, refused, resolve
from dra_scheduler.cycle.score import NodeOrder
from dra_scheduler.settings import Settings

ATTEMPTS = 5
"""How often a pod is decided anew in one cycle because the cluster changed under it."""


@dataclass(frozen=True, slots=True)
class _Question:
    """What is put to the allocator: rows of the node table in the order to try, and what the filters found."""

    claims: PodClaims
    rows: IntArray
    diagnosis: Diagnosis
    versions: tuple[int, int | None]


class Cycle:
    """Decides pods, one at a time. A Bind has been assumed in the cluster when it is returned."""

    def __init__(
        self, cluster: Cluster, allocator: Allocator, settings: Settings, clock: Clock, random: Random
    ) -> None:
        self._cluster = cluster
        self._allocator = allocator
        self._settings = settings
        self._clock = clock
        self._order = NodeOrder(random)
        self._placement = PlacementFilter()

    async def decide(self, pod: PodInfo) -> Decision | None:
        """Decide a pod; None: it is no longer there to be decided, or is not what it was."""
        limit = TimeBudget(self._clock, self._settings.filter_timeout)
        for _ in range(ATTEMPTS):
            if self._cluster.pods.get(pod.uid) is not pod:
                return None
            question = self._ask(pod)
            if isinstance(question, Reject):
                return question
            if not question.claims.unallocated:
                return self._commit(pod, question, None)
            outcome = await self._allocate(question, limit)
            if not isinstance(outcome, Allocation):
                return self._rejected(pod, question, outcome)
            if self._still_so(pod, question, outcome):
                return self._commit(pod, question, outcome)
        return rejecting.changing(self._cluster)

    def _ask(self, pod: PodInfo) -> _Question | Reject:
        cluster, table = self._cluster, self._cluster.nodes
        if not len(table):
            return rejecting.no_nodes()
        claims = resolve(pod, cluster.claims)
        if isinstance(claims, str):
            return rejecting.before_filters(pod, cluster, "DynamicResources", claims)
        if pod.node_name:
            return self._ask_node(pod, claims)
        problem = rejecting.unsupported(pod, cluster)
        if problem is not None:
            return problem
        if conflicting_names(pod.selection):
            return rejecting.before_filters(pod, cluster, "NodeAffinity", rejecting.CONFLICTING_NAMES)
        text = refused(pod, claims, cluster.classes, cluster.features)
        if text:
            return rejecting.before_filters(pod, cluster, "DynamicResources", text)
        diagnosis = Diagnosis(table)
        self._placement.apply(pod.selection, table, diagnosis)
        filter_ports(pod, table, diagnosis)
        filter_resources(pod, table, diagnosis)
        filter_affinity(pod, cluster.pods, table, cluster.namespaces, diagnosis)
        self._filter_claims(claims, diagnosis)
        if not diagnosis.any_left():
            return rejecting.no_fit(pod, cluster, diagnosis)
        rows = self._order.best_first(pod, table, diagnosis.left)
        return _Question(claims, rows, diagnosis, self._versions(pod))

    def _ask_node(self, pod: PodInfo, claims: PodClaims) -> _Question | Reject:
        """A pod that somebody put on a node: only its claims are our business, and only there."""
        cluster = self._cluster
        text = refused(pod, claims, cluster.classes, cluster.features)
        if text:
            return rejecting.before_filters(pod, cluster, "DynamicResources", text)
        diagnosis = Diagnosis(cluster.nodes)
        row = cluster.nodes.row(pod.node_name)
        diagnosis.left[:] = False
        if row is not None:
            diagnosis.left[row] = True
        self._filter_claims(claims, diagnosis)
        if not diagnosis.any_left():
            return rejecting.no_fit(pod, cluster, diagnosis)
        return _Question(claims, np.flatnonzero(diagnosis.left), diagnosis, self._versions(pod))

    def _filter_claims(self, claims: PodClaims, diagnosis: Diagnosis) -> None:
        now, timeout = self._clock.now(), self._settings.binding_timeout
        filter_allocated(claims.allocated, self._cluster.nodes, diagnosis, now, timeout)

    async def _allocate(self, question: _Question, limit: TimeBudget) -> Outcome:
        claims = [claim.spec for claim in question.claims.unallocated if claim.spec is not None]
        nodes = self._cluster.nodes.engine_ids[question.rows]
        attempt = self._allocator.allocate(self._cluster.view(), claims, nodes, limit=limit)
        while True:
            outcome = attempt.step(TimeBudget(self._clock, self._settings.slice))
            if outcome is not None:
                return outcome
            await asyncio.sleep(0)

    def _still_so(self, pod: PodInfo, question: _Question, allocation: Allocation) -> bool:
        """Contract 2: whether all that was read is as it was, asked in the tick of the commit."""
        cluster = self._cluster
        if cluster.pods.get(pod.uid) is not pod or not cluster.view().unchanged(allocation.stamp):
            return False
        if self._versions(pod) != question.versions or resolve(pod, cluster.claims) != question.claims:
            return False
        row = cluster.nodes.row(allocation.node)
        return row is not None and (bool(pod.node_name) or fits_row(pod, cluster.nodes, row))

    def _versions(self, pod: PodInfo) -> tuple[int, int | None]:
        """Return what tells whether filters would still let the same nodes pass, ports and resources aside."""
        pods = self._cluster.pods
        social = pods.repelling or pod.affinity is not NO_AFFINITY
        return self._cluster.nodes.static_version, pods.placements if social else None

    def _commit(self, pod: PodInfo, question: _Question, allocation: Allocation | None) -> Bind:
        cluster = self._cluster
        node = cluster.nodes.name(int(question.rows[0])) if allocation is None else allocation.node
        new = {} if allocation is None else {entry.claim_uid: entry.result for entry in allocation.claims}
        # A claim that another pod has just decided: this pod joins, and its bind task writes it if the other fails.
        joined = {c.uid: c.assumed for c in question.claims.allocated if c.allocation is None and c.assumed is not None}
        decided = new | joined
        if pod.node_name:
            cluster.assume_claims(pod.uid, decided.items())
        else:
            cluster.assume(pod.uid, node, decided.items())
        plans = [
            ClaimPlan(claim.uid, claim.namespace, claim.name, decided.get(claim.uid))
            for claim in (*question.claims.unallocated, *question.claims.allocated)
        ]
        return Bind(node, tuple(plans), placed=bool(pod.node_name))

    def _rejected(
        self, pod: PodInfo, question: _Question, outcome: Rejection | AllocationError | OutOfBudget
    ) -> Reject:
        if isinstance(outcome, Rejection):
            return rejecting.no_devices(pod, self._cluster, question.diagnosis, outcome)
        return rejecting.failed(self._cluster, outcome)
