"""Contract 2: a step ends soon after its budget is exhausted, also in the middle of a dear selector, and no outcome
depends on where steps end."""

from __future__ import annotations

import gc
import itertools
import weakref
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dra_allocator.claim import Constraint, DerivedAttribute, ResourceClaim
from dra_allocator.device import DeviceTaint, DeviceTaintRule
from dra_allocator.masks import SelectorMasks
from dra_allocator.node import Node
from dra_allocator.outcome import Allocation, AllocationError, Outcome, OutOfBudget
from dra_allocator.rejection import Rejection
from dra_allocator.sliced import Sliced
from dra_cel.frame import Frame
from support.devices import DRIVER, Calls, Cluster, claim, device, picked, request, resource_slice

SERIAL = f'device.attributes["{DRIVER}"].serial'
LOOPS = "lists.range(15).all(x, lists.range(15).all(y, lists.range(15).all(z, x + y + z >= 0)))"
DEAR = f"{SERIAL} < 0 || {LOOPS} && {SERIAL} < 0"
"""False for every device, and each evaluation costs more than a call of `masks` may spend."""
DEAR_EVEN = f"{LOOPS} && {SERIAL} % 2 == 0"
DEAR_FAILING = f"{LOOPS} && {SERIAL} / (7 - {SERIAL}) > 100"


