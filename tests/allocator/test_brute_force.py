"""The allocator against one that tries everything: same first solution, same refusals, however it is stepped."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dra_allocator.outcome import Allocation, AllocationError
from dra_allocator.rejection import Rejection
from support import brute_force
from support.clusters import NODES, World, worlds
from support.devices import Calls
from support.world import cluster_of

Picks = list[tuple[int, str, str]]
many = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


def expected(world: World, node: str) -> Picks | None:
    picks = brute_force.allocate(world.slices, node, world.claims, world.held)
    return None if picks is None else [(pick[0], pick[1], str(pick[3])) for pick in picks]


def found(outcome: object) -> Picks | None:
    if isinstance(outcome, Rejection):
        return None
    assert isinstance(outcome, Allocation), outcome
    return [
        (number, one.request, str(one.device))
        for number, claim in enumerate(outcome.claims)
        for one in claim.result.devices
    ]


@pytest.mark.parametrize("rich", [False, True])
def test_finds_the_first_solution_of_the_documented_order(rich: bool) -> None:
    @many
    @given(worlds(rich))
    def check(world: World) -> None:
        cluster = cluster_of(world)
        for node in NODES:
            cluster.nodes = [node]
            assert found(cluster.allocate(*world.claims)) == expected(world, node)

    check()


@many
@given(worlds(), st.integers(0, 3))
def test_the_length_of_the_slices_never_changes_the_outcome(world: World, calls: int) -> None:
    cluster = cluster_of(world)
    assert found(cluster.allocate(*world.claims)) == found(cluster.allocate(*world.claims, slices_of=calls))


@many
@given(worlds())
def test_counting_over_all_nodes_agrees_with_the_search_on_each(world: World) -> None:
    cluster = cluster_of(world)
    attempt = cluster.allocator.feasible(cluster.view, world.claims, NODES)
    while (answer := attempt.step(Calls(1))) is None:
        pass
    assert not isinstance(answer, AllocationError)
    assert answer.fits.tolist() == [expected(world, node) is not None for node in NODES]
