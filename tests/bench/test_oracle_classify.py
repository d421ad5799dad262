from __future__ import annotations

from typing import Any

import pytest

from dra_bench.oracle import classify, compare
from dra_bench.oracle.classify import judge
from dra_bench.oracle.compare import Answer
from dra_bench.oracle.model.bugs import Bug
from dra_bench.oracle.process import Oracle

JSON = dict[str, Any]
NONE, ERROR, FITS, OTHER = Answer("none"), Answer("error"), Answer("results", "[1]"), Answer("results", "[2]")


class Opinions:
    """What Kubernetes says, and the model with each set of bugs."""

    def __init__(self, kubernetes: Answer, plain: Answer, **with_bugs: Answer) -> None:
        self.kubernetes = kubernetes
        self.plain = plain
        self.with_bugs = {Bug[name]: answer for name, answer in with_bugs.items()}

    def model(
        self, oracle: Oracle, cluster: JSON, bugs: frozenset[Bug] = frozenset(), *, most_steps: int = 0
    ) -> Answer:
        return next((self.with_bugs[bug] for bug in bugs if bug in self.with_bugs), self.plain)


def verdict(monkeypatch: pytest.MonkeyPatch, opinions: Opinions, ours: Answer) -> classify.Verdict:
    monkeypatch.setattr(compare, "kubernetes", lambda oracle, cluster: opinions.kubernetes)
    monkeypatch.setattr(compare, "model", opinions.model)
    return judge(None, {}, lambda cluster: ours)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("opinions", "ours", "kind"),
    [
        (Opinions(FITS, FITS), FITS, "equal"),
        (Opinions(NONE, Answer("unknown")), NONE, "equal"),
        (Opinions(ERROR, NONE, ALL_UNDER_CONSTRAINT=ERROR), NONE, "bug 5"),
        (Opinions(Answer("deadline"), NONE), NONE, "bug 10"),
        (Opinions(Answer("deadline"), Answer("unknown")), NONE, "bug 10"),
        (Opinions(ERROR, Answer("unknown"), DEVICE_NODE_SELECTOR=ERROR), NONE, "bug 8, ours unchecked"),
        (Opinions(FITS, Answer("unknown"), DEVICE_NODE_SELECTOR=FITS), NONE, "unexplained"),
        (Opinions(Answer("panic"), ERROR), ERROR, "Kubernetes panics"),
        (Opinions(Answer("panic"), ERROR), NONE, "unexplained"),
        (Opinions(FITS, FITS), OTHER, "unexplained"),
        (Opinions(FITS, NONE, OLD_GENERATION=OTHER), NONE, "unexplained"),
        (Opinions(ERROR, ERROR), NONE, "unexplained: an error is not reached"),
        (Opinions(FITS, FITS), Answer("crash"), "unexplained"),
    ],
)
def test_the_model_decides_what_a_difference_is(
    monkeypatch: pytest.MonkeyPatch, opinions: Opinions, ours: Answer, kind: str
) -> None:
    assert verdict(monkeypatch, opinions, ours).kind == kind


def test_agreeing_with_a_bug_of_kubernetes_is_unexplained(monkeypatch: pytest.MonkeyPatch) -> None:
    copied = verdict(monkeypatch, Opinions(ERROR, NONE, ALL_UNDER_CONSTRAINT=ERROR), ERROR)
    assert copied.unexplained


def test_the_fewest_bugs_explain_a_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    found = verdict(monkeypatch, Opinions(OTHER, NONE, ADMIN_ACCESS=OTHER), NONE)
    assert found.bugs == (Bug.ADMIN_ACCESS,)
    assert found.shape[0] == "bug 7"


def test_a_bug_with_which_there_is_much_to_try_is_found_with_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    class Slow(Opinions):
        def model(
            self, oracle: Oracle, cluster: JSON, bugs: frozenset[Bug] = frozenset(), *, most_steps: int = 0
        ) -> Answer:
            answer = super().model(oracle, cluster, bugs)
            return Answer("unknown") if bugs and most_steps < classify.PATIENT_STEPS else answer

    opinions = Slow(NONE, FITS, ADMIN_ACCESS=NONE)
    assert verdict(monkeypatch, opinions, FITS).unexplained
    assert judge(None, {}, lambda cluster: FITS, patient=True).bugs == (Bug.ADMIN_ACCESS,)  # type: ignore[arg-type]
