"""What a difference is: one of the listed bugs of Kubernetes, or unexplained.

The model decides. A listed bug it is only if we agree with the model as documented, and Kubernetes agrees with the
model once the bug is switched on in it. Agreeing with Kubernetes against the model is unexplained too: we may have
copied a bug.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from dra_bench.oracle import compare
from dra_bench.oracle.compare import Answer
from dra_bench.oracle.model.attempt import MOST_STEPS
from dra_bench.oracle.model.bugs import MODELLED, Bug
from dra_bench.oracle.process import Oracle

JSON = dict[str, Any]
Engine = Callable[[JSON], Answer]

PATIENT_STEPS = 4_000_000
"""Devices that the model may try to explain an answer on which it has no opinion at first: some seconds."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Who said what about one cluster. `bugs` are the listed bugs that explain the difference.

    `unchecked`: they explain what Kubernetes says, and for what we say the model had too much to try.
    """

    kubernetes: Answer
    ours: Answer
    model: Answer
    bugs: tuple[Bug, ...] = ()
    unexplained: bool = False
    unchecked: bool = False

    @property
    def kind(self) -> str:
        """`equal`, `bug 5`, `bug 5+7` or `unexplained ...`, to count by."""
        if self.unexplained:
            # We say that it does not fit before the device is visited on which a selector or a limit would fail.
            hidden = (self.kubernetes.outcome, self.model.outcome, self.ours.outcome) == ("error", "error", "none")
            return "unexplained: an error is not reached" if hidden else "unexplained"
        if self.kubernetes.outcome == compare.PANIC:
            return "Kubernetes panics"
        checked = ", ours unchecked" if self.unchecked else ""
        return f"bug {'+'.join(str(int(bug)) for bug in self.bugs)}{checked}" if self.bugs else "equal"

    @property
    def shape(self) -> tuple[str, ...]:
        """What stays the same while a case is made smaller: the outcomes, and who agrees with whom."""
        answers = (self.kubernetes, self.ours, self.model)
        equal = [str(a.same(b)) for a, b in combinations(answers, 2)]
        return (self.kind, *(answer.outcome for answer in answers), *equal)

    def __str__(self) -> str:
        return "\n".join(
            (self.kind, f"  Kubernetes: {self.kubernetes}", f"  ours:       {self.ours}", f"  model:      {self.model}")
        )


def judge(oracle: Oracle, cluster: JSON, engine: Engine = compare.ours, *, patient: bool = False) -> Verdict:
    """Run all three and say what the difference is. `patient`: take the time for what is hard to explain."""
    theirs, mine, plain = compare.kubernetes(oracle, cluster), engine(cluster), compare.model(oracle, cluster)
    undecided = plain.outcome == "unknown"
    if theirs.same(mine) and (undecided or mine.same(plain)):
        return Verdict(theirs, mine, plain)
    if theirs.outcome == compare.PANIC and mine.same(plain):
        return Verdict(theirs, mine, plain)
    if theirs.outcome == "deadline" and (undecided or mine.same(plain)):
        return Verdict(theirs, mine, plain, (Bug.EXPONENTIAL,))
    if mine.same(plain):
        bugs = _explaining(oracle, cluster, theirs, patient)
        if bugs:
            return Verdict(theirs, mine, plain, bugs)
    if undecided and theirs.outcome == "error" != mine.outcome:
        # An error of theirs may come before there is anything to try.
        steps = PATIENT_STEPS if patient else MOST_STEPS
        for bug in MODELLED:
            if compare.model(oracle, cluster, frozenset({bug}), most_steps=steps).same(theirs):
                return Verdict(theirs, mine, plain, (bug,), unchecked=True)
    return Verdict(theirs, mine, plain, unexplained=True)


def _explaining(oracle: Oracle, cluster: JSON, theirs: Answer, patient: bool) -> tuple[Bug, ...]:
    """Return the bugs with which the model says what Kubernetes says; none if it never does."""
    beyond = []
    for bugs in _subsets():
        answer = compare.model(oracle, cluster, frozenset(bugs))
        if answer.same(theirs):
            return bugs
        if answer.outcome == "unknown":
            beyond.append(bugs)
    for bugs in beyond if patient else ():
        if compare.model(oracle, cluster, frozenset(bugs), most_steps=PATIENT_STEPS).same(theirs):
            return bugs
    return ()


def _subsets() -> Iterator[tuple[Bug, ...]]:
    """All sets of bugs, small ones first."""
    for size in range(1, len(MODELLED) + 1):
        yield from combinations(MODELLED, size)
