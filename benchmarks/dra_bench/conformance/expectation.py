"""What an allocator case expects, in each of the forms in which a file may say it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dra_bench.conformance.case import CaseError, objects

JSON = dict[str, Any]
_OUTCOMES = {"results": "results", "none": "none", "nil": "none", "empty": "none", "error": "error"}
"""What a file calls an outcome to the outcome: no results are no results, a nil list or an empty one."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """The outcome, for results each with its kind (None: all exact), for an error Kubernetes' text."""

    outcome: str
    results: list[JSON]
    kinds: list[str] | None
    error: str


def expectation(raw: JSON) -> Expectation:
    """Read it from `expected`; from `actual.jsonRoundTripOutcome` where decoding JSON changes the outcome.

    Raises CaseError.
    """
    expected = raw.get("expected")
    if not isinstance(expected, dict):
        raise CaseError("expected is missing: there is nothing to compare with")
    actual = raw.get("actual") if isinstance(raw.get("actual"), dict) else {}
    assert isinstance(actual, dict)
    decoded = actual.get("jsonRoundTripOutcome")
    source = {**expected, **decoded} if isinstance(decoded, dict) else expected
    outcome = _OUTCOMES.get(str(source.get("outcome")))
    if outcome is None:
        raise CaseError(f"expected.outcome must be results, none or error, not {source.get('outcome')!r}")
    results = objects(source, "results", "expected")
    kinds = source.get("resultKinds")
    if kinds is not None and (not isinstance(kinds, list) or (outcome == "results" and len(kinds) != len(results))):
        raise CaseError("expected.resultKinds must be a list with one entry per result")
    return Expectation(outcome, results, kinds or None, _error_text(expected, actual))


def _error_text(expected: JSON, actual: JSON) -> str:
    decoded = actual.get("jsonRoundTripOutcome")
    text = (decoded if isinstance(decoded, dict) else actual).get("error")
    if text:
        return str(text)
    parts = expected.get("errorSubstrings") or [expected.get("errorSubstring") or ""]
    return " ".join(str(part) for part in parts) if isinstance(parts, list) else str(parts)
