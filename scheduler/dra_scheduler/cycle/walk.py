"""Nodes that can hold a pod's claims, best first, one after the other: what is asked of the allocator and how often.

    variants of the claims, each with its nodes --allocate--> the first node of each --best rank--> next() ... None

Most pods need one node of one variant, which is one attempt of the allocator. Further nodes are asked for when a check
after the allocation refuses a node, or when nodes are compared by what they would allocate.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from dra_allocator.allocator import Allocator
from dra_allocator.budget import Budget
from dra_allocator.claim import ResourceClaim
from dra_allocator.outcome import Allocation, AllocationError, AllocationResult, Outcome, OutOfBudget
from dra_allocator.rejection import Explanation, Rejection
from dra_scheduler.cache.cluster import Cluster
from dra_scheduler.cycle.extended_resources import SpecialClaim, Variant

NextSlice = Callable[[], Budget]
"""Makes the budget of the next slice."""


@dataclass(frozen=True, slots=True)
class Found:
    """A node (its `row`, and its `rank` among all nodes in the order to try) with what the claims would get there."""

    row: int
    rank: int
    allocation: Allocation
    special: SpecialClaim | None

    @property
    def results(self) -> dict[str, AllocationResult]:
        """What each claim gets, by uid."""
        return {entry.claim_uid: entry.result for entry in self.allocation.claims}


@dataclass(slots=True)
class _Lane:
    """One variant: the nodes before `offset` have been decided."""

    variant: Variant
    claims: Sequence[ResourceClaim]
    offset: int = 0
    found: Found | None = None
    end: Outcome | None = None
    node_errors: dict[str, AllocationError] = field(default_factory=dict)
    dropped: int = 0

    @property
    def open(self) -> bool:
        return self.end is None and self.offset < len(self.variant.rows)


class Walk:
    """One walk over the nodes that the filters left. `drop` says that the node found last will not do."""

    def __init__(
        self,
        cluster: Cluster,
        allocator: Allocator,
        claims: Sequence[ResourceClaim],
        nodes: Iterable[Variant],
        *,
        limit: Budget,
        next_slice: NextSlice,
    ) -> None:
        self._cluster = cluster
        self._allocator = allocator
        self._limit = limit
        self._next_slice = next_slice
        self._slice = next_slice()
        self._lanes = [
            _Lane(variant, [*claims, *([variant.special.spec] if variant.special is not None else ())])
            for variant in nodes
        ]
        self._last: _Lane | None = None
        self.stale = False
        """A node has gone meanwhile: what was found, or not found, says nothing any more."""

    async def next(self) -> Found | None:
        """Return the next node that can hold the claims, None if there is none."""
        best: _Lane | None = None
        for lane in self._lanes:
            if lane.found is None and lane.open:
                first = int(lane.variant.ranks[lane.offset])
                if best is None or best.found is None or first < best.found.rank:
                    await self._advance(lane)
            if lane.found is not None and (best is None or best.found is None or lane.found.rank < best.found.rank):
                best = lane
        self._last = best
        if best is None:
            return None
        found, best.found = best.found, None
        return found

    def drop(self) -> None:
        """The node that `next` returned last is out for another reason than its devices."""
        if self._last is not None:
            self._last.dropped += 1

    def outcome(self) -> Rejection | AllocationError | OutOfBudget:
        """Return why no node will do, once `next` has returned None and every node it had found was dropped."""
        ends = [lane.end for lane in self._lanes if lane.end is not None]
        for end in ends:
            if isinstance(end, OutOfBudget):
                return end
        if len(self._lanes) == 1 and len(ends) == 1 and not self._lanes[0].dropped:
            only = ends[0]
            if isinstance(only, Rejection | AllocationError):
                return only
        errors = [end for end in ends if isinstance(end, AllocationError)]
        if len(errors) == len(self._lanes) and not any(lane.dropped for lane in self._lanes):
            return min(errors, key=lambda error: error.is_unschedulable)
        return Rejection(
            nodes=sum(len(lane.variant.rows) - lane.dropped for lane in self._lanes),
            explain=_All([end for end in ends if isinstance(end, Rejection)]),
            node_errors=self._node_errors(),
        )

    def _node_errors(self) -> Mapping[str, str]:
        texts: dict[str, str] = {}
        for lane in self._lanes:
            texts.update({name: str(error) for name, error in lane.node_errors.items()})
            if isinstance(lane.end, Rejection):
                texts.update(lane.end.node_errors)
            elif isinstance(lane.end, AllocationError):
                rows = lane.variant.rows[lane.offset :].tolist()
                texts.update({self._cluster.nodes.name(row): str(lane.end) for row in rows})
        return texts

    async def _advance(self, lane: _Lane) -> None:
        """Look for the next node of a lane."""
        if self._slice.exhausted():
            # By many nodes that took a moment each.
            await self._rest()
        rows = lane.variant.rows[lane.offset :]
        ids = self._cluster.nodes.engine_ids[rows]
        if (ids < 0).any():
            self._give_up(lane)
            return
        attempt = self._allocator.allocate(self._cluster.view(), lane.claims, ids, limit=self._limit)
        outcome = attempt.step(self._slice)
        while outcome is None:
            await self._rest()
            outcome = attempt.step(self._slice)
        if not isinstance(outcome, Allocation):
            lane.end = outcome
            return
        row = self._cluster.nodes.row(outcome.node)
        places = [] if row is None else np.flatnonzero(rows == row).tolist()
        lane.node_errors.update(outcome.node_errors)
        if row is None or not places:
            self._give_up(lane)
            return
        place = lane.offset + places[0]
        lane.found = Found(row, int(lane.variant.ranks[place]), outcome, lane.variant.special)
        lane.offset = place + 1

    async def _rest(self) -> None:
        """Let the event loop have its turn, and begin another slice."""
        await asyncio.sleep(0)
        self._slice = self._next_slice()

    def _give_up(self, lane: _Lane) -> None:
        self.stale = True
        lane.offset = len(lane.variant.rows)


@dataclass(frozen=True, slots=True)
class _All:
    """The explanations of the rejections of several variants, told as one."""

    rejections: Sequence[Rejection]

    def __call__(self, node: str | None = None, /) -> Explanation:
        told = [rejection.explain(node) for rejection in self.rejections]
        if not told:
            return Explanation(nodes=0)
        return replace(
            told[0],
            nodes=sum(one.nodes for one in told),
            claims=tuple(claim for one in told for claim in one.claims),
            together=tuple(rule for one in told for rule in one.together),
            missing=tuple(missing for one in told for missing in one.missing),
            nodes_enough=sum(one.nodes_enough for one in told),
        )
