"""The memory of a scheduler in a process of its own."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import orjson
import pytest

from dra_bench.cluster.inventory import Course
from dra_bench.main import main
from dra_bench.memory.errors import MemoryRunError
from dra_bench.memory.process_status import parse, peak_and_now
from dra_bench.memory.run import measure


def test_the_kernel_s_account_is_read_in_mib() -> None:
    assert parse("Name:\tx\nVmHWM:\t   2048 kB\nVmRSS:\t1024 kB\n") == (2.0, 1.0)
    peak, now = peak_and_now(os.getpid())
    assert peak >= now > 10


def test_a_process_that_has_ended_has_no_memory() -> None:
    with pytest.raises(MemoryRunError, match="has ended"):
        parse("Name:\tx\nState:\tZ (zombie)\n")


def test_all_pods_of_a_small_cluster_are_bound_and_the_memory_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    saved = tmp_path / "row.json"
    size = ["--nodes", "4", "--devices", "2", "--pods", "5", "--seconds", "60"]
    assert main(["memory", *size, "--save", str(saved)]) == 0
    assert "5 of 5 pods bound" in capsys.readouterr().out
    (row,) = orjson.loads(saved.read_bytes())["rows"]
    assert row["peak_mib"] >= row["ready_mib"] > 20


async def test_a_scheduler_that_ends_by_itself_is_told() -> None:
    with pytest.raises(MemoryRunError, match="exit code 3"):
        await measure(Course(1, 1, 1), 20.0, lambda *_: None, (sys.executable, "-c", "raise SystemExit(3)"))
