"""`dra-bench simulate`: the whole scheduler through lives of clusters drawn from seeds, in virtual time."""

from __future__ import annotations

import argparse
import logging
import sys
import time
from collections import Counter
from pathlib import Path

from dra_bench.record import Record, RecordError, Run, current_commit, seed_range
from dra_bench.simulation.life import live

EXAMPLE = """Each seed is a cluster with an API server, controllers, kubelets and our scheduler on one event loop whose
time is not real: pods come and go, drivers publish anew, nodes close; answers are late, lost, 409, 429 or 500,
watches are cut, the scheduler dies at any write and is started again. Once at rest, no device may have two users,
nothing may be bound unreserved or left behind, and whoever fits must be bound. The same seed is the same life.

exit codes: 0 all of it held, 1 something did not, 2 the file of results is broken

example:
  dra-bench simulate --seeds 0-199
  dra-bench simulate --seeds 17 --log
  dra-bench simulate --seeds 0-9999 --results benchmarks/results/simulation.json"""

BLOCK = 100
"""Seeds between two writes of the file: a run that is cut off goes on from there."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `simulate`."""
    seeds = "both included (default: 0-199)"
    parser.add_argument("--seeds", type=seed_range, default=(0, 199), metavar="A-B", help=seeds)
    parser.add_argument("--log", action="store_true", help="print what happens in each life, not only in a bad one")
    parser.add_argument("--results", type=Path, metavar="FILE", help="append to this JSON file; go on where it ends")


def execute(arguments: argparse.Namespace) -> int:
    """Simulate; returns the exit code."""
    logging.disable(logging.WARNING)  # what goes wrong on purpose fills screens
    try:
        record, commit = Record(arguments.results), current_commit()
        first, last = arguments.seeds
        start = record.next_seed("simulation", commit, first)
        if start > first:
            print(f"seeds {first}-{min(start, last + 1) - 1} are in {arguments.results} already")
        return _run(record, commit, start, last, log=arguments.log)
    except RecordError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    finally:
        logging.disable(logging.NOTSET)


def _run(record: Record, commit: str, first: int, last: int, *, log: bool) -> int:
    total: Counter[str] = Counter()
    started = time.monotonic()
    for start in range(first, last + 1, BLOCK):
        end = min(start + BLOCK - 1, last)
        begun = time.monotonic()
        counts = Counter(_one(seed, log=log) for seed in range(start, end + 1))
        record.add(Run("simulation", commit, start, end, round(time.monotonic() - begun, 1), dict(counts), ""))
        total += counts
        print(f"seeds {start}-{end}: {counts['failed']} failed", flush=True)
    print(f"{total.total()} lives, {total['failed']} failed, in {time.monotonic() - started:.0f} s")
    return 1 if total["failed"] else 0


def _one(seed: int, *, log: bool) -> str:
    found, happened = live(seed)
    if found or log:
        print(f"seed {seed}:", *happened, *(f"wrong: {text}" for text in found), sep="\n  ", flush=True)
    return "failed" if found else "held"
