"""`dra-bench upstream`: Kubernetes' own tests of Dynamic Resource Allocation, run with our scheduler."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from dra_bench.record import current_commit
from dra_bench.upstream.errors import UpstreamError
from dra_bench.upstream.expected import reason, unexpected
from dra_bench.upstream.places import SUITES, suite_program, upstream_folder
from dra_bench.upstream.program import Program, our_scheduler
from dra_bench.upstream.results import OURS, REFERENCE, Results
from dra_bench.upstream.test_output import Ended, TestOutput, leaves

EXAMPLE = f"""suites: {", ".join(SUITES)}; each brings up its own API server, and our scheduler in the place of
kube-scheduler. They are built by `make upstream`.

exit codes: 0 all passed but those that are expected to fail, 1 others failed, 2 not built, or the results are broken

example:
  dra-bench upstream all
  dra-bench upstream all --run AdminAccess
  dra-bench upstream all default ga --reference --results benchmarks/results/upstream.json"""


MOST_REPEATED = 4
"""Tests that are repeated once when they fail; if more fail, it is no bad luck."""
_BELOW = 2
"""Slashes in the names of tests below `TestDRA/<configuration>`."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `upstream`."""
    parser.add_argument("suites", nargs="*", metavar="SUITE", default=["all"], help="default: all")
    parser.add_argument("--run", metavar="REGEX", help="only these tests: Go's -test.run, or the part below the suite")
    parser.add_argument("--skip", metavar="REGEX", help="not these: as for --run")
    parser.add_argument("--reference", action="store_true", help="run kube-scheduler instead of ours")
    parser.add_argument("--results", type=Path, metavar="FILE", help="note how each test ended in this JSON file")
    parser.add_argument("--logs", type=Path, metavar="FOLDER", help="default: .upstream/<version>/logs")
    parser.add_argument("--list", action="store_true", help="name each test as it ends, not only those that fail")


def execute(arguments: argparse.Namespace) -> int:
    """Run the suites; returns the exit code."""
    for suite in arguments.suites:
        if suite not in SUITES:
            print(f"error: no suite {suite!r}; there are {', '.join(SUITES)}", file=sys.stderr)
            return 2
    try:
        results = Results(arguments.results)
        runs = [_Run(suite, arguments, results) for suite in arguments.suites]
        good = [run.run() for run in runs]
    except UpstreamError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    if not any(run.ran for run in runs):
        print(f"error: no test matches {arguments.run!r}", file=sys.stderr)
        return 2
    return 0 if all(good) else 1


def patterns(run: str | None, skip: str | None = None) -> tuple[str, ...]:
    """Return the arguments that choose tests; each is a pattern for whole names, or for what is below the suite's."""
    given = (("run", run), ("skip", skip))
    return tuple(f"-test.{option}={_pattern(text)}" for option, text in given if text)


def _pattern(text: str) -> str:
    if text.startswith(("Test", "^Test")):
        return text
    # Go takes what stands between bars outside of brackets as whole patterns.
    parts = [text] if any(bracket in text for bracket in "([") else text.split("|")
    return "|".join(f"^TestDRA$/.*/{part}" for part in parts)


def repeatable(tests: Mapping[str, Ended]) -> list[str]:
    """Return the tests right below the configuration to run once more: few failed, and none without a name."""
    bad = unexpected({name: test.outcome for name, test in tests.items()})
    again = sorted({name.split("/")[_BELOW] for name in bad if name.count("/") >= _BELOW})
    return again if len(again) <= MOST_REPEATED else []


def flaky(first: Mapping[str, Ended], second: Mapping[str, Ended]) -> list[str]:
    """Return the tests that failed at first and passed when repeated."""
    bad = unexpected({name: test.outcome for name, test in first.items()})
    return sorted(name for name in leaves({*bad}) if name in second and second[name].outcome == "pass")


@dataclass
class _Run:
    """One suite, once."""

    suite: str
    arguments: argparse.Namespace
    results: Results
    ran: bool = False
    """Whether any test ran, besides those that hold all others."""

    def run(self) -> bool:
        """Run it and say what came out; returns whether all is as expected."""
        reference = bool(self.arguments.reference)
        who = REFERENCE if reference else OURS
        base = self.arguments.logs or upstream_folder() / "logs"
        logs = base / f"{self.suite}-{who}-{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}"
        started, commit = time.monotonic(), current_commit()
        code, tests = self._tests(patterns(self.arguments.run, self.arguments.skip), logs)
        if again := repeatable(tests):
            print(f"once more: {', '.join(again)}", flush=True)
            code, repeated = self._tests(patterns("|".join(f"{name}$" for name in again)), logs / "once-more")
            for name in flaky(tests, repeated):
                print(f"  flaky: {name} failed, and passed when repeated")
            tests |= repeated
        date = time.strftime("%Y-%m-%d", time.gmtime())
        whole = not self.arguments.run and not self.arguments.skip
        self.results.take(self.suite, who, tests.values(), date, commit, whole=whole)
        bad = unexpected({name: test.outcome for name, test in tests.items()})
        self._report(who, tests, bad, time.monotonic() - started, logs)
        self.ran = any(name.count("/") >= _BELOW for name in tests)
        return not bad and (code == 0 or any(_excused(test) for test in tests.values()))

    def _tests(self, chosen: tuple[str, ...], logs: Path) -> tuple[int, dict[str, Ended]]:
        """Run the chosen tests; returns the program's exit code, and the tests by name."""
        scheduler = None if self.arguments.reference else our_scheduler()
        program = Program(suite_program(self.suite), chosen, scheduler, logs.absolute(), upstream_folder())
        output = TestOutput()
        code = program.run(lambda line: self._line(output, line))
        return code, output.finish()

    def _line(self, output: TestOutput, line: str) -> None:
        test = output.line(line)
        if test is not None and (self.arguments.list or test.outcome == "fail"):
            print(f"{test.outcome:4} {test.seconds:6.1f} s {test.name}", flush=True)

    def _report(self, who: str, tests: dict[str, Ended], bad: list[str], seconds: float, logs: Path) -> None:
        ends = leaves(set(tests))
        counts = Counter(tests[name].outcome for name in ends)
        text = ", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items())) or "no test ran"
        print(f"{self.suite} ({who}): {text} in {seconds:.0f} s; logs in {logs}")
        for name in bad:
            print(f"  unexpected: {tests[name].outcome} {name}")
        for name in sorted(name for name in ends if reason(name) is not None):
            print(f"  {tests[name].outcome} {name}, expected to fail: {reason(name)}")


def _excused(test: Ended) -> bool:
    return test.outcome == "fail" and reason(test.name) is not None
