"""Tables: drawn on terminals, plain columns elsewhere."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from dra_scheduler.cli.show import console
from dra_scheduler.cli.table import Listing, Screen

CATS = Path(__file__).resolve().parents[2] / "manifests" / "examples" / "cats-cluster.yaml"


def listing(rows: int = 2) -> Listing:
    made = Listing("Things", ("NAME", "WHAT", "MORE"))
    for number in range(rows):
        made.add_row(f"猫{number}", "x" * (number * 300), "")
    return made


def test_elsewhere_than_on_a_terminal_a_row_is_a_line_however_long_and_nothing_stands_behind_its_last_cell() -> None:
    stream = io.StringIO()
    console(stream).print(listing())
    assert stream.getvalue().splitlines() == [
        "Things",
        f"NAME   WHAT{' ' * 299}MORE",
        "猫0",
        f"猫1    {'x' * 300}",
    ]


def test_on_a_terminal_a_table_is_folded_to_its_width() -> None:
    stream = io.StringIO()
    Screen(file=stream, width=40, force_terminal=True, no_color=True).print(listing())
    assert len(stream.getvalue().splitlines()) > 8
    assert "x" * 40 not in stream.getvalue()


def test_a_terminal_that_is_too_narrow_for_names_wraps_whole_lines_itself() -> None:
    made = Listing("Things", ("NAME", "NODE", "WHAT"))
    made.add_row("resource-driver.example.com", "node-1.example.com", "held by somebody")
    narrow, wide = io.StringIO(), io.StringIO()
    Screen(file=narrow, width=50, force_terminal=True, no_color=True).print(made)
    Screen(file=wide, width=72, force_terminal=True, no_color=True).print(made)
    assert "resource-driver.example.com   node-1.example.com   held by somebody" in narrow.getvalue()
    assert "resource-driver.example.com" in wide.getvalue()


def test_a_long_table_is_not_folded_on_a_terminal_either() -> None:
    stream = io.StringIO()
    Screen(file=stream, width=40, force_terminal=True, no_color=True).print(listing(600))
    assert len(stream.getvalue().splitlines()) == 602


@pytest.mark.parametrize("form", ["table", "json", "name"])
def test_a_full_disk_is_an_error_in_one_line(form: str) -> None:
    command = [sys.executable, "-m", "dra_scheduler.cli.main", "devices", "-f", str(CATS), "-o", form]
    with open("/dev/full", "wb") as full:
        ran = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, env=os.environ, timeout=30, check=False)
    assert (ran.returncode, ran.stderr) == (2, b"error: the output cannot be written: No space left on device\n")


@pytest.mark.parametrize("form", ["table", "json"])
def test_a_reader_that_has_enough_is_no_error(form: str) -> None:
    command = [sys.executable, "-m", "dra_scheduler.cli.main", "devices", "-f", str(CATS), "-o", form]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(20) == 0
