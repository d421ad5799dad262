"""What a Go test program prints with -test.v: which tests ran and how each ended."""

from __future__ import annotations

import re
from dataclasses import dataclass

_ENDED = re.compile(r"^\s*--- (PASS|FAIL|SKIP): (\S+) \((\d+(?:\.\d+)?)s\)")
_BEGUN = re.compile(r"^=== (?:RUN|CONT|NAME)\s+(\S+)")


@dataclass(frozen=True, slots=True)
class Ended:
    """How one test ended. `outcome` is pass, fail or skip, or `lost`: begun, and the program ended before it did."""

    name: str
    outcome: str
    seconds: float


class TestOutput:
    """Takes in the output line by line."""

    __test__ = False

    def __init__(self) -> None:
        self.ended: dict[str, Ended] = {}
        self._begun: dict[str, None] = {}

    def line(self, text: str) -> Ended | None:
        """Take in one line; returns the test that it says the end of."""
        begun = _BEGUN.match(text)
        if begun is not None:
            self._begun[begun.group(1)] = None
            return None
        found = _ENDED.match(text)
        if found is None:
            return None
        test = Ended(found.group(2), found.group(1).lower(), float(found.group(3)))
        self.ended[test.name] = test
        return test

    def finish(self) -> dict[str, Ended]:
        """Return all tests; those that never ended are lost."""
        for name in self._begun:
            self.ended.setdefault(name, Ended(name, "lost", 0.0))
        return self.ended


def leaves(names: set[str]) -> set[str]:
    """Return the tests that have no tests in them."""
    parents = {name[:place] for name in names for place, char in enumerate(name) if char == "/"}
    return names - parents
