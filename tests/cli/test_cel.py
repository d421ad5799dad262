"""`dra-scheduler cel`: what a selector says about each device, and what is wrong with it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
import yaml

from support.cli import run
from support.survey import run_on, serve

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = Path(__file__).parent / "golden"
CLUSTER = str(ROOT / "manifests" / "examples" / "cats-cluster.yaml")
DRIVER = "resource-driver.example.com"
CAT = 'device.attributes["resource-driver.example.com"]'


def check_golden(name: str, text: str) -> None:
    """Compare with a golden file; DRA_UPDATE_GOLDEN=1 writes it."""
    text = "".join(line.rstrip() + "\n" for line in text.splitlines())
    if os.environ.get("DRA_UPDATE_GOLDEN") == "1":
        (GOLDEN / name).write_text(text)
    assert text == (GOLDEN / name).read_text()


def test_a_table_says_which_condition_is_false() -> None:
    ran = run("cel", f'{CAT}.model == "shorthair" && {CAT}.age < 5', "-f", CLUSTER)
    assert (ran.code, ran.err) == (0, "32 devices: 5 true, 27 false\n")
    check_golden("cel.txt", ran.out)


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        (f'{CAT}.age > 2 || {CAT}.model == "b"', f'{CAT}.age > 2 is false (age = 2); {CAT}.model == "b" is false'),
        (f"{CAT}.age > 1 && !({CAT}.age == 2)", f"{CAT}.age == 2 is true (age = 2)"),
        (f"{CAT}.age > 1 ? {CAT}.age > 3 : true", f"{CAT}.age > 1 is true (age = 2); {CAT}.age > 3 is false (age = 2)"),
        (f"{CAT}.?nosuch.orValue(1) == 2", f"{CAT}.?nosuch.orValue(1) == 2 is false (nosuch is absent)"),
        (f"true && ({CAT}.nosuch == 1 || {CAT}.age == 1)", f"{CAT}.nosuch == 1: no such key: nosuch"),
        (f"{CAT}.nosuch == 1 && {CAT}.age == 1", f"{CAT}.age == 1 is false (age = 2)"),
        (f"{CAT}.exists(k, k == 'b' && true)", f"{CAT}.exists(k, k == 'b' && true) is false"),
        ('device.driver == "x"', 'device.driver == "x" is false (driver = "resource-driver.example.com")'),
        (f"{CAT}.age == {CAT}.nosuch", "no such key: nosuch"),
        ("true", None),
    ],
)
def test_the_operands_that_decide_are_named_with_their_values(expression: str, reason: str | None) -> None:
    first = json.loads(run("cel", expression, "-f", CLUSTER, "-o", "json").out)[0]
    assert (first.get("reason") or "").startswith(reason or "")
    assert ("reason" in first, "because" in first) == (reason is not None, reason is not None)


def test_what_decides_is_data_too() -> None:
    ran = run("cel", f'{CAT}.model == "b" && {CAT}.nosuch', "-f", CLUSTER, "-o", "yaml")
    first = yaml.safe_load(ran.out)[0]
    cause = {"expression": f'{CAT}.model == "b"', "result": "false", "values": {"model": "shorthair"}}
    assert first["because"] == [cause]


def test_devices_can_be_those_of_a_cluster() -> None:
    documents = yaml.safe_load_all(Path(CLUSTER).read_text())
    slices = [one for one in documents if one["kind"] == "ResourceSlice"]
    served = serve(*({**one, "metadata": one["metadata"] | {"uid": "u" + str(i)}} for i, one in enumerate(slices)))
    ran = run_on(served, "cel", f"{CAT}.age < 3", "--context", "some", "-o", "json")
    assert (ran.code, ran.err, len(json.loads(ran.out))) == (0, "", 32)
    assert served.methods == {"GET"}


def test_a_compile_error_is_data_too() -> None:
    ran = run("cel", "--check", 'device.drivr == "a"', "-o", "json")
    assert ran.code == 2
    error = {"message": "undefined field 'drivr'", "line": 1, "column": 7, "suggestion": "driver"}
    assert json.loads(ran.out) == {"accepted": False, "error": error}


def test_check_tells_the_gate_that_new_objects_need() -> None:
    ran = run("cel", "--check", f'{CAT}.ports.includes("a")')
    assert (ran.code, ran.out.splitlines()[-1]) == (0, "in new objects: only with feature gate DRAListTypeAttributes")


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


@pytest.mark.parametrize(
    ("name", "meant"),
    [("naps", f'device.capacity["{DRIVER}"].naps'), ("colr", f'device.attributes["{DRIVER}"].color'), ("nosuch", "")],
)
def test_a_name_that_a_device_lacks_is_told_with_the_one_that_it_has(name: str, meant: str) -> None:
    ran = run("cel", f'device.attributes["{DRIVER}"].{name} == 1', "-f", CLUSTER, "-o", "json")
    reason = json.loads(ran.out)[0]["reason"]
    assert reason == f"no such key: {name}" + (f", did you mean {meant}?" if meant else "")
