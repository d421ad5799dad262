from __future__ import annotations

import argparse
import json
from pathlib import Path

import pytest

from dra_bench.oracle import command
from dra_bench.oracle.process import Oracle
from dra_bench.oracle.studies import Finding


def study(oracle: Oracle, seed: int) -> Finding:
    if seed % 400 == 13:
        return Finding("unexplained", lambda: f"the small case of {seed}")
    return Finding("bug 5" if seed % 100 == 0 else "equal")


@pytest.fixture
def arguments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> argparse.ArgumentParser:
    binary = tmp_path / "bin" / "dra-oracle"
    binary.parent.mkdir()
    binary.write_text("#!/bin/sh\n")
    binary.chmod(0o755)
    monkeypatch.setenv("DRA_CONTROLPLANE", str(binary.parent))
    monkeypatch.setattr(command, "STUDIES", {"clusters": study})
    monkeypatch.setattr(command, "current_commit", lambda: "abc")
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    return parser


def test_unexplained_differences_are_printed_with_seed_and_small_case_and_end_in_exit_code_1(
    arguments: argparse.ArgumentParser, capsys: pytest.CaptureFixture[str]
) -> None:
    code = command.execute(arguments.parse_args(["clusters", "--seeds", "0-599"]))
    printed = capsys.readouterr().out
    assert code == 1
    assert "seed 13: the small case of 13" in printed
    assert "clusters 0-499: 5 bug 5, 493 equal, 2 unexplained" in printed


def test_listed_bugs_are_no_failure(arguments: argparse.ArgumentParser) -> None:
    assert command.execute(arguments.parse_args(["clusters", "--seeds", "100-200"])) == 0


def test_a_second_run_goes_on_where_the_file_ends(
    arguments: argparse.ArgumentParser, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = tmp_path / "oracle.json"
    for seeds in ("100-299", "100-399"):
        assert command.execute(arguments.parse_args(["clusters", "--seeds", seeds, "--results", str(results)])) == 0
    assert "seeds 100-299 are in" in capsys.readouterr().out
    (run,) = json.loads(results.read_text())["runs"]
    assert (run["first"], run["last"], run["counts"]) == (100, 399, {"bug 5": 3, "equal": 297})


def test_without_the_oracle_the_command_that_builds_it_is_named_and_the_exit_code_is_2(
    arguments: argparse.ArgumentParser,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("DRA_CONTROLPLANE", str(tmp_path))
    assert command.execute(arguments.parse_args(["clusters"])) == 2
    assert "make oracle" in capsys.readouterr().err


@pytest.mark.parametrize("seeds", ["x", "5-1", "1-y"])
def test_a_range_of_seeds_that_makes_no_sense_is_refused(
    arguments: argparse.ArgumentParser, seeds: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        arguments.parse_args(["clusters", "--seeds", seeds])
    assert seeds in capsys.readouterr().err
