"""`dra-scheduler cel`: what a selector says about each device, and what is wrong with it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from support.cli import run

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = Path(__file__).parent / "golden"
CLUSTER = str(ROOT / "manifests" / "examples" / "cats-cluster.yaml")
CAT = 'device.attributes["resource-driver.example.com"]'


def check_golden(name: str, text: str) -> None:
    """Compare with a golden file; DRA_UPDATE_GOLDEN=1 writes it."""
    text = "".join(line.rstrip() + "\n" for line in text.splitlines())
    if os.environ.get("DRA_UPDATE_GOLDEN") == "1":
        (GOLDEN / name).write_text(text)
    assert text == (GOLDEN / name).read_text()


def test_a_table_says_which_condition_is_false() -> None:
    ran = run("cel", f'{CAT}.model == "shorthair" && {CAT}.age < 5', "-f", CLUSTER)
    assert (ran.code, ran.err) == (0, "")
    check_golden("cel.txt", ran.out)


def test_an_error_is_told_per_device() -> None:
    ran = run("cel", f"{CAT}.nosuch == 1", "-f", CLUSTER, "-o", "json")
    listed = json.loads(ran.out)
    assert ran.code == 0
    assert len(listed) == 32
    assert listed[0]["result"] == "error"
    assert listed[0]["reason"] == "no such key: nosuch"
    assert (listed[0]["pool"], listed[0]["device"]) == ("node-1", "cat-0")


def test_cel_python_gives_a_second_opinion() -> None:
    expression = f'{CAT}.model == "shorthair" && {CAT}.age < 5'
    own = json.loads(run("cel", expression, "-f", CLUSTER, "-o", "json").out)
    ran = run("cel", expression, "-f", CLUSTER, "-o", "json", "--engine", "cel-python")
    assert ran.code == 0
    assert [one["result"] for one in json.loads(ran.out)] == [one["result"] for one in own]


def test_cel_python_says_what_it_cannot_read() -> None:
    ran = run("cel", f"{CAT}.?age.orValue(1) == 1", "-f", CLUSTER, "-o", "json", "--engine", "cel-python")
    assert "does not parse" in json.loads(ran.out)[0]["reason"]


def test_a_compile_error_has_a_caret_and_a_suggestion() -> None:
    ran = run("cel", 'device.drivr == "a"', "-f", CLUSTER)
    assert (ran.code, ran.out) == (2, "")
    check_golden("cel-compile-error.err.txt", ran.err)


def test_check_tells_type_and_cost_without_files() -> None:
    ran = run("cel", "--check", 'device.driver == "a"')
    assert ran.code == 0
    check_golden("cel-check.txt", ran.out)
    assert json.loads(run("cel", "--check", f"{CAT}.ecc", "-o", "json").out)["type"] == "dyn"


def test_check_refuses_what_the_api_server_refuses() -> None:
    ran = run("cel", "--check", "type(1) == int")
    assert ran.code == 2
    assert "over the limit of 1,000,000" in ran.out
    assert "refuses" in ran.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "name files with ResourceSlices"),
        (["-f", "nosuch.yaml"], "nosuch.yaml"),
        (["-f", str(ROOT / "manifests" / "examples" / "cats.yaml")], "no ResourceSlice with devices"),
    ],
)
def test_bad_input_is_named(words: list[str], message: str) -> None:
    ran = run("cel", "true", *words)
    assert ran.code == 2
    assert message in ran.err
