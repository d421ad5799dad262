"""Run cases and collect what is to be reported."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from dra_bench.conformance.case import LEFT_OUT, Actual, Case
from dra_bench.conformance.corrections import CORRECTIONS


@dataclass(frozen=True, slots=True)
class Failure:
    """A case that did not come out as expected."""

    name: str
    difference: str


@dataclass(slots=True)
class Report:
    """How many passed, which failed, which were held to a corrected expectation (name -> reason).

    `left_out` are helper cases about what nothing of ours has to do (name -> reason).
    """

    passed: int = 0
    left_out: dict[str, str] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)
    corrected: dict[str, str] = field(default_factory=dict)

    @property
    def failed(self) -> int:
        """Number of failed cases."""
        return len(self.failures)

    def as_json(self) -> dict[str, Any]:
        """For machines."""
        failures = [{"name": f.name, "difference": f.difference} for f in self.failures]
        return {
            "passed": self.passed,
            "failed": self.failed,
            "failures": failures,
            "corrected": self.corrected,
            "left_out": self.left_out,
        }


def run_cases(cases: Iterable[Case]) -> Report:
    """Run all cases and compare each with its expectation."""
    report = Report()
    for case in cases:
        actual = case.run()
        differences = _differences(case, actual, report)
        if differences:
            report.failures.append(Failure(case.name, "; ".join(differences)))
        elif actual.outcome == LEFT_OUT:
            report.left_out[case.name] = actual.error or ""
        else:
            report.passed += 1
    return report


def _differences(case: Case, actual: Actual, report: Report) -> list[str]:
    correction = CORRECTIONS.get(case.name)
    if correction is None:
        return case.differences(actual)
    report.corrected[case.name] = correction.reason
    if (actual.outcome, actual.results) == (correction.outcome, correction.results):
        return []
    wanted = correction.outcome if correction.results is None else correction.results
    got = actual.outcome if actual.results is None else actual.results
    return [f"expected {wanted} ({correction.reason}), got {got}"]


def actual_line(case: Case) -> dict[str, Any]:
    """What a case really gives, with the milliseconds that it took; expectations are not needed."""
    begin = time.perf_counter()
    actual: Actual = case.run()
    took = (time.perf_counter() - begin) * 1000
    return {
        "name": case.name,
        "outcome": actual.outcome,
        "results": actual.results,
        "error": actual.error,
        "ms": round(took, 3),
    }
