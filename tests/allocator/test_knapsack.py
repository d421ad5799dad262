"""Looking ahead over counters against trying everything, and whole searches among devices that are all different."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import partial

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dra_allocator.claim import DeviceRequest, ResourceClaim
from dra_allocator.device import Device, ResourceSlice
from dra_allocator.knapsack import Knapsack
from dra_allocator.lightest import IN, OUT, Lightest
from dra_allocator.matching import Demand
from dra_allocator.outcome import Allocation
from dra_allocator.reachable import Reachable
from dra_cel.slices import Slices
from support import brute_force
from support.devices import DRIVER, Cluster, claim, counter_set, counters, device, picked, request, resource_slice

many = settings(max_examples=60, deadline=None)
Matrix = list[list[int]]


def ways(demands: Sequence[Demand]) -> list[tuple[tuple[int, ...], ...]]:
    """All ways to meet the demands, no row given twice."""
    options = [itertools.combinations(rows, wanted) for wanted, rows in demands]
    return [way for way in itertools.product(*options) if len({*itertools.chain(*way)}) == sum(map(len, way))]


@st.composite
def knapsacks(draw: st.DrawFn) -> tuple[Matrix, list[int], list[Demand]]:
    rows, columns = draw(st.integers(3, 7)), draw(st.integers(1, 3))
    amount = st.integers(0, draw(st.sampled_from((3, 20, 10**12))))
    amounts = [[draw(amount) for _ in range(columns)] for _ in range(rows)]
    demands = []
    for _ in range(draw(st.integers(1, 3))):
        some = draw(st.lists(st.integers(0, rows - 1), min_size=1, unique=True).map(sorted))
        demands.append((draw(st.integers(1, min(3, len(some)))), some))
    part = draw(st.sampled_from((0.3, 0.5, 0.7)))
    left = [int(part * sum(row[column] for row in amounts)) for column in range(columns)]
    if draw(st.booleans()) and (all_ways := ways(demands)):
        exactly = [*itertools.chain(*draw(st.sampled_from(all_ways)))]
        left = [sum(amounts[row][column] for row in exactly) for column in range(columns)]
    return amounts, left, demands


def solutions(amounts: Matrix, left: list[int], demands: list[Demand]) -> list[tuple[tuple[int, ...], ...]]:
    def fits(way: tuple[tuple[int, ...], ...]) -> bool:
        chosen = [*itertools.chain(*way)]
        return all(sum(amounts[row][column] for row in chosen) <= most for column, most in enumerate(left))

    return [way for way in ways(demands) if fits(way)]


@many
@given(knapsacks(), st.sampled_from((0, 1, 1000)))
def test_nothing_that_can_be_the_first_is_ruled_out(made: tuple[Matrix, list[int], list[Demand]], effort: int) -> None:
    amounts, left, demands = made
    possible = Knapsack(np.array(amounts, float), np.array(left, float), demands).firsts(effort)
    found = {way[0][0] for way in solutions(amounts, left, demands)}
    ruled_out = {row for row, may_be in zip(demands[0][1], possible, strict=True) if not may_be}
    assert not ruled_out & found


@many
@given(knapsacks())
def test_with_enough_effort_it_knows_that_there_is_no_solution(made: tuple[Matrix, list[int], list[Demand]]) -> None:
    amounts, left, demands = made
    possible = Knapsack(np.array(amounts, float), np.array(left, float), demands).firsts(1000)
    assume(ways(demands))  # whether there are enough devices at all is asked before
    assert any(possible) == bool(solutions(amounts, left, demands))


@many
@given(knapsacks())
def test_one_demand_under_one_counter_is_exact(made: tuple[Matrix, list[int], list[Demand]]) -> None:
    amounts, left, demands = [row[:1] for row in made[0]], made[1][:1], made[2][:1]
    possible = Knapsack(np.array(amounts, float), np.array(left, float), demands).firsts(0)
    found = {way[0][0] for way in solutions(amounts, left, demands)}
    if sum(amounts[row][0] for row in demands[0][1]) > left[0]:
        assert {row for row, may_be in zip(demands[0][1], possible, strict=True) if may_be} == found


@many
@given(knapsacks(), st.data())
def test_the_lightest_rows_are_the_lightest_of_all_ways(
    made: tuple[Matrix, list[int], list[Demand]], data: st.DataObject
) -> None:
    heavy, demands = [float(row[0]) for row in made[0]], made[2]
    some_fixed = data.draw(st.booleans())
    fixed = [data.draw(st.sampled_from((0, 0, IN, OUT))) if some_fixed else 0 for _ in heavy]
    must, never = ({row for row, state in enumerate(fixed) if state == wanted} for wanted in (IN, OUT))
    sets = [{*itertools.chain(*way)} for way in ways(demands)]
    allowed = [sum(heavy[row] for row in one) for one in sets if must <= one and not never & one]
    found = Lightest(demands).rows(np.array(heavy), np.array(fixed, np.int8) if some_fixed else None)
    assert (None if found is None else heavy_of(found.tolist(), heavy)) == min(allowed, default=None)


def test_looking_at_all_sums_pauses_and_finds_the_same() -> None:
    amounts = np.array([(100 + 37 * at % 101, 250 - 37 * at % 101) for at in range(20)], float)
    left = np.array([1100.0, 1700.0])
    look = partial(Reachable, amounts, left, 8, np.eye(2))
    work, steps = Slices(look), 1
    while not work.step(lambda: True):
        steps += 1
    assert steps > 20
    whole = look()
    assert whole.is_complete
    assert work.value.is_possible == whole.is_possible
    first = range(12)
    assert work.value.firsts(first, 8, left) == whole.firsts(first, 8, left)


def heavy_of(rows: list[int], heavy: list[float]) -> float:
    assert len({*rows}) == len(rows)
    return sum(heavy[row] for row in rows)


@st.composite
def crowds(draw: st.DrawFn) -> tuple[list[ResourceSlice], ResourceClaim]:
    """Partitions that are all different, a few shared ones among them, and counters for not quite enough of them."""
    names = draw(st.sampled_from(("a", "ab", "abc")))
    devices = [draw(partitions(number, names)) for number in range(draw(st.integers(4, 7)))]
    limits = {name: draw(st.integers(10, 50)) for name in names}
    shared = resource_slice("c", shared_counters=(counter_set("set", **limits),), node="n1", slice_count=2)
    return [shared, resource_slice("s", devices, node="n1", slice_count=2)], claim(*draw(asked()))


@st.composite
def partitions(draw: st.DrawFn, number: int, names: str) -> Device:
    consumed = counters("set", **{name: draw(st.integers(1, 20)) for name in names})
    shared = draw(st.integers(0, 5)) == 0
    return device(f"d{number}", numa=number, consumes_counters=(consumed,), allow_multiple_allocations=shared)


@st.composite
def asked(draw: st.DrawFn) -> list[DeviceRequest]:
    def plain(name: str) -> DeviceRequest:
        few = draw(st.sampled_from(((), (f'device.attributes["{DRIVER}"].numa < 4',))))
        return request(name, draw(st.integers(1, 3)), selectors=few)

    def prioritized(name: str) -> DeviceRequest:
        return DeviceRequest(name, first_available=(plain("s0"), plain("s1")))

    return [draw(st.sampled_from((plain, plain, prioritized)))(f"r{at}") for at in range(draw(st.integers(1, 3)))]


@many
@given(crowds())
def test_the_first_solution_among_different_partitions_is_the_documented_one(
    made: tuple[list[ResourceSlice], ResourceClaim],
) -> None:
    slices, wanted = made
    expected = brute_force.allocate(slices, "n1", [wanted], {})
    outcome = Cluster(*slices).allocate(wanted)
    assert (picked(outcome)[0] if isinstance(outcome, Allocation) else None) == (
        None if expected is None else [pick[3].device for pick in expected]
    )


@many
@given(knapsacks(), st.integers(0, 2))
def test_sums_of_the_last_rows_say_exactly_which_can_be_the_first(
    made: tuple[Matrix, list[int], list[Demand]], taken: int
) -> None:
    """`taken` rows, the first ones, are given already; one number of further ones is wanted."""
    amounts, most, wanted = made[0], made[1], made[2][0][0]
    weights = np.column_stack([np.eye(len(most)), np.ones(len(most))])
    reachable = Reachable(np.array(amounts, float), np.array(most, float), wanted + taken, weights)
    left = [amount - sum(row[column] for row in amounts[:taken]) for column, amount in enumerate(most)]
    assume(min(left) >= 0)
    rows = [*range(taken, len(amounts))]
    found = {way[0][0] for way in solutions(amounts, left, [(wanted, rows)])}
    possible = reachable.firsts(rows, wanted, np.array(left, float))
    assert {row for row, may_be in zip(rows, possible, strict=True) if may_be} == found


def test_different_partitions_that_have_to_add_up_exactly() -> None:
    """a + b is the same for all of them: ten take exactly what is left of both, a sum that few choices have."""
    amounts = [{"a": 100 + 37 * at % 101, "b": 250 - 37 * at % 101, "c": 100 + 53 * at % 97} for at in range(24)]
    devices = [device(f"d{at:03}", consumes_counters=(counters("set", **one),)) for at, one in enumerate(amounts)]
    slices = [
        resource_slice("c", shared_counters=(counter_set("set", a=1500, b=2000, c=1300),), node="n1", slice_count=2),
        resource_slice("s", devices, node="n1", slice_count=2),
    ]
    outcome = Cluster(*slices).allocate(claim(request(count=10)))
    by_name = {f"d{at:03}": one for at, one in enumerate(amounts)}
    chosen = [by_name[name] for name in picked(outcome)[0]]
    assert sum(one["a"] for one in chosen) == 1500
    assert sum(one["c"] for one in chosen) <= 1300


def test_counters_of_which_none_can_be_short_have_no_strictest_weights() -> None:
    for amounts, left in ((np.zeros((3, 0)), np.zeros(0)), (np.ones((3, 1)), np.array([9.0]))):
        weights = Knapsack(amounts, left, [(2, range(3))]).strictest()
        assert weights.shape == (len(left), len(left) + 1)
        assert np.isfinite(weights).all()
