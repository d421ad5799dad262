"""Running one workload of scheduler_perf, and what it measured."""

from __future__ import annotations

from pathlib import Path

import orjson

from dra_bench.upstream.errors import ResultsError
from dra_bench.upstream.places import PERFORMANCE_BUILD_COMMAND
from dra_bench.upstream.program import Program
from dra_bench.upstream.workloads import Workload

METRIC = "SchedulingThroughput"


def measure(workload: Workload, scheduler: str | None, folder: Path, limit: float) -> float | None:
    """Run the workload once; returns pods per second (average), or None if it came to no figure.

    `scheduler`: a shell command, None for kube-scheduler. Output, logs and Kubernetes' own files go to `folder`.
    """
    arguments = (
        "-test.run=^$",
        "-test.benchtime=1ns",
        f"-test.bench={workload.pattern}",
        f"-data-items-dir={folder.absolute()}",
    )
    program = Program(
        workload.program, arguments, scheduler, folder, workload.folder, limit, built_by=PERFORMANCE_BUILD_COMMAND
    )
    program.run(lambda _: None)
    return throughput(folder)


def throughput(folder: Path) -> float | None:
    """Return the average that a run has left in its folder; the largest, where several phases were measured."""
    found = []
    for path in sorted(folder.glob("*.json")):
        try:
            items = orjson.loads(path.read_bytes())["dataItems"] or ()
            found += [item["data"]["Average"] for item in items if item["labels"].get("Metric") == METRIC]
        except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError) as error:
            raise ResultsError(f"{path} is not what scheduler_perf writes: {error}") from error
    return max(found, default=None)
