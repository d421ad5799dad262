"""Kubernetes 1.37.2's outcomes, costs and error texts for 380 golden rows and 292 cases of its own tests."""

from typing import Any

import numpy as np
import pytest

from dra_api.decode.values import attribute
from dra_bench.conformance.fields import device_fields
from dra_cel import CompileError, DeviceColumns, EvaluationError, compile_derived, compile_selector
from support.cel_devices import outcome
from support.conformance import NO_CONFORMANCE, load

GOLDEN: Any = load("cel-golden.json") or {"devices": [], "rows": []}
CASES: Any = load("cel-cases.json") or []
DEVICES = [device_fields(device) for device in GOLDEN["devices"]]
ENVIRONMENTS = {
    "stored_1_37": {},
    "new_1_37_all_gates": {"new_expression": True},
    "new_1_37_no_gates": {"new_expression": True, "list_attributes": False, "consumable_capacity": False},
}
RENAMED = {
    "types.Int": "int",
    "types.Bool": "bool",
    "types.String": "string",
    "cel.Semver": "kubernetes.Semver",
    "structpb.NullValue": "null_type",
    "int64": "int",
}
"""Go's names of types in Kubernetes' messages, and CEL's names in ours."""

needs_data = pytest.mark.skipif(not CASES, reason=NO_CONFORMANCE)


@needs_data
def test_the_data_is_complete() -> None:
    assert len(GOLDEN["rows"]) == 380
    assert len(CASES) == 292


@needs_data
@pytest.mark.parametrize("row", GOLDEN["rows"], ids=lambda row: row["expr"])
def test_golden_rows_have_kubernetes_outcomes(row: dict[str, Any]) -> None:
    for name, options in ENVIRONMENTS.items():
        if row.get(name) is not None:
            try:
                selector = compile_selector(row["expr"], **options)
            except CompileError:
                assert row[name] == "CCCC", name
                continue
            assert "".join(outcome(selector.matches, device) for device in DEVICES) == row[name], name
            masks = selector.masks(DeviceColumns(DEVICES))
            seen = np.where(masks.match, "T", np.where(masks.error, "E", np.where(masks.unknown, "U", "F")))
            assert all(letter in (expected, "U") for letter, expected in zip(seen, row[name], strict=True)), name
            if name == "stored_1_37" and row.get("max_cost") is not None:
                assert selector.estimated_cost == row["max_cost"]


def actuals() -> list[Any]:
    """Return one parameter per case and setting."""
    return [
        pytest.param(case, actual, id=f"{index}-{case['name']}-{actual['enableListTypeAttributes']}")
        for index, case in enumerate(CASES)
        for actual in case["actual"]
    ]


@needs_data
@pytest.mark.parametrize(("case", "actual"), actuals())
def test_cases_have_kubernetes_outcomes(case: dict[str, Any], actual: dict[str, Any]) -> None:
    compile_text = compile_derived if case["derivedAttribute"] else compile_selector
    options = {
        "new_expression": case["envType"] == "NewExpressions",
        "list_attributes": actual["enableListTypeAttributes"],
        "consumable_capacity": case["enableConsumableCapacity"],
    }
    if actual["compileError"] is not None:
        with pytest.raises(CompileError) as refused:
            compile_text(case["expression"], **options)
        wanted = (case["expected"]["compileErrorSubstring"] or "").removeprefix("compilation failed")
        assert wanted in refused.value.message
        return
    compiled = compile_text(case["expression"], **options)
    assert compiled.estimated_cost == actual["maxCost"]
    if case["expected"]["outcome"] == "compiles":
        return
    expected = attribute(actual["attribute"]) if actual.get("attribute") else actual["match"]
    if expected is None:
        wanted = case["expected"]["matchErrorSubstring"]
        for go_name, name in RENAMED.items():
            wanted = wanted.replace(go_name, name)
        with pytest.raises(EvaluationError) as failed:
            compiled.evaluate(device_fields(case))
        assert wanted in failed.value.message
        return
    value, cost = compiled.evaluate(device_fields(case))
    assert value == expected
    assert type(value) is type(expected)
    assert cost == actual["actualCost"]
