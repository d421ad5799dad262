"""`dra-bench oracle`: our engine against Kubernetes' own on what a range of seeds generates."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from dra_bench.oracle.errors import OracleError
from dra_bench.oracle.process import Oracle
from dra_bench.oracle.studies import STUDIES
from dra_bench.record import Record, RecordError, Run, current_commit, seed_range

EXAMPLE = """clusters: random clusters through both allocators, judged by a plain model; crowds:
the same with many devices that are alike; expressions: random selectors
over random devices; quantities: quantities and versions. Needs the oracle: make oracle.

exit codes: 0 every difference is explained, 1 some are not, 2 the oracle or the file of results is missing or broken

example:
  dra-bench oracle clusters --seeds 0-9999 --results benchmarks/results/oracle.json
  dra-bench oracle expressions --seeds 17-17"""

BLOCK = 500
"""Seeds between two writes of the file: a run that is cut off goes on from there."""
SHOWN = 5
"""Unexplained differences that are made small and printed; the others are only counted."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `oracle`."""
    parser.add_argument("study", choices=sorted(STUDIES), help="what to compare")
    parser.add_argument(
        "--seeds", type=seed_range, default=(0, 999), metavar="A-B", help="both included (default: 0-999)"
    )
    parser.add_argument("--results", type=Path, metavar="FILE", help="append to this JSON file; go on where it ends")


def execute(arguments: argparse.Namespace) -> int:
    """Compare; returns the exit code."""
    try:
        with Oracle() as oracle:
            record, commit = Record(arguments.results), current_commit()
            first, last = arguments.seeds
            start = record.next_seed(arguments.study, commit, first)
            if start > first:
                print(f"seeds {first}-{min(start, last + 1) - 1} are in {arguments.results} already")
            return Comparison(oracle, record, commit, arguments.study).run(start, last)
    except (OracleError, RecordError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


class Comparison:
    """One study over a range of seeds."""

    def __init__(self, oracle: Oracle, record: Record, commit: str, study: str) -> None:
        self._oracle = oracle
        self._record = record
        self._commit = commit
        self._study = study
        self._total: Counter[str] = Counter()
        self._shown: Counter[str] = Counter()

    def run(self, first: int, last: int) -> int:
        """Compare block by block; returns the exit code."""
        started = time.monotonic()
        for start in range(first, last + 1, BLOCK):
            end = min(start + BLOCK - 1, last)
            counts, seconds = self._block(start, end)
            self._record.add(
                Run(self._study, self._commit, start, end, round(seconds, 1), dict(sorted(counts.items())))
            )
            self._total += counts
            print(f"{self._study} {start}-{end}: {_text(counts)}", flush=True)
        print(f"{self._study}: {_text(self._total)} in {time.monotonic() - started:.0f} s")
        return 1 if any(kind.startswith("unexplained") for kind in self._total) else 0

    def _block(self, first: int, last: int) -> tuple[Counter[str], float]:
        started = time.monotonic()
        counts: Counter[str] = Counter()
        for seed in range(first, last + 1):
            finding = STUDIES[self._study](self._oracle, seed)
            counts[finding.kind] += 1
            if finding.report is not None:
                self._show(seed, finding.kind, finding.report)
        return counts, time.monotonic() - started

    def _show(self, seed: int, kind: str, report: Callable[[], str]) -> None:
        self._shown[kind] += 1
        if self._shown[kind] <= SHOWN:
            print(f"seed {seed}: {report()}", flush=True)


def _text(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items())) or "nothing to do"
