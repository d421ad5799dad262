"""Texts: the condition to the letter, the event's note within its limit."""

import asyncio
import contextlib
from collections.abc import Coroutine
from typing import get_args

import pytest

from dra_allocator.ledger import Ledger
from dra_allocator.rejection import (
    ClaimRejection,
    Explain,
    Explanation,
    NearestMiss,
    Reason,
    ReasonCount,
    RequestRejection,
)
from dra_cel.slices import rest
from dra_scheduler.cache.claim_store import ClaimStore
from dra_scheduler.cache.pod_info import pod_info
from dra_scheduler.cycle.decision import Reject
from dra_scheduler.report.condition import condition_text
from dra_scheduler.report.explanation import NOTE_LIMIT, Viewer, note, summary
from dra_scheduler.report.narrator import Narrator
from dra_scheduler.report.reporter import Reporter
from support.fake_clock import FakeClock
from support.objects import make_pod


def reject(**more: object) -> Reject:
    return Reject("unschedulable", frozenset({"DynamicResources"}), 8, **more)  # type: ignore[arg-type]


def test_the_message_is_kube_schedulers() -> None:
    outcome = reject(
        counts={"cannot allocate all claims": 8}, preemption={"Preemption is not helpful for scheduling": 8}
    )
    text = condition_text(outcome)
    assert text.reason == "Unschedulable"
    assert text.message == (
        "0/8 nodes are available: 8 cannot allocate all claims. preemption: 0/8 nodes are available: "
        "8 Preemption is not helpful for scheduling."
    )


def test_reasons_are_sorted_as_texts_numbers_included() -> None:
    outcome = reject(counts={"b": 2, "a": 10, "c": 1})
    assert condition_text(outcome).message == "0/8 nodes are available: 1 c, 10 a, 2 b."


def test_what_was_undone_stands_before_the_preemption() -> None:
    outcome = reject(
        counts={"resourceclaim not available on the node": 8},
        preemption={"Preemption is not helpful for scheduling": 8},
    )
    assert condition_text(outcome, "deallocation of ResourceClaim completed").message == (
        "0/8 nodes are available: 8 resourceclaim not available on the node. deallocation of ResourceClaim completed, "
        "preemption: 0/8 nodes are available: 8 Preemption is not helpful for scheduling."
    )


def test_an_error_is_said_as_it_is() -> None:
    text = condition_text(Reject("error", frozenset(), 8, error="broken"))
    assert (text.reason, text.message) == ("SchedulerError", "broken")


EVERYBODY = Viewer(None, lambda uid: None)


def told(*requests: RequestRejection) -> Explanation:
    return Explanation(8, (ClaimRejection("uid", "default/c", requests),))


MANY = RequestRejection(
    "gpu",
    wanted=2,
    candidates=0,
    device_class="gpu",
    of_class=9,
    reasons=(ReasonCount("in-use", 6, 3), ReasonCount("claim-selector", 3, 1, "selector 0")),
    nearest=NearestMiss("n3", wanted=2, available=1),
)


def test_the_explanation_says_per_request_what_was_wrong_and_what_came_nearest() -> None:
    assert summary(told(MANY), EVERYBODY) == (
        "claim default/c, request gpu: 2 devices are wanted on one node, and n3 comes closest with 1; "
        "of 9 devices of class gpu, 6 are in use and 3 do not match"
    )


@pytest.mark.parametrize("reason", get_args(Reason))
def test_every_reason_has_a_text_for_devices_or_for_nodes(reason: Reason) -> None:
    def said(devices: int) -> str:
        request = RequestRejection("r", 1, 0, (ReasonCount(reason, devices, 2, "x"),))
        return summary(told(request), EVERYBODY)

    assert any(": " in said(devices).removeprefix("claim n/c: ") for devices in (0, 5))


def test_claims_that_hold_the_devices_are_not_named() -> None:
    claim = ClaimRejection("uid", "default/c", (MANY,), {"uid-of-a-secret-claim": ()})
    assert "secret" not in note("0/8 nodes are available.", Explanation(8, (claim,)), EVERYBODY)


