"""Running the shell's commands inside the test process: output and exit code."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass

import pytest

from dra_scheduler.cli.main import main


@dataclass(frozen=True, slots=True)
class Ran:
    """What a command printed and its exit code."""

    code: int
    out: str
    err: str


def run(*words: str, stdin: bytes | None = None) -> Ran:
    """Run `dra-scheduler` with these words."""
    return run_main(main, words, stdin)


def run_main(command: object, words: Sequence[str], stdin: bytes | None = None) -> Ran:
    """Run any command's main function with these words."""
    assert callable(command)
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        if stdin is not None:
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        try:
            code = command(list(words))
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
    return Ran(code, out.getvalue(), err.getvalue())