class Gaps:
    """A budget that is always exhausted and notes how many units of cost are spent between two questions."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.most = 0
        self._spent = 0
        passed = Frame._passed

        def counted(frame: Frame) -> None:
            before = frame._next
            passed(frame)
            self._spent += frame._next - before
            self.most = max(self.most, self._spent)

        monkeypatch.setattr(Frame, "_passed", counted)

    def exhausted(self) -> bool:
        self._spent = 0
        return True


def cluster_of(count: int = 8, nodes: int = 1) -> Cluster:
    names = [f"n{number}" for number in range(nodes)]
    slices = [
        resource_slice(f"s-{name}", [device(f"d{n}", serial=n) for n in range(count)], node=name) for name in names
    ]
    return Cluster(*slices, nodes=names)


def everything(count: int = 6) -> dict[str, tuple[Cluster, ResourceClaim]]:
    """One case for each place where selectors and expressions are evaluated."""
    tainted = cluster_of(count)
    rule = DeviceTaintRule("dear", DeviceTaint("t", effect="NoSchedule"), selectors=(DEAR_EVEN,))
    tainted.table.apply_taint_rule(rule)
    derived = DerivedAttribute(f"{DRIVER}/x", f"{LOOPS} ? {SERIAL} % 3 : -1")
    constrained = claim(
        request(count=2, derived_attributes=(derived,)), constraints=[Constraint((), "match", f"{DRIVER}/x")]
    )
    return {
        "a request that nothing serves": (cluster_of(count), claim(request(selectors=(DEAR,)))),
        "two of several": (cluster_of(count), claim(request(count=2, selectors=(DEAR_EVEN,)))),
        "an error": (cluster_of(count), claim(request(count=4, selectors=(DEAR_FAILING,)))),
        "mode All": (cluster_of(count), claim(request(mode="All", selectors=(DEAR_EVEN,)))),
        "two selectors": (cluster_of(count), claim(request(selectors=(DEAR_EVEN, f"{DEAR_EVEN} && {SERIAL} > 3")))),
        "a taint rule": (tainted, claim(request(count=4))),
        "a derived attribute": (cluster_of(count), constrained),
        "many nodes": (cluster_of(3, nodes=12), claim(request(count=3, selectors=(DEAR_EVEN,)))),
    }


CASES = list(everything())


def plain(outcome: Outcome) -> object:
    """What an outcome says, to be compared."""
    if isinstance(outcome, Allocation):
        return outcome.node, picked(outcome)
    if isinstance(outcome, Rejection):
        return "rejected", dict(outcome.node_errors)
    assert isinstance(outcome, AllocationError)
    return "error", outcome.kind, str(outcome)


def stepped(attempt: Sliced[Outcome], budget: Callable[[], Calls]) -> tuple[Outcome, int]:
    for steps in itertools.count(1):
        outcome = attempt.step(budget())
        if outcome is not None:
            return outcome, steps
    raise AssertionError


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("length", [0, 5])
def test_outcomes_do_not_depend_on_the_length_of_steps(case: str, length: int) -> None:
    cluster, wanted = everything()[case]
    whole = plain(cluster.allocate(wanted))
    cluster, wanted = everything()[case]
    outcome, steps = stepped(cluster.allocator.allocate(cluster.view, [wanted], cluster.nodes), lambda: Calls(length))
    assert plain(outcome) == whole
    assert steps > 50


@settings(max_examples=12)
@given(case=st.sampled_from(CASES), lengths=st.lists(st.integers(0, 40), min_size=1, max_size=8))
def test_outcomes_do_not_depend_on_where_steps_end(case: str, lengths: list[int]) -> None:
    cluster, wanted = everything(4)[case]
    whole = plain(cluster.allocate(wanted))
    cluster, wanted = everything(4)[case]
    length = itertools.cycle(lengths)
    attempt = cluster.allocator.allocate(cluster.view, [wanted], cluster.nodes)
    assert plain(stepped(attempt, lambda: Calls(next(length)))[0]) == whole


@pytest.mark.parametrize("case", CASES)
def test_hardly_anything_is_spent_between_two_questions(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster, wanted = everything()[case]
    gaps = Gaps(monkeypatch)
    attempt = cluster.allocator.allocate(cluster.view, [wanted], cluster.nodes)
    while attempt.step(gaps) is None:
        pass
    assert 0 < gaps.most <= 1_000


@pytest.mark.parametrize("case", CASES)
def test_feasibility_of_each_node_does_not_depend_on_steps(case: str) -> None:
    cluster, wanted = everything(4)[case]
    whole = cluster.allocator.feasible(cluster.view, [wanted], cluster.nodes).step(Calls())
    cluster, wanted = everything(4)[case]
    attempt = cluster.allocator.feasible(cluster.view, [wanted], cluster.nodes)
    while (answer := attempt.step(Calls(0))) is None:
        pass
    assert str(answer) == str(whole)


def test_what_an_open_device_is_gets_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster, wanted = everything()["a request that nothing serves"]
    assert isinstance(cluster.allocate(wanted), Rejection)
    masks = cluster.allocator._tools.masks.get(cluster.table, DEAR)
    evaluated = 0
    passed = Frame._passed

    def counted(frame: Frame) -> None:
        nonlocal evaluated
        evaluated += 1
        passed(frame)

    monkeypatch.setattr(Frame, "_passed", counted)
    assert not any(masks.resolve(row) for row in range(6))
    assert isinstance(cluster.allocate(wanted), Rejection)
    assert evaluated == 0
    cluster.table.apply_slice(resource_slice("s-n0", [device(f"d{n}", serial=n - 100) for n in range(6)], node="n0"))
    assert isinstance(cluster.allocate(wanted), Allocation)


def test_a_change_of_the_device_in_the_middle_of_its_evaluation_counts() -> None:
    cluster, wanted = everything()["a request that nothing serves"]
    attempt = cluster.allocator.allocate(cluster.view, [wanted], cluster.nodes)
    for _ in range(400):
        assert attempt.step(Calls(0)) is None
    cluster.table.apply_slice(resource_slice("s-n0", [device(f"d{n}", serial=n - 100) for n in range(6)], node="n0"))
    outcome, _ = stepped(attempt, lambda: Calls(0))
    assert picked(outcome) == [["d0"]]


def test_changes_elsewhere_are_no_reason_to_begin_anew() -> None:
    cluster, wanted = everything(4)["mode All"]
    cluster.table.apply_node(Node("elsewhere"))
    attempt = cluster.allocator.allocate(cluster.view, [wanted], cluster.nodes)
    for number in itertools.count():
        outcome = attempt.step(Calls(0))
        if outcome is not None:
            break
        cluster.table.apply_slice(resource_slice("other", [device("o", serial=number)], node="elsewhere"))
    assert picked(outcome) == [["d0", "d2"]]


def test_a_node_whose_devices_change_all_the_time_is_an_error_of_the_node() -> None:
    cluster, wanted = everything(4)["mode All"]
    attempt = cluster.allocator.allocate(cluster.view, [wanted], cluster.nodes)
    for number in itertools.count():
        outcome = attempt.step(Calls(0))
        if outcome is not None:
            break
        devices = [device(f"d{n}", serial=n + 4 * number) for n in range(4)]
        cluster.table.apply_slice(resource_slice("s-n0", devices, node="n0"))
    assert isinstance(outcome, AllocationError)
    assert "keep changing" in str(outcome)


def test_the_limit_of_an_attempt_ends_it_in_the_middle_of_an_evaluation() -> None:
    cluster, wanted = everything()["a request that nothing serves"]
    limit = Calls(60)
    attempt = cluster.allocator.allocate(cluster.view, [wanted], cluster.nodes, limit=limit)
    outcome, _ = stepped(attempt, Calls)
    assert outcome == OutOfBudget(0, 1)


def test_attempts_side_by_side_do_not_disturb_each_other() -> None:
    cluster, wanted = everything(4)["two of several"]
    attempts = [cluster.allocator.allocate(cluster.view, [wanted], cluster.nodes) for _ in range(3)]
    outcomes: dict[int, Outcome] = {}
    while len(outcomes) < len(attempts):
        for number, attempt in enumerate(attempts):
            outcome = attempt.step(Calls(number))
            if outcome is not None:
                outcomes[number] = outcome
    assert [picked(outcome) for outcome in outcomes.values()] == [[["d0", "d2"]]] * 3


def test_an_attempt_that_is_dropped_leaves_nothing_behind() -> None:
    cluster, wanted = everything()["mode All"]
    attempt = cluster.allocator.allocate(cluster.view, [wanted], cluster.nodes)
    for _ in range(200):
        assert attempt.step(Calls(0)) is None
    stepper = weakref.ref(attempt._stepper)
    gc.disable()
    try:
        del attempt
        assert stepper() is None
    finally:
        gc.enable()
    assert picked(cluster.allocate(wanted)) == [["d0", "d2", "d4"]]


def test_masks_that_two_ask_for_are_made_once() -> None:
    cluster = cluster_of(200)
    store = cluster.allocator._tools.masks
    text = f"{SERIAL} % 5 == 0"
    steps = 0
    while not store.prepare(cluster.table, text, Calls(0)):
        steps += 1
        if steps == 5:
            assert int(store.get(cluster.table, text).match.sum()) == 40
    assert steps <= 6
    assert isinstance(store.get(cluster.table, text), SelectorMasks)
