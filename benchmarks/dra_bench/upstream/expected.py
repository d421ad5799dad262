"""Tests of Kubernetes that fail with our scheduler and are right to do so. Each needs a reason that convinces."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

EXPECTED: Final = MappingProxyType(
    {
        "FilterTimeout/enabled": (
            "It wants a search that ends at once, for 21 devices where there are 20, to run into a time-out of 10 ms. "
            "On a busy machine the first decision of a new process may take that long, and the test passes by chance; "
            "the time-out is tested with a clock of the test's own instead (tests/scheduler/core/test_cycle.py)."
        ),
    }
)
"""Ends of test names, with the reason."""


def reason(name: str) -> str | None:
    """Return why the test may fail; None if it must pass."""
    return next((why for ending, why in EXPECTED.items() if name.endswith(f"/{ending}")), None)


def unexpected(outcomes: Mapping[str, str]) -> list[str]:
    """Return the tests that failed and should not have, sorted.

    A test that holds others fails with them; it counts by itself only if it failed and none in it did.
    """
    failed = [name for name, outcome in outcomes.items() if outcome in ("fail", "lost")]
    parents = {name[:place] for name in failed for place, char in enumerate(name) if char == "/"}
    return sorted(name for name in failed if name not in parents and reason(name) is None)
