"""Where prioritized lists may get the best alternatives that are left: told by counting, without a search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dra_allocator.allocator import Allocator
from dra_allocator.arrays import BoolArray, IntArray
from dra_allocator.budget import Budget
from dra_allocator.claim import DeviceRequest, ResourceClaim
from dra_allocator.view import View
from dra_scheduler.cycle.preference import FIRST


@dataclass(frozen=True, slots=True)
class Prospect:
    """`points` is what no node exceeds; only the nodes in the mask (one entry per node given) may have as many."""

    points: int
    mask: BoolArray


def prospect(
    allocator: Allocator, view: View, claims: Sequence[ResourceClaim], nodes: IntArray, budget: Budget
) -> Prospect | None:
    """Return the best that the lists of the claims may get on any of the nodes (ids); None: counting does not tell."""
    points = 0
    mask: BoolArray | None = None
    best: list[ResourceClaim] = []
    for claim in claims:
        for request in claim.requests:
            if not request.first_available:
                continue
            asked = [_only(claim, request, alternative) for alternative in request.first_available]
            found = _first_possible(allocator, view, asked, nodes, budget)
            if found is None:
                return None
            points += FIRST - found[0]
            best.append(asked[found[0]])
            mask = found[1] if mask is None else mask & found[1]
    if mask is None:
        return None
    together = allocator.possible(view, best, nodes, budget)
    return Prospect(points, mask if together is None else together)


def _only(claim: ResourceClaim, request: DeviceRequest, alternative: DeviceRequest) -> ResourceClaim:
    """Return the claim as if it had this alternative of this request only."""
    return replace(claim, requests=(replace(request, first_available=(alternative,)),), constraints=())


def _first_possible(
    allocator: Allocator, view: View, claims: Sequence[ResourceClaim], nodes: IntArray, budget: Budget
) -> tuple[int, BoolArray] | None:
    """Return the place of the first claim that some node may serve, and which may."""
    for place, claim in enumerate(claims):
        possible = allocator.possible(view, [claim], nodes, budget)
        if possible is None:
            return None
        if possible.any():
            return place, possible
    return None
