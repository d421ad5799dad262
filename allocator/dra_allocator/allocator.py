"""The allocator: claims and nodes in, an attempt out. Pure; one per process, for its caches."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from dra_allocator.arrays import BoolArray, IntArray
from dra_allocator.attempt import Attempt, CandidateOrder, Task, Tools
from dra_allocator.budget import Budget
from dra_allocator.claim import ResourceClaim
from dra_allocator.errors import AttemptFailedError
from dra_allocator.explain import Explainer
from dra_allocator.feasible import Feasibility, FeasibleAttempt
from dra_allocator.masks import MaskStore
from dra_allocator.outcome import AllocationError, Outcome
from dra_allocator.prefilter import Prefilter
from dra_allocator.rejection import Explain
from dra_allocator.requests import resolve
from dra_allocator.sliced import Sliced
from dra_allocator.view import View

__all__ = ["Allocator", "Budget", "CandidateOrder", "Feasibility", "Sliced"]

DEFAULT_MASK_BYTES = 64 << 20


class Allocator:
    """Finds devices for claims.

    It holds compiled selectors and what they say about the devices, bounded by `mask_bytes` (bytes; half for
    masks, half for counts). `share_ids` is the source of random UUIDs for shares of devices.
    """

    def __init__(self, *, share_ids: Callable[[], str], mask_bytes: int = DEFAULT_MASK_BYTES) -> None:
        masks = MaskStore(mask_bytes // 2)
        self._tools = Tools(masks, Prefilter(masks, mask_bytes // 2), share_ids)

    def allocate(
        self,
        view: View,
        claims: Sequence[ResourceClaim],
        nodes: Sequence[str] | IntArray,
        *,
        candidates: CandidateOrder | None = None,
        limit: Budget | None = None,
    ) -> Sliced[Outcome]:
        """Return an attempt to put all claims on the first possible of the nodes, in the order given.

        Args:
            view: what there is and who holds it.
            claims: claims that are not allocated yet.
            nodes: names, or ids of the table (int32), which saves a lookup each.
            candidates: order of the devices on a node; None: the documented one.
            limit: ends the attempt as a whole with OutOfBudget.

        """
        attempt = Attempt(self._tools, view, Task(claims, nodes, candidates, limit))
        return Sliced(attempt, limit, attempt.expired)

    def possible(
        self, view: View, claims: Sequence[ResourceClaim], nodes: IntArray, budget: Budget
    ) -> BoolArray | None:
        """Return which of the nodes (ids) counting does not rule out; None: the budget did not suffice to count.

        Where it is False the claims do not fit; where it is True they may. A claim in error rules out nothing.
        """
        try:
            resolved = resolve(view.table, view.features, claims)
        except AttemptFailedError:
            return np.ones(len(nodes), np.bool_)
        if not self._tools.prefilter.prepare(view, resolved, budget):
            return None
        possible: BoolArray = self._tools.prefilter.survey(view, resolved).possible[nodes]
        return possible

    def feasible(
        self, view: View, claims: Sequence[ResourceClaim], nodes: Sequence[str] | IntArray
    ) -> Sliced[Feasibility | AllocationError]:
        """Return an attempt to find out for each of the nodes whether it can hold all claims."""
        return Sliced(FeasibleAttempt(self._tools, view, claims, nodes))

    def explain(self, view: View, claims: Sequence[ResourceClaim], nodes: Sequence[str] | IntArray) -> Explain:
        """Return what explains why the claims do not fit on the nodes, without an attempt."""
        return Explainer(view, self._tools.masks, self._tools.prefilter, claims, nodes)
