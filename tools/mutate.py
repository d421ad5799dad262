"""Break the code on purpose, one small change at a time, and see that the tests notice.

    make mutate                                 all of tests/mutations/*.patch
    python tools/mutate.py distinct shares      those whose name contains one of the words

Each patch is applied to a copy of the tree, never to the tree itself, and the tests that its first lines name are run
there. Exit code 0: every change was noticed; 1: one was not, or does not apply, or the tests fail without it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "tests" / "mutations"
SOURCES = ("cel", "allocator", "scheduler", "benchmarks", "tests", "docs")
SECONDS = 600
"""Time after which tests are stopped; a change that makes them hang was noticed."""


@dataclass(frozen=True)
class Mutation:
    """A patch: `Breaks:` says what it does, `Tests:` which tests have to notice."""

    path: Path
    breaks: str
    tests: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.path.stem


def read(path: Path) -> Mutation:
    """Read a patch. Raises ValueError if its first lines do not say what it breaks and which tests notice."""
    head = path.read_text().split("\n--- ", 1)[0]
    breaks, tests = (re.search(rf"^{key}: (.+)$", head, re.MULTILINE) for key in ("Breaks", "Tests"))
    if breaks is None or tests is None:
        raise ValueError(f"{path.name} needs a line `Breaks: ...` and a line `Tests: PATH ...` at its beginning")
    return Mutation(path, breaks[1], tuple(tests[1].split()))


def mutations(words: list[str]) -> list[Mutation]:
    """Return the mutations whose name contains one of the words; all without words."""
    found = [read(path) for path in sorted(FOLDER.glob("*.patch"))]
    return [one for one in found if not words or any(word in one.name for word in words)]


def apply(patch: Path, tree: Path, *options: str) -> str:
    """Apply a patch to a tree; return what is wrong with it, empty if nothing."""
    command = ["git", "apply", "--unidiff-zero", *options, str(patch)]
    # Without a repository above, so that paths are the tree's.
    environment = {**os.environ, "GIT_CEILING_DIRECTORIES": str(tree.parent)}
    done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)
    return done.stderr.strip() if done.returncode else ""


def copy_tree(to: Path) -> None:
    """Copy what the tests need of the tree as it is."""
    skip = shutil.ignore_patterns("__pycache__", "*.pyc", ".hypothesis")
    for name in SOURCES:
        shutil.copytree(ROOT / name, to / name, ignore=skip)
    shutil.copytree(ROOT / "manifests", to / "manifests")
    shutil.copy(ROOT / "pyproject.toml", to / "pyproject.toml")


def run_tests(tree: Path, tests: tuple[str, ...]) -> tuple[bool, str]:
    """Run tests in a tree; return whether they pass, and the last line of what they print."""
    paths = os.pathsep.join(str(tree / name) for name in SOURCES)
    environment = {**os.environ, "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"}
    # The same examples each time: whether a change is noticed must not be luck.
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--hypothesis-seed=1", *tests]
    try:
        done = subprocess.run(
            command, cwd=tree, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return False, "stopped: took too long"
    if done.returncode not in (0, 1):
        raise SystemExit(f"the tests could not be run:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    lines = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return done.returncode == 0, (lines or done.stdout.splitlines() or [""])[-1]


def check(mutation: Mutation, tree: Path) -> bool:
    """Return whether the tests notice; print what happened."""
    problem = apply(mutation.path, tree)
    if problem:
        print(f"DOES NOT APPLY {mutation.name}: {problem}", flush=True)
        return False
    started = time.monotonic()
    try:
        passed, line = run_tests(tree, mutation.tests)
    finally:
        undone = apply(mutation.path, tree, "--reverse")
    if undone:
        raise SystemExit(f"{mutation.name} cannot be undone: {undone}")
    took = f"{time.monotonic() - started:.0f} s"
    print(
        f"{'SURVIVED' if passed else 'noticed'} {mutation.name} ({took}): {mutation.breaks if passed else line}",
        flush=True,
    )
    return not passed


def main() -> int:
    chosen = mutations(sys.argv[1:])
    if not chosen:
        print(f"no patch in {FOLDER} has such a name")
        return 1
    with tempfile.TemporaryDirectory(prefix="mutate-") as name:
        tree = Path(name)
        copy_tree(tree)
        passed, line = run_tests(tree, tuple(sorted({path for one in chosen for path in one.tests})))
        if not passed:
            print(f"the tests fail without any change: {line}")
            return 1
        noticed = [check(one, tree) for one in chosen]
    print(f"{sum(noticed)} of {len(chosen)} changes noticed")
    return 0 if all(noticed) else 1


if __name__ == "__main__":
    sys.exit(main())
