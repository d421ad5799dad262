"""What every kind of case has in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

LEFT_OUT = "left out"
"""The outcome of a helper's case for which there is no function of ours."""


class CaseFileError(Exception):
    """A file cannot be read as cases: the message names the file, the case and the key."""


@dataclass(frozen=True, slots=True)
class Actual:
    """What our engine did with a case.

    `outcome` is `results`, `none`, `error` or, for selectors over devices, one letter per device (T, F, E, C).
    `results` is JSON-ready.
    """

    outcome: str
    results: Any = None
    error: str | None = None


class Case(Protocol):
    """A case: its name, how to run it, and how what came out differs from what is expected."""

    @property
    def name(self) -> str:
        """The name to report (golden rows: the expression)."""
        ...

    def run(self) -> Actual:
        """Run it. Errors of the engine are part of the result; only a defect of ours raises."""
        ...

    def differences(self, actual: Actual) -> list[str]:
        """Say how the outcome differs from the expectation; empty: it passed."""
        ...
