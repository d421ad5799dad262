"""Running one of Kubernetes' test programs, with our scheduler or with kube-scheduler."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from dra_bench.controlplane.binaries import BUILD_COMMAND, binary_folder, missing_binaries
from dra_bench.upstream.errors import NotBuiltError
from dra_bench.upstream.places import BUILD_COMMAND as UPSTREAM_BUILD_COMMAND

OURS = (
    '{python} -m dra_scheduler.cli.main run --scheduler-name default-scheduler --http 127.0.0.1:"$HEALTH_PORT" '
    '--feature-gates "$FEATURE_GATES" ${{FILTER_TIMEOUT:+--filter-timeout "$FILTER_TIMEOUT"}} '
    '${{BINDING_TIMEOUT:+--binding-timeout "$BINDING_TIMEOUT"}}'
)
"""Our scheduler as the tests start it: nothing but the name, the gates and the time-outs that a test sets."""


PARALLEL = 6
"""Tests at a time where they allow it: most of their time they wait. Go's own default is the number of cores."""


@dataclass(frozen=True, slots=True)
class Program:
    """A test program to run. `scheduler`: a shell command, or None for kube-scheduler inside the program itself."""

    path: Path
    arguments: tuple[str, ...]
    scheduler: str | None
    logs: Path
    """A folder for the output and the schedulers' logs; it is made."""
    folder: Path
    """The folder to run it in."""
    limit: float = 1800.0
    """Seconds after which it is ended."""
    built_by: str = UPSTREAM_BUILD_COMMAND
    temporary: Path | None = None
    """Where it keeps temporary files, etcd's data among them; None: where the system keeps them."""

    def run(self, on_line: Callable[[str], None]) -> int:
        """Run it to its end, giving each line of its output; returns its exit code.

        Raises NotBuiltError. Whatever happens, nothing that it started goes on afterwards.
        """
        if not os.access(self.path, os.X_OK):
            raise NotBuiltError(str(self.path), self.built_by)
        self.logs.mkdir(parents=True, exist_ok=True)
        arguments = [str(self.path), "-test.v", f"-test.parallel={PARALLEL}", f"-test.timeout={self.limit:.0f}s"]
        with _ended_in_order(), (self.logs / "output.log").open("w", buffering=1) as log:
            process = subprocess.Popen(
                [*arguments, *self.arguments],
                cwd=self.folder,
                env=self._environment(os.environ),
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                start_new_session=True,
            )
            try:
                for line in process.stdout or ():
                    log.write(line)
                    on_line(line.rstrip("\n"))
                return process.wait()
            finally:
                self._end(process)
                if process.stdout is not None:
                    process.stdout.close()

    def _environment(self, given: Mapping[str, str]) -> dict[str, str]:
        folder = binary_folder()
        if "etcd" in missing_binaries(folder):
            raise NotBuiltError(f"{folder / 'etcd'}", BUILD_COMMAND)
        result = {**given, "PATH": f"{folder}{os.pathsep}{given.get('PATH', '')}"}
        result.pop("EXTERNAL_SCHEDULER", None)
        if self.temporary is not None:
            result["TMPDIR"] = str(self.temporary)
        if self.scheduler is not None:
            result |= {"EXTERNAL_SCHEDULER": self.scheduler, "EXTERNAL_SCHEDULER_LOGS": str(self.logs.absolute())}
        return result

    def _end(self, process: subprocess.Popen[str]) -> None:
        """End what is left: the program and etcd are one group, each scheduler another."""
        groups = [process.pid]
        for path in self.logs.glob("*.pid"):
            groups += [int(word) for word in path.read_text().split() if word.isdigit()]
            path.unlink(missing_ok=True)
        for number in (signal.SIGTERM, signal.SIGKILL):
            left = [group for group in groups if _signal(group, number)]
            if not left:
                break
            time.sleep(0.5)
        with suppress(subprocess.TimeoutExpired):
            process.wait(5)


@contextmanager
def _ended_in_order() -> Iterator[None]:
    """Make SIGTERM an exception, as SIGINT is, so that what was started is ended before we are."""

    def end(number: int, _: object) -> None:
        raise SystemExit(128 + number)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def our_scheduler() -> str:
    """Return the shell command of our scheduler, run by this Python."""
    return OURS.format(python=sys.executable)


def _signal(group: int, number: signal.Signals) -> bool:
    """Send a signal to a process group; false if there is none any more."""
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        return False
    return True
