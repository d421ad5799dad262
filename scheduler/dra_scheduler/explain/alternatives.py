"""The alternatives of a prioritized list (KEP-4816) that came before the chosen one, and why they do not do now."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass, replace

from dra_allocator.allocator import Allocator
from dra_allocator.claim import Constraint, DeviceRequest, ResourceClaim
from dra_allocator.outcome import Allocation, AllocationError, OutOfBudget
from dra_api.clock import Clock
from dra_scheduler.cache.claim_store import Claim
from dra_scheduler.cache.cluster import Cluster
from dra_scheduler.cycle.budget import TimeBudget
from dra_scheduler.report.explanation import Viewer, summary

SECONDS = 5.0
"""How long one alternative may be looked at."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """`request` is `name/subrequest`, `why` is what keeps it from the node as the cluster is now."""

    request: str
    why: str


@dataclass(frozen=True, slots=True)
class Place:
    """Where a claim is looked at: in which cluster, on which node, and for whom it is explained."""

    cluster: Cluster
    node: str
    viewer: Viewer
    clock: Clock


def skipped(place: Place, claim: Claim) -> Iterator[Skipped]:
    """Yield what was preferred and not taken; asks as if the claim held nothing, on its pod's node only."""
    result = claim.effective
    taken = {entry.request for entry in result.devices} if result is not None else set()
    for request in claim.spec.requests if claim.spec is not None else ():
        names = [f"{request.name}/{sub.name}" for sub in request.first_available]
        chosen = next((index for index, name in enumerate(names) if name in taken), 0)
        for sub, name in zip(request.first_available[:chosen], names, strict=False):
            yield Skipped(name, _why(place, claim, _only(claim, request, sub)))


def _why(place: Place, claim: Claim, asked: ResourceClaim) -> str:
    view = place.cluster.view().without([claim.uid])
    allocator = Allocator(share_ids=lambda: str(uuid.uuid4()))
    attempt = allocator.allocate(view, [asked], [place.node], limit=TimeBudget(place.clock, SECONDS))
    outcome = attempt.step(TimeBudget(place.clock, SECONDS))
    if isinstance(outcome, Allocation):
        return "it would fit now: its devices were taken, or not there yet, when the claim was allocated"
    if outcome is None or isinstance(outcome, OutOfBudget):
        return "not found out in time"
    if isinstance(outcome, AllocationError):
        return str(outcome)
    return summary(outcome.explain(), place.viewer)


def _only(claim: Claim, request: DeviceRequest, sub: DeviceRequest) -> ResourceClaim:
    """Return the claim with one alternative only; constraints that name the others lose these names."""
    assert claim.spec is not None
    requests = tuple(replace(one, first_available=(sub,)) if one is request else one for one in claim.spec.requests)
    names = {one.name for one in requests}
    names |= {f"{one.name}/{part.name}" for one in requests for part in one.first_available}
    constraints = tuple(kept for one in claim.spec.constraints if (kept := _naming(one, names)) is not None)
    return replace(claim.spec, requests=requests, constraints=constraints)


def _naming(constraint: Constraint, names: set[str]) -> Constraint | None:
    if not constraint.requests:
        return constraint
    kept = tuple(name for name in constraint.requests if name in names)
    return replace(constraint, requests=kept) if kept else None
