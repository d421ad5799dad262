"""One scheduling cycle: a pod in, a decision out. Reads everything, changes nothing before the commit.

    resolve claims -> filter all nodes -> order -> allocate, in slices, and choose -> commit
          |                |                            |                              | something read has changed
          +----------------+---------> Reject <---------+                              +--> once more from the start

The event loop gets its turn between slices, so what was read may have changed by the end. The commit compares and
assumes in one tick: nothing can come between. The alternative, to work on a copy of the cluster, was rejected: copying
costs more than all the rest, and the comparison would still be needed at its end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random

from dra_allocator.allocator import Allocator
from dra_allocator.arrays import BoolArray, IntArray
from dra_allocator.claim import ResourceClaim
from dra_allocator.outcome import AllocationError, AllocationResult, OutOfBudget
from dra_allocator.rejection import Rejection
from dra_api.clock import Clock
from dra_scheduler.cache.cluster import Cluster
from dra_scheduler.cache.pod_info import PodInfo
from dra_scheduler.cycle import rejecting
from dra_scheduler.cycle.budget import TimeBudget
from dra_scheduler.cycle.choosing import Choice, Chooser, NodeResourcesCheck, Promising, needs_check
from dra_scheduler.cycle.circumstances import Explainers, MissingClaims
from dra_scheduler.cycle.decision import Bind, ClaimPlan, Decision, Reject, SpecialPlan
from dra_scheduler.cycle.extended_resources import Variant
from dra_scheduler.cycle.node_resources import NodeResourcesError
from dra_scheduler.cycle.pod_claims import PodClaims, resolve
from dra_scheduler.cycle.promising import prospect
from dra_scheduler.cycle.question import Question, Questioner
from dra_scheduler.cycle.rejection_memo import RejectionMemo, State
from dra_scheduler.cycle.terms import ALONE, Terms
from dra_scheduler.cycle.walk import Walk
from dra_scheduler.settings import Settings

ATTEMPTS = 5
"""How often a pod is decided anew in one cycle because the cluster changed under it."""


class Cycle:
    """Decides pods, one at a time. A Bind has been assumed in the cluster when it is returned."""

    def __init__(
        self, cluster: Cluster, allocator: Allocator, settings: Settings, clock: Clock, random: Random
    ) -> None:
        self._cluster = cluster
        self._allocator = allocator
        self._settings = settings
        self._clock = clock
        self._questioner = Questioner(cluster, clock, random, settings.binding_timeout, self._possible)
        self._explainers = Explainers(cluster, allocator, self._questioner)
        self._memo = RejectionMemo(cluster)

    async def decide(self, pod: PodInfo, terms: Terms = ALONE) -> Decision | None:
        """Decide a pod; None: it is no longer there to be decided, or is not what it was."""
        limit = TimeBudget(self._clock, self._settings.filter_timeout)
        for _ in range(ATTEMPTS):
            if self._cluster.pods.get(pod.uid) is not pod:
                return None
            if not len(self._cluster.nodes):
                return rejecting.no_nodes()
            claims = resolve(pod, self._cluster.claims)
            if isinstance(claims, str):
                reject = rejecting.before_filters(pod, self._cluster, "DynamicResources", claims)
                return replace(reject, explain=MissingClaims(pod, self._cluster.claims))
            known = None if terms.limited else self._memo.get(pod, claims)
            decision = known or await self._decide(pod, claims, limit, terms)
            if decision is not None:
                return decision
        return rejecting.changing(self._cluster)

    def nodes_left(self, pod: PodInfo, claims: PodClaims, terms: Terms) -> frozenset[int]:
        """Return the rows of the nodes that the filters leave, whatever devices there are."""
        question = self._questioner.ask(pod, claims, terms.avoid)
        return frozenset() if isinstance(question, Reject) else frozenset(question.rows.tolist())

    async def _decide(self, pod: PodInfo, claims: PodClaims, limit: TimeBudget, terms: Terms) -> Decision | None:
        """Decide once; None: what was read has changed meanwhile."""
        state = self._memo.state()
        question = self._questioner.ask(pod, claims, terms.avoid)
        if isinstance(question, Reject):
            return self._remember(pod, claims, self._explainers.of_filters(pod, claims, question), state, terms)
        extended = question.is_special
        check = NodeResourcesCheck(pod, claims, self._cluster) if needs_check(claims, self._cluster, extended) else None
        if not claims.unallocated and not extended and check is None:
            return self._commit(pod, question, None, terms)
        walk = self._walk(question, limit, terms)
        try:
            choice = await Chooser(
                pod, claims, self._cluster, check, lambda: self._promising(question, limit, terms)
            ).choose(walk)
        except NodeResourcesError as error:
            return rejecting.failed(self._cluster, error)
        if choice is not None:
            return self._commit(pod, question, choice, terms) if self._still_so(pod, question, choice, check) else None
        if walk.stale:
            return None
        reject = self._rejected(pod, question, walk.outcome(), check)
        return self._remember(pod, claims, self._explainers.of_devices(pod, claims, reject), state, terms)

    def _remember(self, pod: PodInfo, claims: PodClaims, reject: Reject, state: State, terms: Terms) -> Reject:
        if not terms.limited:
            self._memo.put(pod, claims, reject, state)
        return reject

    def _walk(
        self, question: Question, limit: TimeBudget, terms: Terms, nodes: Sequence[Variant] | None = None
    ) -> Walk:
        claims = terms.specs([claim.spec for claim in question.claims.unallocated if claim.spec is not None])
        nodes = question.variants if nodes is None else nodes
        return Walk(self._cluster, self._allocator, claims, nodes, limit=limit, next_slice=self._slice)

    def _slice(self) -> TimeBudget:
        return TimeBudget(self._clock, self._settings.slice)

    def _possible(self, claims: Sequence[ResourceClaim], nodes: IntArray) -> BoolArray | None:
        """See `Possible`."""
        return self._allocator.possible(self._cluster.view(), claims, nodes, self._slice())

    def _promising(self, question: Question, limit: TimeBudget, terms: Terms) -> Promising | None:
        """Count where prioritized lists may get the best that is left."""
        claims = terms.specs([claim.spec for claim in question.claims.unallocated if claim.spec is not None])
        ids = self._cluster.nodes.engine_ids[question.rows]
        if (ids < 0).any():
            return None
        found = prospect(self._allocator, self._cluster.view(), claims, ids, self._slice())
        if found is None:
            return None
        nodes = [variant.only(found.mask) for variant in question.variants]
        return Promising(found.points, self._walk(question, limit, terms, nodes))

    def _still_so(self, pod: PodInfo, question: Question, choice: Choice, check: NodeResourcesCheck | None) -> bool:
        """Contract 2: whether all that was read is as it was, asked in the tick of the commit."""
        cluster, allocation = self._cluster, choice.found.allocation
        if cluster.pods.get(pod.uid) is not pod or not cluster.view().unchanged(allocation.stamp):
            return False
        if not self._questioner.still_so(pod, question, allocation.node, choice.found.special):
            return False
        return check is None or not check.problems(choice.found, choice.node_resources)[0]

    def _commit(self, pod: PodInfo, question: Question, choice: Choice | None, terms: Terms) -> Bind:
        cluster = self._cluster
        node = cluster.nodes.name(int(question.rows[0])) if choice is None else choice.found.allocation.node
        new = {} if choice is None else choice.found.results
        special = self._expect(choice, new)
        resources = () if choice is None else choice.node_resources
        # A claim that another pod has just decided: this pod joins, and its bind task writes it if the other fails.
        joined = {c.uid: c.assumed for c in question.claims.allocated if c.allocation is None and c.assumed is not None}
        decided = new | joined
        if pod.node_name:
            cluster.assume_claims(pod.uid, decided.items())
        else:
            cluster.assume(pod.uid, node, decided.items(), resources, tell=not terms.tentative)
        plans = [
            ClaimPlan(claim.uid, claim.namespace, claim.name, decided.get(claim.uid), claim.allocation)
            for claim in (*question.claims.unallocated, *question.claims.allocated)
        ]
        return Bind(node, tuple(plans), placed=bool(pod.node_name), special=special, node_resources=resources)

    def _expect(self, choice: Choice | None, results: dict[str, AllocationResult]) -> SpecialPlan | None:
        """Assume the devices of the special claim, which does not exist yet, and take it out of the results."""
        if choice is None or choice.found.special is None:
            return None
        special = choice.found.special
        plan = SpecialPlan(special, results.pop(special.spec.uid))
        self._cluster.claims.expect(special.spec, plan.allocation)
        return plan

    def _rejected(
        self,
        pod: PodInfo,
        question: Question,
        outcome: Rejection | AllocationError | OutOfBudget,
        check: NodeResourcesCheck | None,
    ) -> Reject:
        self._questioner.tell_apart(question.claims, question.diagnosis)
        if check is not None and check.refusals.rows:
            question.diagnosis.refused(check.refusals.counts, check.refusals.resolvable)
        if isinstance(outcome, Rejection):
            return rejecting.no_devices(pod, self._cluster, question.diagnosis, outcome)
        if isinstance(outcome, AllocationError) and outcome.is_unschedulable:
            nodes = len(question.rows)
            return rejecting.invalid_pools(pod, self._cluster, question.diagnosis, nodes, outcome)
        return rejecting.failed(self._cluster, outcome)