class Written:
    """Stands for both writers."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def record(self, pod: object, event_type: str, reason: str, action: str, text: str) -> None:
        self.notes.append(text)

    def set_unscheduled(self, pod: object, reason: str, message: str) -> None:
        pass

    def forget(self, pod: object) -> None:
        pass

    @property
    def waiting(self) -> int:
        return 0


def test_explanations_are_made_once_per_message_and_take_a_tenth_of_the_time_at_most() -> None:
    clock, written = FakeClock(), Written()
    narrator = Narrator(clock, lambda name, work: asyncio.run(work), 1.0)
    reporter = Reporter(written, written, ClaimStore(Ledger()), narrator)  # type: ignore[arg-type]
    explained = 0

    def explain(node: str | None = None, /) -> Explanation:
        nonlocal explained
        explained += 1
        clock.advance(1)
        return told(MANY)

    def report(name: str, nodes: int) -> str:
        reporter.rejected(pod_info(make_pod(name)), reject(counts={"no": nodes}, explain=explain))
        return written.notes[-1]

    assert "claim c" in report("p", 1)
    assert "claim c" in report("p", 1)
    assert explained == 1
    assert report("q", 2) == "0/8 nodes are available: 2 no."
    clock.advance(9)
    assert "claim c" in report("q", 2)
    assert explained == 2


def resting(rests: int) -> Explain:
    def explain(node: str | None = None, /) -> Explanation:
        for _ in range(rests):
            rest()
        return told(MANY)

    return explain


def stepped(work: Coroutine[object, object, None]) -> int:
    """Run a task by hand; return how often it let the event loop go."""
    turns = 0
    with contextlib.suppress(StopIteration):
        while True:
            work.send(None)
            turns += 1
    return turns


def test_an_explanation_lets_the_event_loop_go_between_slices_and_is_said_at_its_end() -> None:
    tasks: list[Coroutine[object, object, None]] = []
    written = Written()
    narrator = Narrator(FakeClock(), lambda name, work: tasks.append(work), 0.0)
    reporter = Reporter(written, written, ClaimStore(Ledger()), narrator)  # type: ignore[arg-type]
    reporter.rejected(pod_info(make_pod("p")), reject(counts={"no": 1}, explain=resting(3)))
    assert (written.notes, reporter.waiting) == ([], 1)
    assert stepped(tasks.pop()) == 3
    assert "claim c" in written.notes[-1]
    assert reporter.waiting == 0


def test_a_pod_that_is_settled_meanwhile_is_not_explained() -> None:
    tasks: list[Coroutine[object, object, None]] = []
    written = Written()
    narrator = Narrator(FakeClock(), lambda name, work: tasks.append(work), 0.0)
    reporter = Reporter(written, written, ClaimStore(Ledger()), narrator)  # type: ignore[arg-type]
    pod = pod_info(make_pod("p"))
    reporter.rejected(pod, reject(counts={"no": 1}, explain=resting(1)))
    reporter.settled(pod)
    stepped(tasks.pop())
    assert written.notes == []


def test_who_is_rejected_while_another_is_explained_is_told_the_message_alone() -> None:
    tasks: list[Coroutine[object, object, None]] = []
    written = Written()
    narrator = Narrator(FakeClock(), lambda name, work: tasks.append(work), 0.0)
    reporter = Reporter(written, written, ClaimStore(Ledger()), narrator)  # type: ignore[arg-type]
    for name in ("p", "q"):
        reporter.rejected(pod_info(make_pod(name)), reject(counts={"no": 1}, explain=resting(1)))
    assert written.notes == ["0/8 nodes are available: 1 no."]
    stepped(tasks.pop())


@pytest.mark.parametrize("letter", ["x", "ü", "語"])
def test_a_note_is_cut_between_characters(letter: str) -> None:
    text = note(letter * 2000, Explanation(0), EVERYBODY)
    assert len(text.encode()) <= NOTE_LIMIT
    assert text.endswith(" ...")
    assert set(text.removesuffix(" ...")) == {letter}
