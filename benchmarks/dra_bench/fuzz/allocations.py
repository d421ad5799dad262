"""Allocating over damaged clusters: always an outcome, in bounded work, and no device is given away twice."""

from __future__ import annotations

from typing import Any

from dra_allocator.allocator import Allocator
from dra_allocator.outcome import Allocation, AllocationError, Outcome, OutOfBudget
from dra_allocator.rejection import Rejection
from dra_bench.fuzz.damage import damaged, smaller
from dra_bench.fuzz.grow import grown
from dra_bench.fuzz.holds import Published, check_result
from dra_bench.fuzz.objects import show
from dra_bench.fuzz.study import PropertyError, Study, Watch
from dra_bench.fuzz.worlds import World, read_world
from dra_bench.oracle.draw import Draw
from dra_bench.oracle.generate_clusters import generate

JSON = dict[str, Any]
READ_MS = 500.0
ATTEMPT_MS = 1000.0
"""CPU time to allocate one claim on one node, the reasons of a rejection included."""
MOST_STEPS = 200_000
"""Questions to the budget that one attempt may ask."""


def make(seed: int) -> JSON:
    """Return a cluster with damage in it, and more kinds of objects than the generator of clusters makes."""
    draw = Draw(f"allocations {seed}")
    cluster = generate(seed)
    cluster["rules"] = [grown(draw, "DeviceTaintRule")] if draw.chance(0.2) else []
    if draw.chance(0.2):
        cluster["slices"].append(grown(draw, "ResourceSlice"))
    if draw.chance(0.2):
        cluster["claimsToAllocate"].append(grown(draw, "ResourceClaim"))
    parts = {name: cluster[name] for name in ("slices", "claimsToAllocate", "classes", "rules")}
    return {**cluster, **damaged(draw, parts, most=5)} if draw.chance(0.9) else cluster


def check(cluster: JSON, watch: Watch) -> str:
    """Allocate each claim that can be read, one after another."""
    with watch.at_most(READ_MS, "read"):
        world = read_world(cluster)
    published = Published(world.slices)
    numbers = iter(range(10**6))
    allocator = Allocator(share_ids=lambda: f"00000000-0000-0000-0000-{next(numbers):012}")
    kinds = [_allocate(world, published, allocator, number, watch) for number in range(len(world.claims))]
    return ", ".join(sorted(set(kinds))) or "no claim"


def _allocate(world: World, published: Published, allocator: Allocator, number: int, watch: Watch) -> str:
    claim = world.claims[number]
    with watch.at_most(ATTEMPT_MS, "attempt"):
        outcome = _outcome(allocator, world, number)
        if isinstance(outcome, Rejection) and not outcome.explain().claims and not outcome.node_errors:
            raise PropertyError("rejected for no reason")
    if isinstance(outcome, Allocation):
        if [one.claim_uid for one in outcome.claims] != [claim.uid]:
            raise PropertyError(f"asked for {claim.uid}, allocated {outcome.claims}")
        result = outcome.claims[0].result
        check_result(published, world.ledger, result)
        world.ledger.assume(claim.uid, result)
        return "allocated"
    if isinstance(outcome, AllocationError):
        if not str(outcome):
            raise PropertyError("an error without text")
        return "error"
    return "rejected" if isinstance(outcome, Rejection) else "gave up"


def _outcome(allocator: Allocator, world: World, number: int) -> Outcome:
    limit = _Steps()
    attempt = allocator.allocate(world.view, [world.claims[number]], [world.node.name], limit=limit)
    outcome = attempt.step(limit)
    while outcome is None:
        outcome = attempt.step(limit)
    if isinstance(outcome, OutOfBudget):
        raise PropertyError(f"no answer after {MOST_STEPS} steps")
    return outcome


class _Steps:
    """A budget of questions instead of time."""

    def __init__(self) -> None:
        self._left = MOST_STEPS

    def exhausted(self) -> bool:
        self._left -= 1
        return self._left < 0


STUDY = Study(make, check, smaller, show)
