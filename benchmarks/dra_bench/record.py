"""The files of results: which seeds were tried at which commit, and what came out."""

from __future__ import annotations

import argparse
import subprocess
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path

import orjson

from dra_bench.controlplane.binaries import KUBERNETES_VERSION, repository_root


class RecordError(Exception):
    """The file of results cannot be read: the text names it. Move it away or mend it."""


@dataclass(slots=True)
class Run:
    """Seeds from `first` to `last`, both included, at one commit (with `+` where files were changed).

    `worst_ms` is the most CPU time that one seed took (milliseconds), 0 where that is not measured; `kubernetes` the
    release that was asked, empty where none was.
    """

    study: str
    commit: str
    first: int
    last: int
    seconds: float = 0.0
    counts: dict[str, int] = field(default_factory=dict)
    kubernetes: str = KUBERNETES_VERSION
    worst_ms: float = 0.0

    def add(self, later: Run) -> None:
        """Take in the run of the seeds that come next."""
        self.last = later.last
        self.seconds = round(self.seconds + later.seconds, 1)
        self.worst_ms = max(self.worst_ms, later.worst_ms)
        self.counts = dict(sorted((Counter(self.counts) + Counter(later.counts)).items()))


class Record:
    """All runs of a file. Adjacent seeds of one study and commit are one run."""

    def __init__(self, path: Path | None) -> None:
        """`path` None: nothing is kept. Raises RecordError."""
        self._path = path
        self.runs: list[Run] = []
        if path is not None and path.exists():
            try:
                self.runs = [Run(**entry) for entry in orjson.loads(path.read_bytes())["runs"]]
            except (OSError, orjson.JSONDecodeError, KeyError, TypeError) as error:
                raise RecordError(f"{path} is no file of results: {error}") from error

    def next_seed(self, study: str, commit: str, first: int) -> int:
        """Return the first seed from `first` on that is not recorded for the study at the commit."""
        for run in sorted(self._of(study, commit), key=lambda run: run.first):
            if run.first <= first <= run.last:
                first = run.last + 1
        return first

    def add(self, run: Run) -> None:
        """Record a run and write the file."""
        before = [one for one in self._of(run.study, run.commit) if one.last + 1 == run.first]
        if before:
            before[0].add(run)
        else:
            self.runs.append(run)
        if self._path is not None:
            write_json(self._path, {"runs": [asdict(one) for one in self.runs]})

    def _of(self, study: str, commit: str) -> list[Run]:
        return [run for run in self.runs if (run.study, run.commit) == (study, commit)]


def write_json(path: Path, content: object) -> None:
    """Write a file of results, to be read and compared by people too."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(orjson.dumps(content, option=orjson.OPT_INDENT_2) + b"\n")


def seed_range(text: str) -> tuple[int, int]:
    """Read `A-B` or `A` (both included) from a command line. Raises argparse.ArgumentTypeError."""
    first, _, last = text.partition("-")
    try:
        seeds = int(first), int(last or first)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no range of seeds such as 0-999") from None
    if seeds[0] > seeds[1]:
        raise argparse.ArgumentTypeError(f"{text!r} ends before it starts")
    return seeds


def current_commit() -> str:
    """Return the checkout's commit, with `+` where files that git knows are changed; `unknown` without git."""
    root = repository_root()
    try:
        commit = subprocess.run(
            ["git", "rev-parse", "--short=12", "HEAD"], cwd=root, capture_output=True, text=True, check=True
        ).stdout.strip()
        changed = subprocess.run(["git", "diff", "--quiet", "HEAD"], cwd=root, check=False).returncode != 0
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return f"{commit}+" if changed else commit
