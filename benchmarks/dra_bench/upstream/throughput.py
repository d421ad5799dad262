"""Running one workload of scheduler_perf, and what it measured."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import orjson

from dra_bench.upstream.errors import ResultsError
from dra_bench.upstream.places import PERFORMANCE_BUILD_COMMAND
from dra_bench.upstream.program import Program
from dra_bench.upstream.workloads import Workload

METRIC = "SchedulingThroughput"
MEMORY = Path("/dev/shm")
"""A file system in memory, on Linux."""
ROOM = 4 << 30
"""Bytes that must be free there: some 8,000 pods with all their versions, and snapshots."""


def measure(workload: Workload, scheduler: str | None, folder: Path, limit: float) -> float | None:
    """Run the workload once; returns pods per second (average), or None if it came to no figure.

    `scheduler`: a shell command, None for kube-scheduler. Output, logs and Kubernetes' own files go to `folder`, etcd's
    data to memory where there is room: what is measured is the scheduler, not how fast a disk is.
    """
    arguments = (
        "-test.run=^$",
        "-test.benchtime=1ns",
        f"-test.bench={workload.pattern}",
        f"-data-items-dir={folder.absolute()}",
    )
    with _temporary(MEMORY) as temporary:
        program = Program(
            workload.program,
            arguments,
            scheduler,
            folder,
            workload.folder,
            limit,
            built_by=PERFORMANCE_BUILD_COMMAND,
            temporary=temporary,
        )
        program.run(lambda _: None)
    return throughput(folder)


@contextmanager
def _temporary(memory: Path) -> Iterator[Path]:
    """Make a folder, in memory where there is room, and remove it afterwards with all that is in it."""
    roomy = memory.is_dir() and shutil.disk_usage(memory).free >= ROOM
    with tempfile.TemporaryDirectory(prefix="scheduler-perf-", dir=memory if roomy else None) as name:
        yield Path(name)


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
