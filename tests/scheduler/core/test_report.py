"""Texts: the condition to the letter, the event's note within its limit."""

import asyncio
import contextlib
from collections.abc import Coroutine
from dataclasses import replace
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
from dra_embedded.virtual_time import VirtualTimeLoop
from dra_scheduler.cache.claim_store import ClaimStore
from dra_scheduler.cache.pod_info import PodInfo, pod_info
from dra_scheduler.cycle.decision import Reject
from dra_scheduler.report.condition import condition_text
from dra_scheduler.report.explanation import NOTE_LIMIT, Viewer, note, summary
from dra_scheduler.report.narrator import MOST_WAITING, PAUSE, Narrator
from dra_scheduler.report.reporter import EXPLAINED_FOR, Reporter
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


class Told:
    """A reporter whose explanations are made when the test says so."""

    def __init__(self) -> None:
        self.written = Written()
        self.tasks: list[Coroutine[object, object, None]] = []
        self.clock = FakeClock()
        narrator = Narrator(self.clock, lambda name, work: self.tasks.append(work), 0.0)
        claims = ClaimStore(Ledger())
        self.reporter = Reporter(self.written, self.written, claims, narrator, self.clock)  # type: ignore[arg-type]

    def reject(self, name: str, explain: Explain, nodes: int = 1) -> PodInfo:
        pod = pod_info(make_pod(name))
        self.reporter.rejected(pod, reject(counts={"no": nodes}, explain=explain))
        return pod

    def step(self) -> int:
        """Run the task by hand; return how often it let the event loop go."""
        work = self.tasks.pop()
        turns = 0
        with contextlib.suppress(StopIteration):
            while True:
                work.send(None)
                turns += 1
        return turns


def resting(rests: int) -> Explain:
    def explain(node: str | None = None, /) -> Explanation:
        for _ in range(rests):
            rest()
        return told(MANY)

    return explain


def test_an_explanation_lets_the_event_loop_go_between_slices_and_is_said_at_its_end() -> None:
    told = Told()
    told.reject("p", resting(3))
    assert (told.written.notes, told.reporter.waiting) == ([], 1)
    assert told.step() == 3 + 1
    assert "claim c" in told.written.notes[-1]
    assert told.reporter.waiting == 0


def test_what_was_explained_is_not_explained_again_while_the_message_is_the_same() -> None:
    told = Told()
    told.reject("p", resting(0))
    told.reject("p", resting(0))
    told.step()
    told.reject("p", resting(0))
    assert not told.tasks
    assert len(told.written.notes) == 2
    assert told.written.notes[0] == told.written.notes[1]
    told.reject("p", resting(0), nodes=2)
    told.step()
    assert len(told.written.notes) == 3


def test_a_rejection_is_explained_anew_after_a_while_and_another_note_written_only_if_it_says_something_else() -> None:
    def explaining(request: RequestRejection) -> Explain:
        return lambda node=None, /: told(request)

    fewer = replace(MANY, of_class=8, reasons=(ReasonCount("in-use", 5, 3), MANY.reasons[1]))
    tainted = replace(MANY, reasons=(ReasonCount("tainted", 9, 3),))
    story = Told()
    for request, late in ((MANY, False), (tainted, False), (fewer, True), (tainted, True)):
        if late:
            story.clock.advance(EXPLAINED_FOR)
        story.reject("p", explaining(request))
        if story.tasks:
            story.step()
    first, at_once, only_numbers, other = story.written.notes
    assert first == at_once == only_numbers
    assert "taint" not in first
    assert "taint" in other


def test_a_mistake_in_an_explanation_is_logged_and_costs_nothing_but_the_explanation(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def explain(node: str | None = None, /) -> Explanation:
        raise KeyError("oops")

    told = Told()
    told.reject("p", explain)
    told.step()
    assert told.written.notes == ["0/8 nodes are available: 1 no."]
    assert "could not be explained" in caplog.text
    assert told.reporter.waiting == 0


def test_a_pod_that_is_settled_meanwhile_is_not_explained() -> None:
    told = Told()
    told.reporter.settled(told.reject("p", resting(1)))
    told.step()
    assert told.written.notes == []


def test_explaining_takes_a_tenth_of_the_time_and_who_comes_too_late_gets_the_message_alone() -> None:
    loop, clock, written = VirtualTimeLoop(), FakeClock(), Written()

    def explain(node: str | None = None, /) -> Explanation:
        clock.advance(0.001)
        return told(MANY)

    async def main() -> float:
        tasks: list[asyncio.Task[None]] = []
        narrator = Narrator(clock, lambda name, work: tasks.append(asyncio.create_task(work)), 0.005)
        reporter = Reporter(written, written, ClaimStore(Ledger()), narrator, clock)  # type: ignore[arg-type]
        for number in range(MOST_WAITING + 5):
            reporter.rejected(pod_info(make_pod(f"p{number}")), reject(counts={"no": 1}, explain=explain))
        begin = loop.time()
        await asyncio.gather(*tasks)
        return loop.time() - begin

    seconds = loop.run(main())
    assert written.notes.count("0/8 nodes are available: 1 no.") == 5
    assert sum("claim c" in text for text in written.notes) == MOST_WAITING
    assert seconds == pytest.approx(MOST_WAITING * 0.001 * PAUSE, rel=0.02)


@pytest.mark.parametrize("letter", ["x", "ü", "語"])
def test_a_note_is_cut_between_characters(letter: str) -> None:
    text = note(letter * 2000, Explanation(0), EVERYBODY)
    assert len(text.encode()) <= NOTE_LIMIT
    assert text.endswith(" ...")
    assert set(text.removesuffix(" ...")) == {letter}
