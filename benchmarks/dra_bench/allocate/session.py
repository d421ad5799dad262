"""One call of the command: measures job after job, shows a bar on a terminal, and goes on after a failure."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from dra_bench.allocate.errors import BenchError
from dra_bench.allocate.job import Job, run_apart
from dra_bench.allocate.row import Row


class Session:
    """Runs jobs.

    Attributes:
        failed: whether a job failed; it was said on stderr, and the others were measured all the same.

    """

    def __init__(self) -> None:
        self.failed = False

    def run(self, jobs: Iterable[Job]) -> list[Row]:
        """Measure; return the rows of the jobs that did not fail."""
        todo = list(jobs)
        rows: list[Row] = []
        console = Console(stderr=True)
        columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
        with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
            task = progress.add_task("", total=len(todo))
            for number, job in enumerate(todo):
                try:
                    rows += run_apart(job, _Told(progress, task, number, len(todo), job.workload))
                except BenchError as error:
                    self.failed = True
                    print(f"error: {job.workload}: {error}", file=sys.stderr)
        return rows


class _Told:
    """Moves the bar on."""

    def __init__(self, progress: Progress, task: TaskID, number: int, total: int, name: str) -> None:
        self._progress = progress
        self._task = task
        self._number = number
        self._name = f"{name} ({number + 1} of {total})"

    def __call__(self, what: str, part: float) -> None:
        self._progress.update(self._task, completed=self._number + part, description=f"{self._name}: {what}")
