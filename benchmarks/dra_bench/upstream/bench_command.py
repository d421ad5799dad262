"""`dra-bench upstream-perf`: Kubernetes' scheduler_perf, our scheduler and kube-scheduler in turns."""

from __future__ import annotations

import argparse
import re
import statistics
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import orjson

from dra_bench.controlplane.binaries import KUBERNETES_VERSION
from dra_bench.record import current_commit
from dra_bench.upstream.errors import ResultsError, UpstreamError
from dra_bench.upstream.places import upstream_folder
from dra_bench.upstream.program import our_scheduler
from dra_bench.upstream.results import OURS, REFERENCE
from dra_bench.upstream.throughput import measure
from dra_bench.upstream.workloads import Workload, workloads

EXAMPLE = """Each round runs a workload with our scheduler and then with kube-scheduler, on fresh API servers. What
counts is the median of the rounds' ratios. The workloads' own thresholds are for other machines and are not asked.

exit codes: 0 measured, 1 a run came to no figure, 2 not built, or the results are broken

example:
  dra-bench upstream-perf --list
  dra-bench upstream-perf dra/SchedulingWithResourceClaimTemplate/half_500nodes --rounds 5"""


@dataclass(frozen=True, slots=True)
class Measured:
    """A workload's rounds: pods per second of each, in the order in which they ran."""

    workload: str
    ours: list[float]
    reference: list[float]
    date: str
    commit: str

    @property
    def ratios(self) -> list[float]:
        """Ours by kube-scheduler's, per round."""
        return [a / b for a, b in zip(self.ours, self.reference, strict=True)]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `upstream-perf`."""
    parser.add_argument("workloads", nargs="?", metavar="REGEX", default="", help="default: all")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="default: 3")
    parser.add_argument("--limit", type=float, default=600.0, metavar="S", help="seconds for one run; default: 600")
    parser.add_argument("--results", type=Path, metavar="FILE", help="note the figures in this JSON file")
    parser.add_argument("--list", action="store_true", help="only name the workloads")


def execute(arguments: argparse.Namespace) -> int:
    """Measure; returns the exit code."""
    try:
        known = _read(arguments.results)
        chosen = [one for one in workloads() if re.search(arguments.workloads, str(one))]
        if arguments.list or not chosen:
            print("\n".join(map(str, chosen)) or f"error: no workload matches {arguments.workloads!r}")
            return 0 if chosen else 2
        complete = True
        for workload in chosen:
            found = _rounds(workload, arguments.rounds, arguments.limit)
            complete &= found is not None
            if found is not None:
                known[found.workload] = found
                _write(arguments.results, known)
    except UpstreamError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0 if complete else 1


def _rounds(workload: Workload, rounds: int, limit: float) -> Measured | None:
    """Measure one workload in turns, and say what came out; None if one run came to no figure."""
    figures: dict[str, list[float]] = {OURS: [], REFERENCE: []}
    base = upstream_folder() / "logs" / f"perf-{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}"
    for number in range(rounds):
        for who, scheduler in ((OURS, our_scheduler()), (REFERENCE, None)):
            folder = base / f"{number}-{who}"
            figure = measure(workload, scheduler, folder, limit)
            if figure is None:
                print(f"{workload} ({who}): no figure; the output is in {folder}")
                return None
            figures[who].append(figure)
    date = time.strftime("%Y-%m-%d", time.gmtime())
    found = Measured(str(workload), figures[OURS], figures[REFERENCE], date, current_commit())
    ours, reference = (statistics.median(figures[who]) for who in (OURS, REFERENCE))
    low, high = min(found.ratios), max(found.ratios)
    print(
        f"{workload}: ours {ours:.1f}, kube-scheduler {reference:.1f} pods/s, "
        f"ratio {statistics.median(found.ratios):.2f} ({low:.2f} to {high:.2f})",
        flush=True,
    )
    return found


def _read(path: Path | None) -> dict[str, Measured]:
    if path is None or not path.exists():
        return {}
    try:
        return {one["workload"]: Measured(**one) for one in orjson.loads(path.read_bytes())["workloads"]}
    except (orjson.JSONDecodeError, KeyError, TypeError) as error:
        raise ResultsError(f"{path} is no file of results: {error}") from error


def _write(path: Path | None, known: dict[str, Measured]) -> None:
    if path is not None:
        content = {"kubernetes": KUBERNETES_VERSION, "workloads": [asdict(known[name]) for name in sorted(known)]}
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(orjson.dumps(content, option=orjson.OPT_INDENT_2) + b"\n")
