"""Case files that nobody has seen: forms that the format leaves open, and what is wrong with a file or a case."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dra_bench.main import main
from support.allocator_case import allocator_case
from support.cli import Ran, run_main

A = 'device.attributes["d"].'


def written(folder: Path, text: str | bytes, name: str = "cases.json") -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def run(folder: Path, content: Any, *options: str) -> Ran:
    return run_main(main, ("conformance", str(written(folder, json.dumps(content))), *options))


def failures(folder: Path, content: Any) -> list[str]:
    report = json.loads(run(folder, content, "--json").out)
    return [failure["difference"] for failure in report["failures"]]


def outcomes(folder: Path, content: Any) -> list[Any]:
    return [json.loads(line)["outcome"] for line in run(folder, content, "--actual").out.splitlines()]


ROW = {"expr": "true", "stored_1_37": "T"}
GOLDEN = {"devices": [{"driver": "d"}], "rows": [ROW, {"expr": "1", "stored_1_37": "C"}]}
SELECTOR = {"expression": "true", "driver": "d", "expected": {"outcome": "match"}}


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(SELECTOR),
        "\ufeff" + json.dumps([SELECTOR]),
        "\n".join(json.dumps(one) for one in (SELECTOR, GOLDEN)),
        json.dumps({"cases": [SELECTOR], "comment": "x"}, indent=1),
        json.dumps([SELECTOR, GOLDEN]),
    ],
    ids=["a single case", "a mark before it", "a document a line", "an object around it", "kinds mixed"],
)
def test_a_file_may_have_any_of_the_usual_forms(text: str, tmp_path: Path) -> None:
    ran = run_main(main, ("conformance", str(written(tmp_path, text))))
    assert ran.code == 0, ran.err
    assert " 0 failed" in ran.out


def test_the_files_of_a_folder_are_read_in_order(tmp_path: Path) -> None:
    written(tmp_path, json.dumps([{**SELECTOR, "name": "second"}]), "b.jsonl")
    written(tmp_path, json.dumps([{**SELECTOR, "name": "first"}]), "a.json")
    written(tmp_path, "not cases", "README.md")
    ran = run_main(main, ("conformance", str(tmp_path), "--actual"))
    assert [json.loads(line)["name"] for line in ran.out.splitlines()] == ["first", "second"]
    (tmp_path / "empty").mkdir()
    assert "has no file that ends in" in run_main(main, ("conformance", str(tmp_path / "empty"))).err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("[", "is not JSON"),
        ("no", "is not JSON"),
        ('{"expression": "true"}\n{"expr', "line 2 is not JSON"),
        ('[{"name": "x", "input": 1}]', "case 0 (x): expected an allocator case"),
        ("[[]]", "case 0: expected an object, got list"),
        ('{"rows": []}', "devices is missing"),
        ('{"devices": [], "rows": [{}]}', "rows[0].expr is missing"),
        ('{"devices": [{"attributes": {"x": {"int": "1"}}}], "rows": []}', "devices[0].attributes[x].int: must be"),
        ('{"devices": [{"capacity": {"m": {"value": "x"}}}], "rows": []}', "devices[0].capacity[m].value: 'x' is not"),
    ],
)
def test_what_is_no_case_file_is_said_with_case_and_key(text: str, message: str, tmp_path: Path) -> None:
    ran = run_main(main, ("conformance", str(written(tmp_path, text))))
    assert ran.code == 2
    assert f"cases.json: {message}" in ran.err


def changed(path: str, value: Any) -> dict[str, Any]:
    case = allocator_case(outcome="results", results=[])
    at: Any = case
    *parents, last = path.split(".")
    for key in parents:
        at = at[key]
    at[last] = value
    return case


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("expected", None, "expected is missing"),
        ("expected.outcome", "maybe", "expected.outcome must be results, none or error, not 'maybe'"),
        ("expected.results", [{"devices": 5}], "the expectation: "),
        ("expected.resultKinds", ["exact"], "expected.resultKinds must be a list with one entry per result"),
        ("input.slices", {}, "input.slices must be a list, not dict"),
        ("input.claimsToAllocate", [1], "input.claimsToAllocate[0] must be an object, not int"),
        ("input.features", 3, "input.features must be an object"),
        ("input.allocatedDevices", [{"driver": "d", "pool": "p"}], "input.allocatedDevices[0].device is missing"),
        ("input.allocatedSharedDeviceIDs", [{"driver": "d", "pool": "p", "device": "a"}], "[0].shareID is missing"),
    ],
)
def test_a_broken_case_fails_with_the_key_and_the_others_still_run(
    path: str, value: Any, message: str, tmp_path: Path
) -> None:
    ran = run(tmp_path, [changed(path, value), SELECTOR], "--json")
    report = json.loads(ran.out)
    assert (ran.code, report["passed"], report["failed"]) == (1, 1, 1)
    assert message in report["failures"][0]["difference"]


@pytest.mark.parametrize(
    ("case", "message"),
    [
        ({"expression": "true"}, "expected.outcome is missing"),
        ({**SELECTOR, "envType": "Old"}, "envType must be one of NewExpressions, StoredExpressions, not 'Old'"),
        ({**SELECTOR, "enableListTypeAttributes": ["x"]}, "enableListTypeAttributes must be true, false or a list"),
        ({**SELECTOR, "attributes": {"x": {"int": "1"}}}, "attributes[x].int: must be an integer"),
        ({"devices": [], "rows": [{"expr": "true"}]}, "stored_1_37 is missing"),
        ({"test": "TestPodClaims", "fields": {}}, "fields.expected is missing"),
    ],
)
def test_a_selector_or_row_that_lacks_something_says_what(case: Any, message: str, tmp_path: Path) -> None:
    (difference,) = failures(tmp_path, [case])
    assert message in difference


def test_a_defect_of_ours_fails_its_case_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> Any:
        raise ZeroDivisionError

    monkeypatch.setattr("dra_bench.conformance.allocator_case.allocate", broken)
    first, *others = failures(tmp_path, [allocator_case(outcome="none"), SELECTOR])
    assert "ZeroDivisionError" in first
    assert not others
    assert outcomes(tmp_path, [allocator_case(), SELECTOR]) == ["crash", "T"]


@pytest.mark.parametrize(
    ("features", "gates", "outcome"),
    [
        (None, None, "results"),
        ({}, None, "error"),
        ({"AdminAccess": True}, None, "results"),
        ({"PrioritizedList": True}, ["DRAAdminAccess"], "error"),
        (["AdminAccess"], None, "results"),
        (None, ["DRAAdminAccess"], "results"),
        (None, ["DRADeviceBindingConditions+DRAResourceClaimDeviceStatus"], "error"),
        (None, {"DRAAdminAccess": False}, "error"),
    ],
)
def test_features_may_be_named_in_several_ways(features: Any, gates: Any, outcome: str, tmp_path: Path) -> None:
    case = allocator_case()
    case["input"]["claimsToAllocate"][0]["spec"]["devices"]["requests"][0]["exactly"]["adminAccess"] = True
    case["input"] |= {"features": features, "featureGates": gates}
    assert outcomes(tmp_path, [case]) == [outcome]


def test_objects_of_older_versions_are_read_as_what_they_are(tmp_path: Path) -> None:
    case = allocator_case()
    (claim,), (slice_,) = case["input"]["claimsToAllocate"], case["input"]["slices"]
    claim |= {"apiVersion": "resource.k8s.io/v1beta1", "kind": "ResourceClaim"}
    claim["spec"]["devices"]["requests"] = [{"name": "r", "deviceClassName": "c"}]
    slice_ |= {"apiVersion": "resource.k8s.io/v1beta1", "kind": "ResourceSlice"}
    slice_["spec"]["devices"] = [{"name": "a", "basic": {}}]
    assert outcomes(tmp_path, [case]) == ["results"]


def test_a_case_without_a_node_is_on_the_node_of_kubernetes_tests(tmp_path: Path) -> None:
    case = allocator_case()
    case["input"]["node"] = None
    case["input"]["slices"][0]["spec"]["nodeName"] = "node-1"
    assert outcomes(tmp_path, [case]) == ["results"]


def test_an_outcome_of_decoding_the_file_wins(tmp_path: Path) -> None:
    case = allocator_case(outcome="error")
    case["actual"] = {"outcome": "error", "error": "x", "jsonRoundTripOutcome": {"outcome": "empty", "results": None}}
    assert failures(tmp_path, [case])[0].startswith("expected none, got results")


def test_the_claims_of_many_results_may_come_in_any_order(tmp_path: Path) -> None:
    case = allocator_case()
    spec, claim = case["input"]["slices"][0]["spec"], case["input"]["claimsToAllocate"][0]
    spec["devices"] = [{"name": f"a{number}"} for number in range(9)]
    case["input"]["claimsToAllocate"] = [{**claim, "metadata": {"name": f"k{number}"}} for number in range(9)]
    results = json.loads(run(tmp_path, [case], "--actual").out)["results"]
    case["expected"] = {
        "outcome": "results",
        "results": results[::-1],
        "resultKinds": ["exact", "matcher"] * 4 + ["exact"],
    }
    assert failures(tmp_path, [case]) == []
    case["expected"]["results"][0] = results[0]
    assert len(failures(tmp_path, [case])) == 1


def test_amounts_of_a_helper_are_text_that_fits_json(tmp_path: Path) -> None:
    fields = {"capacityValue": "2", "requestedVal": "9223372036854775807", "expectResult": "9223372036854775807"}
    row = {"test": "TestConsumableCapacity/calculate-consumed-capacity", "name": "large", "fields": fields}
    line = json.loads(run(tmp_path, [row], "--actual").out)
    assert (line["name"], line["results"]) == ("large", "9223372036854775807")
    assert failures(tmp_path, [row]) == []


def test_what_a_whole_device_would_take_does_not_ask_whether_a_policy_allows_it(tmp_path: Path) -> None:
    policy = {"default": "1", "validValues": ["1", "2"]}
    fields = {
        "requestedCapacity": {"requests": {"a": "5", "nosuch": "1"}},
        "consumableCapacity": {"a": {"value": "2", "requestPolicy": policy}, "b": {"value": "1Ki"}},
        "expectResult": {"a": "5", "b": "1024"},
    }
    row = {"test": "TestConsumableCapacity/get-consumed-capacity-from-request", "name": "x", "fields": fields}
    assert failures(tmp_path, [row, {**row, "fields": {**fields, "requestedCapacity": None}}]) == [
        "expected {'a': '5', 'b': '1024'}, got {'a': '1', 'b': '1024'}"
    ]


def test_letters_of_new_expressions_and_costs_until_an_error_are_compared(tmp_path: Path) -> None:
    rows = [{"expr": f"{A}x.exists(y, true)", "stored_1_37": "E", "new_1_37_no_gates": "E", "new_1_37_all_gates": "C"}]
    differences = failures(tmp_path, {"devices": [{"driver": "d"}], "rows": rows})
    assert len(differences) == 1
    assert "in new_1_37_no_gates, got C" in differences[0]
    assert "in new_1_37_all_gates, got E" in differences[0]
    case = {"expression": f"{A}x == 1", "driver": "d", "expected": {"outcome": "matchError"}}
    case |= {"actual": [{"enableListTypeAttributes": True, "actualCost": 7}]}
    assert failures(tmp_path, [case])[0].startswith("expected a cost of 7, got 5")


def test_a_device_with_a_value_of_a_kind_that_is_not_known_fails_every_expression(tmp_path: Path) -> None:
    golden = {
        "devices": [{"driver": "d", "attributes": {"x": {"float": 1}}}, {"driver": "d"}],
        "rows": [{"expr": "true"}],
    }
    assert outcomes(tmp_path, golden) == ["ET"]
    assert outcomes(tmp_path, [{"expression": "true", "attributes": {"x": {}}}]) == ["E"]


def test_derived_attributes_have_a_letter_too_and_their_value_in_the_results(tmp_path: Path) -> None:
    derived = {"derivedAttribute": True, "driver": "d", "attributes": {"x": {"ints": [1, 2]}}}
    cases = [{**derived, "expression": f"{A}x"}, {**derived, "expression": f"{A}y"}, {**derived, "expression": "1.5"}]
    lines = [json.loads(line) for line in run(tmp_path, cases, "--actual").out.splitlines()]
    assert [line["outcome"] for line in lines] == ["T", "E", "C"]
    assert lines[0]["results"][0]["value"] == {"ints": [1, 2]}
    compiles = {**derived, "expression": f"{A}y", "expected": {"outcome": "compiles"}}
    right = {**cases[0], "expected": {"outcome": "attribute", "attribute": {"ints": [1, 2]}}}
    wrong = {**cases[0], "expected": {"outcome": "attribute", "attribute": {"ints": [2, 1]}}}
    assert len(failures(tmp_path, [compiles, right, wrong])) == 1


def test_a_case_with_the_name_of_a_corrected_one_is_held_to_its_own_expectation(tmp_path: Path) -> None:
    case = {**allocator_case(outcome="results"), "name": "with-constraint-not-matching-int-attribute-all-devices"}
    case["expected"]["results"] = json.loads(run(tmp_path, [case], "--actual").out)["results"]
    report = json.loads(run(tmp_path, [case], "--json").out)
    assert (report["passed"], report["corrected"]) == (1, {})


def test_a_defect_of_kubernetes_is_known_by_what_only_it_gives(tmp_path: Path) -> None:
    constraint = allocator_case(outcome="error", errorSubstrings=["because a claim constraint would not be satisfied"])
    selector = allocator_case(outcome="error", errorSubstring="failed to perform node selection for device a: x")
    older = allocator_case(outcome="results", results=[{"devices": {"results": [{"driver": "d", "pool": "p"}]}}])
    newer = json.loads(json.dumps(older["input"]["slices"][0]))
    newer["metadata"]["name"], newer["spec"]["pool"]["generation"] = "new", 2
    newer["spec"]["nodeName"] = "another"
    older["input"]["slices"].append(newer)
    fields = {"fractionalCapacityRange": True, "validRange": {"min": "0", "step": "2"}, "expectUseMilli": True}
    integers = {"test": "TestConsumableCapacity/use-milli", "name": "mine", "fields": fields}
    cases = [{**constraint, "name": "1"}, {**selector, "name": "2"}, {**older, "name": "3"}, integers]
    report = json.loads(run(tmp_path, cases, "--json").out)
    assert report["failures"] == []
    assert [reason.split(":")[0].split(";")[0] for reason in report["corrected"].values()] == [
        "mode All under a constraint",
        "a device's node selector that cannot be used takes out the device, not the attempt",
        "the newest generation of the pool serves another node only",
        "a range of integers is counted in whole units also while fractional ranges are on",
    ]


def test_consumption_of_admin_access_and_overflows_of_thousandths_are_known(tmp_path: Path) -> None:
    overflow = allocator_case(outcome="error", errorSubstring="capacity request cannot be represented in the range")
    overflow["input"]["features"] = {"ConsumableCapacity": True, "FractionalCapacityRange": True}
    admin = allocator_case()
    admin["input"]["claimsToAllocate"][0]["spec"]["devices"]["requests"][0]["exactly"]["adminAccess"] = True
    results = json.loads(run(tmp_path, [admin], "--actual").out)["results"]
    results[0]["devices"]["results"][0]["consumedCapacity"] = {"m": "1"}
    admin["expected"] = {"outcome": "results", "results": results}
    report = json.loads(run(tmp_path, [overflow, {**admin, "name": "admin"}], "--json").out)
    assert (report["failures"], len(report["corrected"])) == ([], 2)
    overflow["input"]["features"]["FractionalCapacityRange"] = False
    assert len(failures(tmp_path, [overflow])) == 1


def test_what_is_no_defect_of_kubernetes_stays_a_failure(tmp_path: Path) -> None:
    wrong = allocator_case(outcome="results", results=[{"devices": {"results": [{"driver": "d", "pool": "q"}]}}])
    fields = {"fractionalCapacityRange": True, "validRange": {"min": "0", "step": "500m"}, "expectUseMilli": False}
    fraction = {"test": "TestConsumableCapacity/use-milli", "name": "mine", "fields": fields}
    assert len(failures(tmp_path, [wrong, fraction, allocator_case(outcome="error", errorSubstrings=["x"])])) == 3


def test_statuses_are_equal_only_if_neither_has_more(tmp_path: Path) -> None:
    less, more = [{"name": "b"}], [{"name": "b", "resourceClaimName": "x"}]
    rows = [
        {"test": "TestPodStatusEqual", "name": str(one), "fields": {"sliceA": a, "sliceB": b, "expectEqual": equal}}
        for one, (a, b, equal) in enumerate([(less, more, False), (more, less, False), (more, more, True)])
    ]
    assert failures(tmp_path, rows) == []


def test_a_claim_of_an_unknown_kind_has_no_name_whatever_the_status_says(tmp_path: Path) -> None:
    status = {"resourceClaimStatuses": [{"name": "c", "resourceClaimName": "x"}]}
    entry = {"name": "c"}
    group = {"metadata": {"name": "g", "namespace": "n"}, "spec": {}, "status": status}
    pod = {"metadata": {"name": "p"}, "spec": {"resourceClaims": [entry]}, "status": status}
    rows = [
        ("TestPodClaims", {"pod": pod, "expected": []}),
        ("TestNameFromPodGroup", {"podGroup": group, "podGroupClaim": entry, "expectedName": None}),
    ]
    assert failures(tmp_path, [{"test": test, "name": "x", "fields": fields} for test, fields in rows]) == []


def test_a_row_whose_question_cannot_come_up_is_known_by_its_content(tmp_path: Path) -> None:
    def named(name: str, namespace: str = "n") -> dict[str, Any]:
        return {"metadata": {"name": name, "namespace": namespace}, "spec": {"schedulingGroup": {"podGroupName": "g"}}}

    rows = [
        ("TestResourceClaimIsFor/Pod", {"pod": named("p"), "claim": named("c", "other")}, "namespace of its pod"),
        ("TestBindTo", {"pod": named("p"), "podGroup": named("h")}, "is looked up by the name"),
        ("TestPodClaims", {"pod": None}, "there is always a pod"),
        ("TestResourceClaimIsFor/Pod", {"pod": 1, "claim": named("c")}, "fields cannot be read"),
    ]
    cases = [{"test": test, "name": "mine", "fields": fields} for test, fields, _ in rows]
    lines = [json.loads(line) for line in run(tmp_path, cases, "--actual").out.splitlines()]
    assert [line["outcome"] for line in lines] == ["left out"] * 3 + ["cannot be read"]
    assert all(reason in line["error"] for line, (_, _, reason) in zip(lines, rows, strict=True))


def test_an_empty_list_of_settings_is_none(tmp_path: Path) -> None:
    cases = [{**SELECTOR, "enableListTypeAttributes": given} for given in ([], None, False, [True, False])]
    assert failures(tmp_path, cases) == []
