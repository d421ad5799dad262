"""The oracle as a process: JSON lines in and out, bounded in time, started again when it dies."""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Any

import orjson

from dra_bench.oracle.binary import BUILD_COMMAND, oracle_path
from dra_bench.oracle.errors import OracleAnswerError, OracleMissingError, OraclePanicError, OracleStoppedError

JSON = dict[str, Any]

PATIENCE_SECONDS = 20.0
"""How long an answer may take in all; the oracle's own limit per attempt (2 s) comes first unless it hangs."""


class Oracle:
    """Asks one question at a time. A context manager: leaving it ends the process."""

    def __init__(self, path: Path | None = None, *, patience: float = PATIENCE_SECONDS) -> None:
        """`patience` in seconds of real time. Raises OracleMissingError."""
        self._path = oracle_path() if path is None else path
        if not os.access(self._path, os.X_OK):
            raise OracleMissingError(f"{self._path} is not there: run `{BUILD_COMMAND}` (needs Go)")
        self.patience = patience
        self._process: subprocess.Popen[bytes] | None = None
        self._asked = 0
        self.restarts = 0

    def __enter__(self) -> Oracle:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """End the process; asking again starts a new one."""
        if self._process is None:
            return
        process, self._process = self._process, None
        process.kill()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()
        process.wait()

    def ask(self, question: JSON) -> JSON:
        """Return the answer to a question (`kind` and what the kind needs).

        Raises:
            OracleAnswerError: the oracle cannot read the question.
            OraclePanicError: Kubernetes' library panicked.
            OracleStoppedError: no answer, twice.

        """
        self._asked += 1
        line = orjson.dumps({**question, "id": self._asked}) + b"\n"
        answer = self._exchange(line) or self._exchange(line)
        if answer is None:
            raise OracleStoppedError(f"no answer within {self.patience:g} s, twice, to: {_short(line)}")
        if answer["id"] != self._asked:
            self.close()
            raise OracleStoppedError(f"answer {answer['id']} to question {self._asked}")
        if "badQuestion" in answer:
            raise OracleAnswerError(answer["badQuestion"])
        if "panic" in answer:
            raise OraclePanicError(answer["panic"])
        return answer

    def _exchange(self, line: bytes) -> JSON | None:
        """Send a line and read one; None when the process ended or kept silent (it is then gone)."""
        if self._process is None:
            # stderr is not a pipe: nobody would read it, and a full pipe would stop the oracle.
            self._process = subprocess.Popen(
                [self._path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
        answer = None
        with contextlib.suppress(BrokenPipeError):
            answer = self._send_and_read(self._process, line)
        if answer is None:
            self.close()
            self.restarts += 1
            return None
        decoded: JSON = orjson.loads(answer)
        return decoded

    def _send_and_read(self, process: subprocess.Popen[bytes], line: bytes) -> bytes | None:
        if process.stdin is None or process.stdout is None:
            raise OracleStoppedError("the oracle was started without pipes")
        process.stdin.write(line)
        process.stdin.flush()
        deadline = time.monotonic() + self.patience
        descriptor = process.stdout.fileno()
        received = bytearray()
        while not received.endswith(b"\n"):
            readable, _, _ = select.select([descriptor], [], [], max(0.0, deadline - time.monotonic()))
            chunk = os.read(descriptor, 1 << 20) if readable else b""
            if not chunk:
                return None
            received += chunk
        return bytes(received)


def _short(line: bytes, limit: int = 2000) -> str:
    text = line.decode(errors="replace").strip()
    return text if len(text) <= limit else f"{text[:limit]}... ({len(text)} characters)"
