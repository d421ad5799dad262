"""`dra-scheduler run` as a process of its own, as users start it; ended by its id whatever happens."""

from __future__ import annotations

import http.client
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType

from dra_bench.controlplane.ports import pick_ports
from support.eventually import eventually

READY_SECONDS = 30.0


class SchedulerProcess:
    """Started on entry, ready when entered, ended on exit; `log` is the file of its output."""

    def __init__(self, kubeconfig: Path, folder: Path, *arguments: str) -> None:
        self.port = pick_ports(1)[0]
        self.log = folder / f"scheduler-{self.port}.log"
        self._command = [
            str(Path(sys.executable).with_name("dra-scheduler")),
            *("run", "--kubeconfig", str(kubeconfig), "--http", f"127.0.0.1:{self.port}", *arguments),
        ]
        self._process: subprocess.Popen[bytes] | None = None
        self.seconds_to_ready = 0.0

    def start(self, *, ready: bool = True) -> None:
        """Start it and, unless told otherwise, wait until it is ready."""
        begin = time.monotonic()
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command, stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL
            )
        if ready:
            eventually(lambda: self.get("/readyz") == 200 or self.ended(), f"ready; see {self.log}", pause=0.01)
            assert not self.ended(), self.log.read_text()
            self.seconds_to_ready = time.monotonic() - begin

    def ended(self) -> bool:
        """Whether the process is gone."""
        return self._process is None or self._process.poll() is not None

    def get(self, path: str) -> int:
        """The status of a GET on its own HTTP address; 0: nobody listens."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        try:
            connection.request("GET", path)
            return connection.getresponse().status
        except OSError:
            return 0
        finally:
            connection.close()

    def kill(self) -> None:
        """SIGKILL: it has no chance to tidy up."""
        assert self._process is not None
        self._process.send_signal(signal.SIGKILL)
        self._process.wait(10)

    def terminate(self) -> int:
        """SIGTERM, as Kubernetes ends it; returns the exit code."""
        assert self._process is not None
        self._process.send_signal(signal.SIGTERM)
        return self._process.wait(20)

    def wait(self, seconds: float = 20.0) -> int:
        """Wait for it to end by itself; returns the exit code."""
        assert self._process is not None
        return self._process.wait(seconds)

    def __enter__(self) -> SchedulerProcess:
        try:
            self.start()
        except BaseException:
            self.kill()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self.ended():
            self.kill()
        if kind is not None and os.environ.get("DRA_SHOW_LOGS"):
            print(self.log.read_text())
