"""Run cases and collect what is to be reported."""

from __future__ import annotations

import time
import traceback
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from dra_bench.conformance.case import LEFT_OUT, Actual, Case, CaseError
from dra_bench.conformance.corrections import corrected

UNREADABLE = "cannot be read"
"""The outcome of a case that lacks something."""
CRASH = "crash"
"""The outcome of a case on which our engine raises what it must not."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A case that did not come out as expected. `key` tells it from others of its name."""

    name: str
    difference: str
    key: str = ""


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
        failures = [{"name": f.name, "key": f.key, "difference": f.difference} for f in self.failures]
        return {
            "passed": self.passed,
            "failed": self.failed,
            "failures": failures,
            "corrected": self.corrected,
            "left_out": self.left_out,
        }


def run_cases(cases: Iterable[Case]) -> Report:
    """Run all cases and compare each with its expectation; a case that can't be read, or that we crash on, fails."""
    report = Report()
    for case in cases:
        actual = _run(case)
        differences = _differences(case, actual, report)
        if differences:
            report.failures.append(Failure(case.name, "; ".join(differences), case.key))
        elif actual.outcome == LEFT_OUT:
            report.left_out[case.key] = actual.error or ""
        else:
            report.passed += 1
    return report


def _run(case: Case) -> Actual:
    try:
        return case.run()
    except CaseError as error:
        return Actual(UNREADABLE, error=str(error))
    except Exception:  # a defect of ours: the other cases of the file are still worth running
        return Actual(CRASH, error=traceback.format_exc())


def _differences(case: Case, actual: Actual, report: Report) -> list[str]:
    if actual.outcome in (UNREADABLE, CRASH):
        return [f"{actual.outcome}: {actual.error}"]
    try:
        found = case.differences(actual)
        # Only a case that expects Kubernetes' defect is held to something else, not any case of that name.
        reason = corrected(case, actual) if found else None
    except CaseError as error:
        return [f"{UNREADABLE}: {error}"]
    except (AttributeError, KeyError, TypeError, ValueError) as error:  # some form of an expectation that has none
        return [f"{UNREADABLE}: the expectation: {type(error).__name__}: {error}"]
    if reason is None:
        return found
    report.corrected[case.key] = reason
    return []


def actual_line(case: Case) -> dict[str, Any]:
    """What a case really gives, with the milliseconds that it took; expectations are not needed."""
    begin = time.perf_counter()
    actual = _run(case)
    took = (time.perf_counter() - begin) * 1000
    return {
        "name": case.name,
        "key": case.key,
        "outcome": actual.outcome,
        "results": actual.results,
        "error": actual.error,
        "ms": round(took, 3),
    }
