"""Running the real kubectl against any API server and writing down what it prints, the same for every run."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from dra_bench.controlplane.binaries import find_binaries
from support.eventually import eventually

_CHANGING = (
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"), "UID"),
    (re.compile(r"(resourceVersion\"?: ?)\"\d+\""), r'\1"VERSION"'),
    (re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z"), "TIME"),
    (re.compile(r"Resource Version: +\d+"), "Resource Version: VERSION"),
    (re.compile(r"(CreationTimestamp|Start Time|Creation Timestamp|LastHeartbeatTime): +.*"), r"\1: TIME"),
    (re.compile(r"\b(\d+[dhms]){1,2}\b( {0,4})"), "AGE "),
    (re.compile(r"https?://[0-9.:]+"), "URL"),
)


class Kubectl:
    """kubectl with one kubeconfig; `transcript` has every command that was run and what it printed.

    `binary`: the program; None: the one that is built with the control plane.
    """

    def __init__(self, kubeconfig: Path, namespace: str, binary: Path | None = None) -> None:
        self.transcript: list[str] = []
        program = binary or find_binaries().path("kubectl")
        self._command = [str(program), f"--kubeconfig={kubeconfig}", f"--namespace={namespace}"]

    def __call__(self, line: str, stdin: str | None = None) -> str:
        """Run a line as in a shell without quotes; its output, and the exit code if there is one, are written down."""
        ran = self.run(line.split(), stdin)
        code = f"(exit code {ran.returncode})\n" if ran.returncode else ""
        self.transcript.append(f"$ kubectl {line}\n{_normal(ran.stdout + ran.stderr)}{code}")
        return ran.stdout

    def run(
        self, words: Sequence[str], stdin: str | None = None, editor: str = "false"
    ) -> subprocess.CompletedProcess[str]:
        """Run it without writing it down; `editor`: a program for `kubectl edit`."""
        given = {"input": stdin} if stdin is not None else {"stdin": subprocess.DEVNULL}
        return subprocess.run(
            [*self._command, *words],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            env={**os.environ, "KUBE_EDITOR": editor},
            **given,
        )

    @contextmanager
    def watching(self, line: str, folder: Path, lines: int) -> Iterator[None]:
        """Watch while the body runs, until as many lines have come; they are written down."""
        file = folder / "watch.txt"
        with file.open("w") as out:
            process = subprocess.Popen([*self._command, *line.split()], stdout=out, stderr=subprocess.STDOUT)
        try:
            eventually(lambda: file.read_text().count("\n") >= 2, "the first lines of a watch")
            yield
            eventually(lambda: file.read_text().count("\n") >= lines, f"{lines} lines of a watch: {file.read_text()}")
        finally:
            process.terminate()
            process.wait(10)
        self.transcript.append(f"$ kubectl {line}\n{_normal(file.read_text())}")


@contextmanager
def serving(folder: Path, *words: str) -> Iterator[tuple[Path, Path]]:
    """`dra-scheduler WORDS` that serves a cluster as a process of its own; its kubeconfig and its output."""
    kubeconfig, log = folder / "kubeconfig", folder / "output.txt"
    command = [str(Path(sys.executable).with_name("dra-scheduler")), *words, "--kubeconfig", str(kubeconfig)]
    with log.open("w") as out:
        process = subprocess.Popen(
            command, stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, env=os.environ
        )
    try:
        eventually(
            lambda: "export KUBECONFIG" in log.read_text() or process.poll() is not None, f"the start of {command}"
        )
        assert process.poll() is None, log.read_text()
        yield kubeconfig, log
    finally:
        process.send_signal(signal.SIGINT)
        code = process.wait(15)
    assert code == 0, log.read_text()
    assert not kubeconfig.exists()


def _normal(text: str) -> str:
    for pattern, replacement in _CHANGING:
        text = pattern.sub(replacement, text)
    return text
