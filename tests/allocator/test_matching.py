"""Matching of demands and positions, against trying every way."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from dra_allocator.matching import Demand, can_all_have

DEMANDS = st.lists(
    st.tuples(st.integers(0, 3), st.lists(st.integers(0, 5), unique=True, max_size=5)), min_size=0, max_size=4
)


def by_trying(demands: list[Demand], taken: frozenset[int] = frozenset()) -> bool:
    if not demands:
        return True
    wanted, positions = demands[0]
    left = [position for position in positions if position not in taken]
    return any(by_trying(demands[1:], taken | set(chosen)) for chosen in combinations(left, wanted))


@given(DEMANDS)
def test_the_answer_is_that_of_trying_every_way(demands: list[Demand]) -> None:
    assert can_all_have(demands) == by_trying(demands)


def test_a_position_moves_to_another_demand_along_a_chain() -> None:
    chain: list[Demand] = [(1, [0, 1]), (1, [1, 2]), (1, [2, 3]), (1, [0])]
    assert can_all_have(chain)
    assert not can_all_have([*chain, (1, [3])])
