"""Work in slices: wherever it pauses, what comes out is the same; it never runs far without asking."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain, cycle, repeat
from typing import TypeVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dra_bench.fuzz.shapes import SHAPES
from dra_cel import CelError, CompileError, CostLimitExceeded, DeviceColumns, DeviceFields, Selector, compile_selector
from dra_cel.selector import start_compiling
from dra_cel.slices import STRIDE, TICKS, Slices, gathered, paced, rest, tick, unbroken
from support.cel_devices import DEVICES, A
from support.cel_texts import EXPRESSION

T = TypeVar("T")

DEAR = (
    "lists.range(40).map(x, lists.range(40).map(y, x + y)).flatten().sum() == 62400",
    "lists.range(10000).all(i, 1 / 0 == 1 || true)",
    f"lists.range(300).exists(x, {A}.nosuch == x) || lists.range(300).exists_one(x, x == 7)",
    "lists.range(30).all(x, lists.range(30).all(y, lists.range(30).all(z, x + y + z >= 0)))",
    "lists.range(60).all(x, lists.range(60).all(y, lists.range(60).all(z, x + y + z >= 0)))",
    "cel.bind(a, lists.range(3000), a + a == a.map(x, x) + a && a.isSorted() && a.indexOf(-1) == -1)",
    "lists.range(200).transformMap(i, v, string(v)) == lists.range(200).transformMap(i, v, string(v))",
    "sets.contains(lists.range(90).map(x, x % 2 == 0 ? dyn(x) : dyn(string(x))), lists.range(45).map(x, dyn(x * 2)))",
    f"{A}.lanes.exists(x, lists.range(4000).max() < x) || '%s'.format([lists.range(3000)]) != ''",
    "'" + "ab" * 2000 + "'.findAll('a|b').join('') != ''",
    "optional.of(1)" + ".optMap(x, x)" * 12 + ".hasValue()",
)


class Answers:
    """Answers whether the slice is over; counts the questions."""

    def __init__(self, answers: Iterator[bool]) -> None:
        self._answers = answers
        self.asked = 0

    def __call__(self) -> bool:
        self.asked += 1
        return next(self._answers)


def run(work: Slices[T], exhausted: Callable[[], bool]) -> tuple[T, int]:
    steps = 1
    while not work.step(exhausted):
        steps += 1
    return work.value, steps


def outcome(work: Callable[[], T]) -> T | tuple[type, str]:
    try:
        return work()
    except CelError as error:
        return type(error), str(error)


def every(length: int) -> Answers:
    """Return answers that end each slice after so many questions."""
    return Answers(cycle([False] * (length - 1) + [True]))


@pytest.mark.parametrize("text", DEAR)
def test_slices_of_any_length_change_neither_result_nor_cost_nor_error(text: str) -> None:
    selector = compile_selector(text)
    for device in DEVICES[:2] if selector.reads else DEVICES[:1]:
        whole = outcome(partial(selector.evaluate, device))
        for length in (1, 2, 7):
            pieces = outcome(lambda: run(selector.start(device), every(length))[0])  # noqa: B023 - called at once
            assert pieces == whole, f"slices of {length}"


@settings(max_examples=50)
@given(EXPRESSION, st.lists(st.booleans(), max_size=30))
def test_random_expressions_do_not_depend_on_where_they_pause(text: str, answers: list[bool]) -> None:
    pauses = Answers(chain(answers, repeat(True)))
    compiled = outcome(lambda: run(start_compiling(text), pauses)[0])
    expected = outcome(lambda: compile_selector(text))
    if not isinstance(expected, Selector) or not isinstance(compiled, Selector):
        assert compiled == expected
        return
    for device in DEVICES:
        whole = outcome(partial(expected.evaluate, device))
        assert outcome(lambda: run(compiled.start(device), pauses)[0]) == whole  # noqa: B023 - called at once


@pytest.mark.parametrize("name", sorted(SHAPES))
def test_the_worst_shapes_compile_in_slices_to_what_they_are(name: str) -> None:
    text = SHAPES[name]()
    whole = outcome(lambda: compile_selector(text))
    pieces = outcome(lambda: run(start_compiling(text), every(1))[0])
    if isinstance(whole, Selector):
        assert isinstance(pieces, Selector)
        assert (pieces.reads, pieces.estimated_cost) == (whole.reads, whole.estimated_cost)
    else:
        assert pieces == whole


def test_a_dear_evaluation_asks_at_least_every_few_hundred_units_of_cost() -> None:
    answers = Answers(repeat(False))
    (_, cost), steps = run(compile_selector(DEAR[3]).start(DEVICES[0]), answers)
    assert steps == 1
    assert answers.asked >= cost / 300


@pytest.mark.parametrize(
    "text",
    [
        "lists.range(50000).isSorted()",
        "lists.range(50000).indexOf(-1) == -1",
        "lists.range(50000).max() == 49999",
        "lists.range(50000) == lists.range(50000)",
        "'" + "a" * 5000 + "'.findAll('a').size() == 5000",
        "'%s'.format([lists.range(50000)]) != ''",
    ],
)
def test_one_call_over_many_elements_asks_too(text: str) -> None:
    answers = Answers(repeat(False))
    assert run(compile_selector(text).start(DEVICES[0]), answers)[0][0]
    assert answers.asked >= 40


def test_masks_in_slices_are_the_masks() -> None:
    devices = [DeviceFields("d", {"d/n": n, "d/m": n % 7}, {}) for n in range(300)]
    rows = np.arange(len(devices))
    for text in (
        'device.attributes["d"].n % 3 == 0 && device.attributes["d"].m < 4',
        'device.attributes["d"].n + device.attributes["d"].m > 100',
        'lists.range(30).all(x, x < device.attributes["d"].m + 100) || device.attributes["d"].nosuch == 1',
    ):
        whole = compile_selector(text).masks(DeviceColumns(devices), rows)
        masks, steps = run(Slices(partial(compile_selector(text).masks, DeviceColumns(devices), rows)), every(1))
        assert steps > 10
        for mine, other in ((masks.match, whole.match), (masks.error, whole.error), (masks.unknown, whole.unknown)):
            assert mine.tolist() == other.tolist()


def test_chains_of_optional_values_end_at_the_cost_limit() -> None:
    selector = compile_selector("optional.of(1)" + ".optMap(x, x)" * 60 + ".hasValue()")
    with pytest.raises(CostLimitExceeded):
        selector.evaluate(DEVICES[0])


def test_slices_in_slices_pause_the_inner_work_and_the_outer_one_goes_on() -> None:
    seen: list[str] = []

    def inner() -> int:
        rest()
        seen.append("inner")
        rest()
        return 3

    def outer() -> int:
        work = Slices(inner)
        while not work.step(lambda: True):
            seen.append("outer")
            rest()
        return work.value

    value, steps = run(Slices(outer), lambda: True)
    assert (value, steps) == (3, 3)
    assert seen == ["outer", "inner", "outer"]


def test_what_must_not_be_seen_half_done_has_no_rest() -> None:
    def work() -> None:
        with unbroken():
            for _ in range(100):
                rest()
                tick()
        rest()

    assert run(Slices(work), lambda: True)[1] == 2


def test_outside_of_slices_a_rest_is_nothing() -> None:
    rest()
    tick()
    with unbroken():
        rest()


def test_ticks_ask_now_and_then() -> None:
    answers = Answers(repeat(False))
    run(Slices(lambda: [tick() for _ in range(10 * TICKS)]), answers)
    assert answers.asked == 10


def test_work_that_is_dropped_ends_where_it_is_and_frees_what_it_holds() -> None:
    class Held:
        pass

    ended: list[bool] = []

    def work(held: Held) -> None:
        try:
            rest()
        finally:
            ended.append(True)

    held = Held()
    reference = weakref.ref(held)
    pending = Slices(partial(work, held))
    assert not pending.step(lambda: True)
    gc.disable()
    try:
        del pending, held
        assert ended == [True]
        assert reference() is None
    finally:
        gc.enable()


def test_an_error_comes_out_of_the_step_in_which_it_happens() -> None:
    work = start_compiling("true && nosuch")
    with pytest.raises(CompileError, match="undeclared reference"):
        run(work, lambda: True)


@pytest.mark.parametrize("length", [0, 1, STRIDE, STRIDE + 1, 3 * STRIDE])
def test_pacing_keeps_the_elements(length: int) -> None:
    items = tuple(range(length))
    assert tuple(paced(items)) == items
    assert gathered(items, items) == items + items


def test_a_stack_that_waits_for_other_work_keeps_nothing_of_the_last() -> None:
    class Held:
        pass

    def work(held: Held) -> Held:
        rest()
        return held

    gc.disable()
    try:
        held = Held()
        reference = weakref.ref(held)
        done = Slices(partial(work, held))
        assert not done.step(lambda: True)
        assert done.step(lambda: True)
        assert done.value is held
        del done, held
        assert reference() is None
    finally:
        gc.enable()


def test_work_after_a_failure_and_inside_other_work_begins_afresh() -> None:
    def outer() -> list[int]:
        return [run(Slices(partial(int, number)), lambda: True)[0] for number in range(3)]

    for number in range(3):
        failing = Slices(lambda: 1 // 0)
        with pytest.raises(ZeroDivisionError):
            failing.step(lambda: True)
        assert failing.step(lambda: True)
        assert run(Slices(outer), lambda: True)[0] == [0, 1, 2]
        assert run(Slices(partial(int, number)), lambda: True) == (number, 1)
