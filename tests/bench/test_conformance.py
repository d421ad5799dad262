"""Kubernetes' own cases, all of them, and how the runner judges cases that nobody has seen."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from dra_bench.conformance.case_file import read_cases
from dra_bench.conformance.helper_case import HelperCase
from dra_bench.conformance.runner import Report, run_cases
from dra_bench.main import main
from support.allocator_case import allocator_case
from support.cli import Ran, run_main

FOLDER = os.environ.get("DRA_CONFORMANCE", "")
COUNTS = {
    "allocator-cases.json": 279,
    "cel-cases.json": 292,
    "cel-golden.json": 380,
    "consumable-capacity-cases.json": 35,
    "compatibility-groups-cases.json": 16,
    "resourceclaim-cases.json": 76,
}


@pytest.mark.skipif(not FOLDER, reason="DRA_CONFORMANCE does not name the folder with the conformance data")
@pytest.mark.parametrize("name", COUNTS)
def test_every_case_of_kubernetes_comes_out_as_expected(name: str) -> None:
    report = run_cases(read_cases(Path(FOLDER) / name))
    assert report.failures == []
    assert report.passed + len(report.left_out) == COUNTS[name]
    assert len(report.left_out) == (14 if name == "resourceclaim-cases.json" else 0)


def bench(folder: Path, content: Any, *options: str) -> Ran:
    (folder / "cases.json").write_text(json.dumps(content))
    return run_main(main, ("conformance", str(folder / "cases.json"), *options))


def test_a_case_that_comes_out_otherwise_is_reported_with_its_difference(tmp_path: Path) -> None:
    ran = bench(tmp_path, [allocator_case(outcome="none")], "--json")
    report = json.loads(ran.out)
    assert ran.code == 1
    assert (report["passed"], report["failed"]) == (0, 1)
    assert report["failures"][0]["name"] == "mine"
    assert report["failures"][0]["difference"].startswith("expected none, got results")


def test_results_are_compared_and_unknown_keys_ignored(tmp_path: Path) -> None:
    device = {"request": "r", "driver": "d", "pool": "p", "device": "a"}
    selector = {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n"]}]}]}
    right = {"devices": {"results": [device]}, "nodeSelector": selector}
    assert bench(tmp_path, [allocator_case(outcome="results", results=[right], resultKinds=["exact"])]).code == 0
    wrong = {**right, "devices": {"results": [{**device, "device": "b"}]}}
    assert bench(tmp_path, [allocator_case(outcome="results", results=[wrong], resultKinds=["matcher"])]).code == 1


def test_actual_prints_a_line_per_case_and_needs_no_expectation(tmp_path: Path) -> None:
    case = allocator_case()
    del case["expected"]
    ran = bench(tmp_path, [case, {"expression": "device.driver == 'd'", "driver": "d"}], "--actual")
    allocated, selected = (json.loads(line) for line in ran.out.splitlines())
    assert ran.code == 0
    assert (allocated["name"], allocated["outcome"], allocated["error"]) == ("mine", "results", None)
    assert allocated["results"][0]["devices"]["results"][0]["device"] == "a"
    assert (selected["name"], selected["outcome"]) == ("device.driver == 'd'", "T")
    assert allocated["ms"] >= 0


def test_golden_rows_report_one_letter_a_device(tmp_path: Path) -> None:
    devices = [{"driver": "d", "attributes": {"x": {"int": 1}}}, {"driver": "d"}]
    rows = [{"expr": 'device.attributes["d"].x == 1', "stored_1_37": "TF"}]
    ran = bench(tmp_path, {"devices": devices, "rows": rows}, "--json")
    assert json.loads(ran.out)["failures"][0]["difference"].startswith("expected TF, got TE")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"x": 1}, "case 0: expected an allocator case"),
        ([1], "case 0: expected an object, got int"),
        ([{"name": "x"}], "case 0 (x): expected an allocator case"),
    ],
)
def test_a_file_that_holds_no_cases_is_an_error(content: Any, message: str, tmp_path: Path) -> None:
    ran = bench(tmp_path, content)
    assert ran.code == 2
    assert message in ran.err


def test_a_helper_without_a_counterpart_is_left_out_not_passed(tmp_path: Path) -> None:
    ran = bench(tmp_path, [{"test": "TestNothing", "name": "x", "fields": {}}])
    assert ran.out.endswith("0 passed, 0 failed, 1 left out\n")


def test_the_report_can_be_kept_in_a_file_with_its_commit(tmp_path: Path) -> None:
    results = tmp_path / "results" / "conformance.json"
    bench(tmp_path, [allocator_case(outcome="none")], "--results", str(results))
    kept = json.loads(results.read_text())
    assert kept["commit"]
    assert kept["passed"] + kept["failed"] == 1


def test_a_report_counts_its_failures() -> None:
    assert Report().failed == 0


def test_a_row_that_is_left_out_says_why() -> None:
    for case, reason in (
        ({"test": "TestBaseRequestRef", "name": "x", "fields": {}}, "drivers ask"),
        ({"test": "TestPodClaims", "name": "nil-pod", "fields": {"pod": None}}, "there is always a pod"),
        ({"test": "TestOfTomorrow", "name": "x", "fields": {}}, "does not know the test"),
    ):
        report = run_cases([HelperCase(case)])
        assert [reason in said for said in report.left_out.values()] == [True]


def test_a_row_about_claims_is_answered_by_the_scheduler() -> None:
    pod = {"metadata": {"name": "p", "namespace": "n"}, "spec": {}, "status": {}}
    error = 'pod "n/p": ResourceClaim not created yet'
    fields = {
        "pod": pod,
        "podClaim": {"name": "c", "resourceClaimTemplateName": "t"},
        "expectedName": None,
        "expectedCheck": False,
        "expectedError": {"error": error},
    }
    assert run_cases([HelperCase({"test": "TestName", "name": "x", "fields": fields})]).passed == 1
    wrong = fields | {"expectedError": {"error": "another"}}
    assert run_cases([HelperCase({"test": "TestName", "name": "x", "fields": wrong})]).failed == 1
