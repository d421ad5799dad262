"""A race in small on the real control plane: everybody gets to the end, and nothing is left running."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from dra_bench.main import main


def test_all_schedulers_bind_all_pods_and_no_device_twice(
    control_plane_binaries: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    saved = tmp_path / "rows.json"
    size = ["--nodes", "10", "--devices", "8", "--pods", "40", "--selector", "--rounds", "1"]
    assert main(["cluster", *size, "-o", "json", "--save", str(saved)]) == 0
    rows = orjson.loads(saved.read_bytes())["rows"]
    assert [row["scheduler"] for row in rows] == ["ours", "kube-scheduler", "ceiling"]
    assert all(row["double_allocations"] == 0 and row["pods_per_s"] > 0 for row in rows)
    assert [row["writes_per_pod"] for row in rows if row["scheduler"] == "ceiling"] == [4.0]


def test_pods_at_a_fixed_rate_are_timed_from_their_creation(
    control_plane_binaries: None, capsys: pytest.CaptureFixture[str]
) -> None:
    size = ["--nodes", "5", "--devices", "8", "--pods", "30", "--rounds", "1"]
    assert main(["cluster", *size, "--peers", "ours", "--open-loop", "10", "-o", "json"]) == 0
    (row,) = orjson.loads(capsys.readouterr().out)
    assert row["pods"] == 20
    assert 0 < row["p50_ms"] <= row["p99_ms"]


def test_a_command_that_ends_on_its_own_is_told_with_its_log(
    control_plane_binaries: None, capsys: pytest.CaptureFixture[str]
) -> None:
    size = ["--nodes", "2", "--devices", "8", "--pods", "4", "--rounds", "1", "--peers", ""]
    assert main(["cluster", *size, "--command", "broken=echo no such luck; exit 3"]) == 1
    assert "no such luck" in capsys.readouterr().err
