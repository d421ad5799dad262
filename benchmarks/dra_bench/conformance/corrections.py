"""Cases whose expectation is a defect of Kubernetes: what is right instead, and why."""

from __future__ import annotations

from dataclasses import dataclass

_ALL_UNDER_CONSTRAINT = "mode All under a constraint: a violated constraint is no error, the claim does not fit"
_NEWEST_ELSEWHERE = (
    "the newest generation of the pool serves another node only; an older generation is out of date, as the API says"
)
_INTEGER_RANGE = (
    "a range of integers is counted in whole units also while fractional ranges are on: thousandths overflow above 9Pi"
)


@dataclass(frozen=True, slots=True)
class Correction:
    """The right outcome, the right results where the outcome does not say all, and why."""

    outcome: str
    reason: str
    results: object = None


CORRECTIONS = {
    "with-constraint-not-matching-int-attribute-all-devices": Correction("none", _ALL_UNDER_CONSTRAINT),
    "partitionable-all-mode-constraint-must-error-with-reserved-counter": Correction("none", _ALL_UNDER_CONSTRAINT),
    "multi-host-resource-pool-complete-update-from-node-1-to-node-2": Correction("none", _NEWEST_ELSEWHERE),
    "multi-host-resource-pool-incomplete-update-from-node-1-to-node-2": Correction("none", _NEWEST_ELSEWHERE),
    "TestConsumableCapacity/use-milli: all integer, fits in milli (no hasFractional gate any more)": Correction(
        "results", _INTEGER_RANGE, results=False
    ),
}
"""By the name that a case reports."""
