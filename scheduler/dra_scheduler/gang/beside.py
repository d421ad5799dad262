"""A place for one more pod of a group, by giving others of it other devices.

    node --its pods' claims, and those elsewhere whose devices it reaches--> one exact search, with the pod's own
      ^                                                                       | found, and usable where each is
      +---- no: the next node                                                 v
                                                                            taken

Two pods on one node that ask for [whole, half] get halves; two pods on different nodes that compete for devices in the
network get those with which both can be.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterator, Sequence

from dra_allocator.allocator import Allocator
from dra_allocator.outcome import Allocation, AllocationResult
from dra_allocator.view import View
from dra_api.clock import Clock
from dra_scheduler.cache.claim_store import Claim
from dra_scheduler.cache.cluster import Cluster
from dra_scheduler.cache.pod_info import PodInfo
from dra_scheduler.cycle.budget import TimeBudget
from dra_scheduler.cycle.cycle import Cycle
from dra_scheduler.cycle.decision import Bind, ClaimPlan, Reject
from dra_scheduler.cycle.extended_resources import backed_resources
from dra_scheduler.cycle.filters.claims import usable
from dra_scheduler.cycle.node_resources import GATE as NODE_RESOURCES
from dra_scheduler.cycle.node_resources import takes_any
from dra_scheduler.cycle.pod_claims import PodClaims, resolve
from dra_scheduler.cycle.terms import Terms
from dra_scheduler.gang.trial import Trial
from dra_scheduler.settings import Settings

FREE_NODES = 4
"""Nodes without pods of the group that are tried for devices which pods elsewhere can give up."""
MOST_MOVED = 64
"""Claims that are allocated anew together with those of pods elsewhere, at most."""
SECONDS = 1.0
"""For one search, at most."""


class Beside:
    """Puts pods beside those of a trial. Devices that take something of their node are left alone."""

    def __init__(self, cluster: Cluster, cycle: Cycle, allocator: Allocator, settings: Settings, clock: Clock) -> None:
        self._cluster = cluster
        self._cycle = cycle
        self._allocator = allocator
        self._settings = settings
        self._clock = clock

    async def put(self, pod: PodInfo, reject: Reject, terms: Terms, trial: Trial) -> bool:
        """Place a pod that was rejected, and add it to the trial; whether there was a way."""
        claims = resolve(pod, self._cluster.claims)
        if "DynamicResources" not in reject.plugins or isinstance(claims, str) or not claims.unallocated:
            return False
        allocated = [claim.effective for claim in claims.allocated if claim.effective is not None]
        if backed_resources(pod, self._cluster) or self._take_of_nodes(allocated):
            # What the devices take of the node, or serve of it, would have to be worked out anew for all of them.
            return False
        left = self._cycle.nodes_left(pod, claims, terms)
        for row, others in self._ways(left, trial):
            view = self._cluster.view().without(claim.uid for claim in others)
            found = await self._allocate(view, [*others, *claims.unallocated], row, terms)
            if found is None or not view.unchanged(found.stamp) or not self._may_move(others, found, trial):
                continue
            if self._still_so(pod, claims, row, terms):
                self._take(pod, claims, found, others, trial)
                return True
        return False

    def _ways(self, left: Collection[int], trial: Trial) -> Iterator[tuple[int, list[Claim]]]:
        """Yield nodes (rows) with the claims that are allocated anew there: those of its pods, then more of them."""
        table = self._cluster.nodes
        rows = [row for row in map(table.row, trial.nodes()) if row is not None and row in left]
        for row in rows:
            own = trial.own_claims(table.name(row))
            if own:
                yield row, own
        free = sorted(set(left).difference(rows))[:FREE_NODES]
        for row in (*rows, *free):
            own = trial.own_claims(table.name(row))
            more = [claim for claim in trial.claims() if claim not in own and self._reached(claim, row)]
            if more and len(own) + len(more) <= MOST_MOVED:
                yield row, [*own, *more]

    def _reached(self, claim: Claim, row: int) -> bool:
        return claim.assumed is not None and bool(usable(claim.assumed, self._cluster.nodes)[row])

    def _may_move(self, others: Sequence[Claim], found: Allocation, trial: Trial) -> bool:
        """Whether the claims are still the trial's, and their pods can be where they are with the new devices."""
        results = {entry.claim_uid: entry.result for entry in found.claims}
        if self._take_of_nodes(results.values()):
            return False
        known = trial.claims()
        for claim in others:
            if claim not in known or claim.assumed is None or self._take_of_nodes([claim.assumed]):
                return False
            there = usable(results[claim.uid], self._cluster.nodes)
            rows = [self._cluster.nodes.row(trial.node_of(uid)) for uid in claim.sharers]
            if not all(row is not None and there[row] for row in rows):
                return False
        return True

    def _take_of_nodes(self, results: Collection[AllocationResult]) -> bool:
        if not self._cluster.gates.enabled(NODE_RESOURCES):
            return False
        return any(takes_any(self._cluster.devices, result) for result in results)

    def _still_so(self, pod: PodInfo, claims: PodClaims, row: int, terms: Terms) -> bool:
        """Whether what was asked of the allocator is what would be asked now: in the tick in which it is assumed."""
        now = self._cluster.pods.get(pod.uid)
        if now is not pod or resolve(pod, self._cluster.claims) != claims:
            return False
        return row in self._cycle.nodes_left(pod, claims, terms)

    async def _allocate(self, view: View, claims: Sequence[Claim], row: int, terms: Terms) -> Allocation | None:
        specs = terms.specs([claim.spec for claim in claims if claim.spec is not None])
        node = self._cluster.nodes.engine_ids[[row]]
        limit = TimeBudget(self._clock, min(SECONDS, self._settings.filter_timeout or SECONDS))
        attempt = self._allocator.allocate(view, specs, node, limit=limit)
        while True:
            outcome = attempt.step(TimeBudget(self._clock, self._settings.slice))
            # Also after the last slice: the next node follows.
            await asyncio.sleep(0)
            if outcome is not None:
                return outcome if isinstance(outcome, Allocation) else None

    def _take(self, pod: PodInfo, claims: PodClaims, found: Allocation, others: Sequence[Claim], trial: Trial) -> None:
        results = {entry.claim_uid: entry.result for entry in found.claims}
        trial.reassign((claim, results[claim.uid]) for claim in others)
        mine = {claim.uid: results[claim.uid] for claim in claims.unallocated}
        joined = {c.uid: c.assumed for c in claims.allocated if c.allocation is None and c.assumed is not None}
        decided = mine | joined
        self._cluster.assume(pod.uid, found.node, decided.items(), tell=False)
        plans = (
            ClaimPlan(claim.uid, claim.namespace, claim.name, decided.get(claim.uid), claim.allocation)
            for claim in (*claims.unallocated, *claims.allocated)
        )
        trial.add(pod, Bind(found.node, tuple(plans)))
