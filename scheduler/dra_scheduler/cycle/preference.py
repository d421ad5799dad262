"""How well a node serves prioritized lists (KEP-4816): the earlier the alternatives it serves, the better.

Source: kube-scheduler's score of DynamicResources. Each request with `firstAvailable` is worth 8 for its first
alternative, 7 for the second, and so on; a node's points are the sum over all claims of the pod, brought to 0 to 100 by
the best node, with twice the weight of a score over cpu and memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from dra_allocator.claim import ResourceClaim
from dra_allocator.outcome import AllocationResult

FIRST = 8
"""Points for the first alternative of a list, which can have as many (API limit)."""
WEIGHT = 2
MAX_SCORE = 100
MIN_FEASIBLE = 100
"""Nodes below which all that fit are compared (kube-scheduler's numbers, here and in `to_compare`)."""


def points(claim: ResourceClaim, result: AllocationResult) -> int:
    """Return what an allocation of the claim is worth: 0 if the claim has no prioritized list."""
    picked = {entry.request for entry in result.devices if "/" in entry.request}
    return sum(
        FIRST - place
        for request in claim.requests
        for place, alternative in enumerate(request.first_available)
        if f"{request.name}/{alternative.name}" in picked
    )


def most_points(claims: Iterable[ResourceClaim]) -> int:
    """Return what these claims are worth at best: each list served by its first alternative."""
    return FIRST * sum(1 for claim in claims for request in claim.requests if request.first_available)


def total_points(
    claims: Sequence[tuple[ResourceClaim, AllocationResult | None]], results: Mapping[str, AllocationResult]
) -> int:
    """Return the points of claims with what they are allocated, or with what a node would give them (by uid).

    Raises KeyError for a claim with neither.
    """
    return sum(points(claim, allocated or results[claim.uid]) for claim, allocated in claims)


def normalized(values: Sequence[int]) -> list[int]:
    """Bring points to 0 to 100 by the highest, rounded down; all zero if there are none above."""
    highest = max(values, default=0)
    return [MAX_SCORE * value // highest if highest else 0 for value in values]


def to_compare(nodes: int) -> int:
    """Return after how many nodes that fit no more are looked for, of so many nodes in the cluster."""
    if nodes < MIN_FEASIBLE:
        return nodes
    percentage = max(5, 50 - nodes // 125)
    return max(MIN_FEASIBLE, nodes * percentage // 100)
