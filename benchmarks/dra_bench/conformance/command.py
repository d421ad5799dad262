"""`dra-bench conformance`: run case files of Kubernetes' own tests through our engine."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

import orjson

from dra_api.errors import ApiError
from dra_bench.conformance.case import Case, CaseFileError
from dra_bench.conformance.case_file import read_cases
from dra_bench.conformance.runner import Report, actual_line, run_cases
from dra_bench.record import current_commit

EXAMPLE = """The files are told apart by their content: allocator cases, selector cases, golden rows, helper tables;
a list of cases, a single one, or one a line. Of a folder all .json, .jsonl and .ndjson files are taken. A case that
lacks something fails, the others still run.

exit codes: 0 all passed, 1 some failed, 2 a file cannot be read

example:
  dra-bench conformance allocator-cases.json cel-golden.json
  dra-bench conformance --actual allocator-cases.json > outcomes.jsonl"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `conformance`."""
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="case files (JSON), or folders of them")
    parser.add_argument("--json", action="store_true", help="passed, failed, failures[].{name, difference} as JSON")
    parser.add_argument("--results", type=Path, metavar="FILE", help="write the report, with the commit, to this file")
    parser.add_argument("--actual", action="store_true", help="print one JSON line per case: what really came out")


def execute(arguments: argparse.Namespace) -> int:
    """Run; returns the exit code."""
    try:
        cases = [case for path in arguments.files for case in read_cases(path)]
    except (CaseFileError, ApiError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    if arguments.actual:
        for case in _progress(cases):
            sys.stdout.write(orjson.dumps(actual_line(case)).decode() + "\n")
        return 0
    report = run_cases(_progress(cases))
    if arguments.results is not None:
        arguments.results.parent.mkdir(parents=True, exist_ok=True)
        content = {"commit": current_commit(), **report.as_json()}
        arguments.results.write_bytes(orjson.dumps(content, option=orjson.OPT_INDENT_2) + b"\n")
    if arguments.json:
        sys.stdout.write(orjson.dumps(report.as_json(), option=orjson.OPT_INDENT_2).decode() + "\n")
    else:
        _print(report)
    return 1 if report.failed else 0


def _progress(cases: list[Case]) -> Iterator[Case]:
    """The cases, with a bar on standard error where that is a terminal."""
    if not sys.stderr.isatty():
        yield from cases
        return
    from rich.console import Console
    from rich.progress import track

    yield from track(cases, description="cases", console=Console(stderr=True), transient=True)


def _print(report: Report) -> None:
    for failure in report.failures:
        print(f"FAILED {failure.key or failure.name}: {failure.difference}")
    for name, reason in report.corrected.items():
        print(f"expected otherwise than Kubernetes: {name}: {reason}")
    for name, reason in report.left_out.items():
        print(f"left out: {name}: {reason}")
    left_out = f", {len(report.left_out)} left out" if report.left_out else ""
    print(f"{report.passed} passed, {report.failed} failed{left_out}")
