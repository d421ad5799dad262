"""`dra-bench fuzz`: what must hold for any input, tried on what a range of seeds generates."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

from dra_bench.fuzz import worst
from dra_bench.fuzz.runner import Failure, Runner
from dra_bench.fuzz.studies import STUDIES
from dra_bench.fuzz.study import Study
from dra_bench.record import Record, RecordError, Run, current_commit, seed_range

EXAMPLE = """Inputs are grown from grammars and then damaged: other types, nulls, huge values, deep nesting, broken
text. Only our own errors may come out, in bounded CPU time; what is read prints and reads the same; columns say what
devices alone say; the allocator never fails and never gives a device away twice.

exit codes: 0 all of it held, 1 something did not, 2 the file of results is broken

example:
  dra-bench fuzz
  dra-bench fuzz selectors slices --seeds 0-99999 --results benchmarks/results/fuzz.json
  dra-bench fuzz claims --seeds 17
  dra-bench fuzz --times"""

BLOCK = 1000
"""Seeds between two writes of the file: a run that is cut off goes on from there."""
SHOWN = 5
"""Failures of a study that are made small and printed; the others are only counted."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `fuzz`."""
    names = ", ".join(STUDIES)
    parser.add_argument("studies", nargs="*", metavar="STUDY", help=f"{names} (default: all)")
    seeds = "both included (default: 0-999)"
    parser.add_argument("--seeds", type=seed_range, default=(0, 999), metavar="A-B", help=seeds)
    times = "instead: how long the worst selectors take, piece by piece"
    parser.add_argument("--times", action="store_true", help=times)
    parser.add_argument("--results", type=Path, metavar="FILE", help="append to this JSON file; go on where it ends")


def execute(arguments: argparse.Namespace) -> int:
    """Try; returns the exit code."""
    unknown = [name for name in arguments.studies if name not in STUDIES]
    if unknown:
        print(f"error: there is no study {unknown[0]!r}; use {', '.join(STUDIES)}", file=sys.stderr)
        return 2
    if arguments.times:
        print(worst.HEAD)
        for times in worst.measure(time.process_time):
            print(times, flush=True)
        return 0
    try:
        record, commit = Record(arguments.results), current_commit()
        failed = 0
        for name in arguments.studies or STUDIES:
            first, last = arguments.seeds
            start = record.next_seed(name, commit, first)
            if start > first:
                print(f"{name}: seeds {first}-{min(start, last + 1) - 1} are in {arguments.results} already")
            failed += _Range(name, STUDIES[name], record, commit).run(start, last)
    except RecordError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 1 if failed else 0


class _Range:
    """One study over a range of seeds."""

    def __init__(self, name: str, study: Study, record: Record, commit: str) -> None:
        self._name = name
        self._runner = Runner(study, time.process_time)
        self._record = record
        self._commit = commit
        self._shown = 0

    def run(self, first: int, last: int) -> int:
        """Try block by block; returns the number of failures."""
        total: Counter[str] = Counter()
        started = time.monotonic()
        for start in range(first, last + 1, BLOCK):
            total += self._block(start, min(start + BLOCK - 1, last))
        parts = ", ".join(f"{part} {worst:.1f} ms" for part, worst in sorted(self._runner.worst.items()))
        print(
            f"{self._name}: {_text(total)} in {time.monotonic() - started:.0f} s; worst CPU time: {parts}", flush=True
        )
        return total["failed"]

    def _block(self, first: int, last: int) -> Counter[str]:
        started, before = time.monotonic(), dict(self._runner.worst)
        self._runner.worst.clear()
        counts: Counter[str] = Counter()
        for seed in range(first, last + 1):
            found = self._runner.run(seed)
            if isinstance(found, Failure):
                self._show(seed, found)
                counts["failed"] += 1
            else:
                counts[found] += 1
        worst = max(self._runner.worst.values(), default=0.0)
        seconds = round(time.monotonic() - started, 1)
        self._record.add(Run(self._name, self._commit, first, last, seconds, dict(counts), "", round(worst, 1)))
        for part, taken in before.items():
            self._runner.worst[part] = max(taken, self._runner.worst.get(part, 0.0))
        return counts

    def _show(self, seed: int, failure: Failure) -> None:
        self._shown += 1
        if self._shown <= SHOWN:
            print(f"{self._name} seed {seed}: {self._runner.report(failure)}", flush=True)


def _text(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items())) or "nothing to do"
