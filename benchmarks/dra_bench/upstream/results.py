"""The file of results: how each test ended last, with our scheduler and with kube-scheduler."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

import orjson

from dra_bench.controlplane.binaries import KUBERNETES_VERSION
from dra_bench.record import write_json
from dra_bench.upstream.errors import ResultsError
from dra_bench.upstream.test_output import Ended

OURS, REFERENCE = "ours", "reference"


@dataclass(frozen=True, slots=True)
class Result:
    """How a test ended: `outcome` is pass, fail, skip or lost; `date` a day (UTC); `commit` the project's."""

    outcome: str
    seconds: float
    date: str
    commit: str


class Results:
    """suite -> test -> who (ours, reference) -> Result."""

    def __init__(self, path: Path | None) -> None:
        """`path` None: nothing is kept. Raises ResultsError."""
        self._path = path
        self.kubernetes = KUBERNETES_VERSION
        self.suites: dict[str, dict[str, dict[str, Result]]] = {}
        if path is None or not path.exists():
            return
        try:
            content = orjson.loads(path.read_bytes())
            if content["kubernetes"] != KUBERNETES_VERSION:
                return
            for suite, tests in content["suites"].items():
                self.suites[suite] = {
                    test: {who: Result(**one) for who, one in found.items()} for test, found in tests.items()
                }
        except (OSError, orjson.JSONDecodeError, KeyError, TypeError, AttributeError) as error:
            raise ResultsError(f"{path} is no file of results: {error}") from error

    def take(self, suite: str, who: str, tests: Iterable[Ended], date: str, commit: str, *, whole: bool) -> None:
        """Take in a run and write the file. `whole`: it ran every test; what it did not run is no test any more."""
        known = self.suites.setdefault(suite, {})
        if whole:
            for found in known.values():
                found.pop(who, None)
        for test in tests:
            known.setdefault(test.name, {})[who] = Result(test.outcome, test.seconds, date, commit)
        self.suites[suite] = {name: known[name] for name in sorted(known) if known[name]}
        self._write()

    def _write(self) -> None:
        if self._path is None:
            return
        suites = {
            suite: {test: {who: asdict(one) for who, one in found.items()} for test, found in tests.items()}
            for suite, tests in sorted(self.suites.items())
        }
        write_json(self._path, {"kubernetes": self.kubernetes, "suites": suites})
