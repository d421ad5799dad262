"""`dra-bench upstream-perf`: Kubernetes' scheduler_perf, our scheduler and kube-scheduler in turns."""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console

from dra_bench.record import current_commit
from dra_bench.upstream.errors import UpstreamError
from dra_bench.upstream.places import upstream_folder
from dra_bench.upstream.program import our_scheduler
from dra_bench.upstream.results import OURS, REFERENCE
from dra_bench.upstream.rounds import Round, Rounds, summary
from dra_bench.upstream.throughput import measure
from dra_bench.upstream.workloads import Workload, workloads

EXAMPLE = """Each round runs a workload with our scheduler and then with kube-scheduler, on fresh API servers. What
counts is the median of the rounds' ratios. The workloads' own thresholds are for other machines and are not asked.
All workloads have had a round before any has a second one; a round takes one to six minutes. With --results an
interrupted measurement goes on where it ended: rounds that the file has count.

exit codes: 0 measured, 1 a run came to no figure, 2 not built, or the results are broken

example:
  dra-bench upstream-perf --list
  dra-bench upstream-perf dra/SchedulingWithResourceClaimTemplate/half_500nodes --rounds 5
  dra-bench upstream-perf --rounds 3 --results scheduler_perf.json"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `upstream-perf`."""
    parser.add_argument("workloads", nargs="?", metavar="REGEX", default="", help="default: all")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="default: 3")
    parser.add_argument("--limit", type=float, default=900.0, metavar="S", help="seconds for one run; default: 900")
    parser.add_argument("--results", type=Path, metavar="FILE", help="keep the figures in this JSON file")
    parser.add_argument("--again", action="store_true", help="forget what --results has of these workloads")
    parser.add_argument("--list", action="store_true", help="only name the workloads")


def execute(arguments: argparse.Namespace) -> int:
    """Measure; returns the exit code."""
    try:
        known = Rounds(arguments.results)
        chosen = [one for one in workloads() if re.search(arguments.workloads, str(one))]
        if arguments.list or not chosen:
            print("\n".join(map(str, chosen)) or f"error: no workload matches {arguments.workloads!r}")
            return 0 if chosen else 2
        if arguments.again:
            known.forget(map(str, chosen))
        return _measure(chosen, known, arguments.rounds, arguments.limit)
    except UpstreamError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


def _measure(chosen: list[Workload], known: Rounds, rounds: int, limit: float) -> int:
    """Run what is missing and say what came out, a line for each workload; returns the exit code."""
    failed: set[Workload] = set()
    for number in range(1, rounds + 1):
        for workload in chosen:
            if workload not in failed and len(known.of(str(workload))) < number:
                found = _round(workload, f"round {number}/{rounds}", limit)
                if found is None:
                    failed.add(workload)
                else:
                    known.take(found)
    for workload in chosen:
        if measured := known.of(str(workload)):
            print(summary(measured))
    return 1 if failed else 0


def _round(workload: Workload, title: str, limit: float) -> Round | None:
    """Run a workload with ours and then with kube-scheduler; None if one came to no figure, which is said."""
    base = upstream_folder() / "logs" / f"perf-{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}"
    begun = time.monotonic()
    figures: dict[str, float] = {}
    for who, scheduler in ((OURS, our_scheduler()), (REFERENCE, None)):
        with _shown(f"{title} {workload} ({who})"):
            figure = measure(workload, scheduler, base / who, limit)
        if figure is None:
            print(f"{workload} ({who}): no figure; the output is in {base / who}", flush=True)
            return None
        figures[who] = figure
    date = time.strftime("%Y-%m-%d", time.gmtime())
    seconds = round(time.monotonic() - begun, 1)
    found = Round(str(workload), figures[OURS], figures[REFERENCE], date, current_commit(), seconds)
    print(f"{title} {summary([found])}", file=sys.stderr, flush=True)
    return found


@contextmanager
def _shown(what: str) -> Iterator[None]:
    """Show on a terminal what is running."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    with console.status(what):
        yield
