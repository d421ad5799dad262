"""Processes on a leash: started, signalled and ended by id, and gone when the owner is.

    start()              stop() | kill() | it ends on its own
new -------> running -----------------------------------------> ended --start()--> running
              |   ^
       pause()|   |resume()
              v   |
             paused          (kill() ends a paused process too; stop() resumes it first)
"""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from dra_bench.controlplane.errors import ComponentFailedError

GUARD: Final = Path(__file__).with_name("guard.py")
START_SECONDS: Final = 20.0
"""How long the guard may take to report the process id: an interpreter's start, with room for a busy machine."""

KILL_SECONDS: Final = 10.0
"""How long the end of a killed program may take; the kernel frees a large one's memory first."""

TAIL_BYTES: Final = 4000


class Component:
    """One program of the control plane, with its log.

    It cannot outlive the process that created this object, however that process ends (see guard.py). Not safe for
    use from several threads at once; which thread starts it does not matter.
    """

    def __init__(self, name: str, command: Sequence[str], log: Path) -> None:
        self.name = name
        self.command = tuple(command)
        self.log = log
        self._guard: subprocess.Popen[bytes] | None = None
        self._pid = 0

    @property
    def pid(self) -> int:
        """The program's process id (not the guard's); 0 before the first start. For reading its CPU time only."""
        return self._pid

    @property
    def running(self) -> bool:
        """Whether the program has been started and has not ended (a paused program is running)."""
        return self._guard is not None and self._guard.poll() is None

    @property
    def exit_code(self) -> int | None:
        """The program's exit code (128 + n for signal n), or None while it runs or before it was started."""
        return None if self._guard is None else self._guard.poll()

    def start(self) -> None:
        """Start the program; its log is appended to.

        Raises:
            ComponentFailedError: it is running already, or the program cannot be executed.

        """
        if self.running:
            raise ComponentFailedError(self.name, "is running already", self.log_tail())
        self._release()
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with self.log.open("ab") as log:
            self._guard = subprocess.Popen(
                [sys.executable, "-I", "-S", str(GUARD), *self.command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,  # Ctrl-C in a terminal is the owner's business
                bufsize=0,
            )
        self._pid = self._read_pid(self._guard)

    def stop(self, grace: float = 10.0) -> None:
        """Ask the program to end (SIGTERM), kill it after ``grace`` seconds, and return when it is gone."""
        self.resume()
        self._send(b"term")
        with contextlib.suppress(subprocess.TimeoutExpired):
            if self._guard is not None:
                self._guard.wait(grace)
        self.kill()

    def kill(self) -> None:
        """End the program at once (SIGKILL), paused or not, and return when it is gone."""
        self._send(b"kill")
        if self._guard is not None:
            try:
                self._guard.wait(KILL_SECONDS)
            except subprocess.TimeoutExpired:  # a guard that does not listen; the kernel kills the program with it
                self._guard.kill()
                self._guard.wait()
        self._release()

    def pause(self) -> None:
        """Freeze the program (SIGSTOP): its connections stay open and nothing answers on them."""
        self._send(b"stop")

    def resume(self) -> None:
        """Let a paused program go on (SIGCONT); harmless when it is not paused."""
        self._send(b"cont")

    def log_tail(self) -> str:
        """Return the last few kilobytes of the log, from the start of a line."""
        try:
            content = self.log.read_bytes()
        except FileNotFoundError:
            return ""
        tail = content[-TAIL_BYTES:]
        if len(content) > TAIL_BYTES:
            tail = tail.partition(b"\n")[2]
        return tail.decode(errors="replace").strip()

    def _read_pid(self, guard: subprocess.Popen[bytes]) -> int:
        assert guard.stdout is not None
        poll = select.poll()  # unlike select(), also for descriptors above 1023
        poll.register(guard.stdout, select.POLLIN)
        line = os.read(guard.stdout.fileno(), 32) if poll.poll(START_SECONDS * 1000) else b""
        if not line:
            self.kill()
            raise ComponentFailedError(self.name, "could not be started", self.log_tail())
        return int(line)

    def _send(self, word: bytes) -> None:
        if self._guard is None or self._guard.stdin is None or self._guard.stdin.closed:
            return
        with contextlib.suppress(BrokenPipeError):  # it has ended meanwhile: nothing to signal
            self._guard.stdin.write(word + b"\n")

    def _release(self) -> None:
        if self._guard is None:
            return
        for pipe in (self._guard.stdin, self._guard.stdout):
            if pipe is not None:
                pipe.close()
