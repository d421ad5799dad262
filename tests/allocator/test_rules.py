"""Rules: undo is the exact inverse of do, and pruning never takes away a solution."""

from __future__ import annotations

import itertools

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dra_allocator.candidates import Candidates
from dra_allocator.errors import AttemptFailedError
from dra_allocator.masks import MaskStore
from dra_allocator.problem import NodeProblem
from dra_allocator.requests import resolve
from dra_allocator.rules.account import Account
from support.clusters import World, worlds
from support.world import cluster_of

few = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def problem_of(world: World) -> tuple[NodeProblem, Account, list[Candidates]]:
    cluster = cluster_of(world)
    view = cluster.view
    claims = resolve(cluster.table, cluster.features, world.claims)
    problem = NodeProblem(view, MaskStore(1 << 20), view.layout(0), claims)
    requests = [one for claim in problem.claims for request in claim for one in request]
    return problem, Account(problem, claims), requests


def take(account: Account, request: Candidates, position: int) -> bool:
    """All rules or none, as the search does it."""
    for count, rule in enumerate(account.rules):
        if not rule.take(request, position):
            for done in reversed(account.rules[:count]):
                done.release(request, position)
            return False
    return True


def answers(account: Account, pairs: list[tuple[Candidates, int]]) -> list[bool]:
    """Whether each device could be picked next, one at a time."""
    result = []
    for request, position in pairs:
        done = take(account, request, position)
        result.append(done)
        if done:
            release(account, request, position)
    return result


def release(account: Account, request: Candidates, position: int) -> None:
    for rule in reversed(account.rules):
        rule.release(request, position)


@few
@given(worlds(), st.data())
def test_undo_restores_every_answer(world: World, data: st.DataObject) -> None:
    problem, account, requests = problem_of(world)
    pairs = [(request, position) for request in requests for position in request.positions if request.status[position]]
    before = answers(account, pairs)
    states = [rule.state() for rule in account.rules]
    taken: list[tuple[Candidates, int]] = []
    for request, position in data.draw(st.permutations(pairs))[:6]:
        used = {one for _, one in taken}
        if (position not in used or problem.is_shareable(position)) and take(account, request, position):
            taken.append((request, position))
    for request, position in reversed(taken):
        release(account, request, position)
    assert [rule.state() for rule in account.rules] == states
    assert answers(account, pairs) == before


@few
@given(worlds())
def test_what_pruning_leaves_out_cannot_be_part_of_a_choice(world: World) -> None:
    _, account, requests = problem_of(world)
    for request in requests:
        wanted = min(request.wanted, 3)
        if request.is_all or not request.positions:
            continue
        possible: set[int] = set()
        for choice in itertools.combinations(request.positions, wanted):
            if chooses(account, request, choice):
                possible.update(choice)
        for rule in account.rules:
            assert possible <= {*rule.prune(request, request.positions, wanted)}


def chooses(account: Account, request: Candidates, choice: tuple[int, ...]) -> bool:
    taken: list[int] = []
    try:
        for position in choice:
            if not take(account, request, position):
                return False
            taken.append(position)
        return True
    except AttemptFailedError:
        return False
    finally:
        for position in reversed(taken):
            release(account, request, position)
