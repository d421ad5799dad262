"""The worst selectors that fit into 10 KiB and 250 levels: refused or compiled, and evaluated, in bounded steps.

Steps are calls of functions, which do not depend on the machine: about a microsecond each where it is slow.
"""

from __future__ import annotations

import cProfile
from collections.abc import Callable
from typing import TypeVar

import pytest

from dra_bench.fuzz.shapes import MAX_DEPTH, MAX_LENGTH, SHAPES, A
from dra_cel import CelError, CompileError, DeviceColumns, DeviceFields, Selector, compile_selector
from support.cel_devices import DEVICES

T = TypeVar("T")

PER_CHARACTER = 50
"""Calls that compiling a character takes at most, in the densest shape (sums of empty lists)."""
COMPILE_BASE = 5_000
EVALUATE = 3_000_000
"""Calls of one evaluation: the limit of cost ends it."""


def calls(work: Callable[[], T]) -> tuple[int, T]:
    profile = cProfile.Profile()
    profile.enable()
    try:
        result = work()
    finally:
        profile.disable()
    return sum(entry.callcount for entry in profile.getstats()), result


def compiled(text: str) -> Selector | CompileError:
    try:
        return compile_selector(text)
    except CompileError as error:
        return error


def evaluated(selector: Selector) -> bool | CelError:
    try:
        return selector.matches(DEVICES[0])
    except CelError as error:
        return error


compiled("true")  # what is built once is no part of what is counted


@pytest.mark.parametrize("name", sorted(SHAPES))
def test_the_worst_shapes_are_compiled_or_refused_in_steps_linear_in_their_length(name: str) -> None:
    text = SHAPES[name]()
    assert len(text) <= MAX_LENGTH
    taken, selector = calls(lambda: compiled(text))
    assert taken <= COMPILE_BASE + PER_CHARACTER * len(text)
    assert isinstance(selector, Selector) or str(selector)


@pytest.mark.parametrize("name", sorted(SHAPES))
def test_the_worst_shapes_are_evaluated_in_bounded_steps_alone_as_over_columns(name: str) -> None:
    selector = compiled(SHAPES[name]())
    if isinstance(selector, CompileError):
        return
    taken, result = calls(lambda: evaluated(selector))
    assert taken <= EVALUATE
    columns = DeviceColumns(DEVICES[:1])
    taken, masks = calls(lambda: selector.masks(columns))
    assert taken <= EVALUATE
    if not masks.unknown[0]:
        assert (bool(masks.match[0]), bool(masks.error[0])) == (result is True, isinstance(result, CelError))


@pytest.mark.parametrize("more", ["(", "[", "{1: ", "dyn(", "!("])
def test_nesting_beyond_250_levels_is_refused_and_just_below_is_not_too_deep_for_us(more: str) -> None:
    closing = {"(": ")", "[": "]", "{1: ": "}", "dyn(": ")", "!(": ")"}[more]
    core = "1" if more in ("[", "{1: ") else "true"
    for depth in (MAX_DEPTH - 12, MAX_DEPTH + 2, 3_000):
        result = compiled(more * depth + core + closing * depth)
        assert isinstance(result, Selector | CompileError)
        if depth > MAX_DEPTH:
            assert isinstance(result, CompileError)


def test_one_call_of_masks_spends_what_it_may_and_leaves_the_rest_unknown() -> None:
    devices = [DeviceFields("d.io", {"d.io/n": number}, {}) for number in range(200)]
    loops = f"lists.range(60).all(x, lists.range(60).all(y, {A}.n + x + y >= 0))"
    columns = DeviceColumns(devices)
    one, _ = calls(lambda: compile_selector(loops).matches(devices[0]))
    for evaluations, cost, most in ((2, 10**9, 2), (10**9, 1, 0), (0, 10**9, 0)):
        selector = compile_selector(loops)
        taken, masks = calls(lambda: selector.masks(columns, None, evaluations, cost))  # noqa: B023 - called at once
        assert int(masks.match.sum()) == most
        assert int(masks.unknown.sum()) == len(devices) - most
        assert taken <= (most + 1) * one + 10_000
