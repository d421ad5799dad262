"""What every kind of case has in common."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

LEFT_OUT = "left out"
"""The outcome of a helper's case for which there is no function of ours."""


class CaseFileError(Exception):
    """A file cannot be read as cases: the message names the file, the case and the key."""


class CaseError(Exception):
    """A case lacks something or has it in a wrong form: whoever wrote it has to correct the key that is named."""


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
    """A case: its names, how to run it, and how what came out differs from what is expected."""

    @property
    def name(self) -> str:
        """The name to report (golden rows: the expression)."""
        ...

    @property
    def key(self) -> str:
        """What tells it from others of that name, where the data has such."""
        ...

    def run(self) -> Actual:
        """Run it. Errors of the engine are part of the result. Raises CaseError."""
        ...

    def differences(self, actual: Actual) -> list[str]:
        """Say how the outcome differs from the expectation; empty: it passed. Raises CaseError."""
        ...


def required(raw: Mapping[str, Any], key: str, where: str = "") -> Any:
    """The value of a key that a case must have. Raises CaseError."""
    value = raw.get(key)
    if value is None:
        raise CaseError(f"{f'{where}.' if where else ''}{key} is missing")
    return value


def objects(raw: Mapping[str, Any], key: str, where: str) -> list[dict[str, Any]]:
    """A list of objects; absent and null are empty. Raises CaseError."""
    value = raw.get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        raise CaseError(f"{where}.{key} must be a list, not {type(value).__name__}")
    for number, entry in enumerate(value):
        if not isinstance(entry, dict):
            raise CaseError(f"{where}.{key}[{number}] must be an object, not {type(entry).__name__}")
    return value
