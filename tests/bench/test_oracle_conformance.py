"""The oracle says what the recorded cases say: else comparing with it would prove nothing."""

from __future__ import annotations

from typing import Any

import pytest

from dra_bench.conformance.compare import difference_of_results
from dra_bench.oracle.process import Oracle
from support.oracle import conformance_cases, oracle

__all__ = ["oracle"]

ALL_GATES = {"EnableConsumableCapacity": True, "EnableListTypeAttributes": True}


@pytest.mark.parametrize("allocator", ["experimental", "incubating"])
def test_the_allocators_reproduce_every_recorded_outcome_that_they_support(oracle: Oracle, allocator: str) -> None:
    cases = conformance_cases("allocator-cases.json")
    unsupported = 0
    for case in cases:
        answer = oracle.ask({"kind": "allocate", "allocator": allocator, **case["input"]})
        if answer["outcome"] == "unsupported":
            unsupported += 1
            continue
        recorded = case["actual"].get("jsonRoundTripOutcome") or case["actual"]
        outcome = {"empty": "none", "nil": "none"}.get(recorded["outcome"], recorded["outcome"])
        assert answer["outcome"] == outcome, case["name"]
        assert answer.get("error") == recorded.get("error"), case["name"]
        assert answer.get("errorIsNodeLocal", False) == recorded.get("errorIsNodeLocal", False), case["name"]
        differences = difference_of_results(recorded.get("results") or [], None, answer["results"] or [])
        assert not differences, case["name"]
    assert len(cases) >= 279
    assert unsupported == {"experimental": 0, "incubating": 45}[allocator]


@pytest.mark.parametrize(
    ("column", "environment", "gates"),
    [
        ("stored_1_37", "StoredExpressions", ALL_GATES),
        ("new_1_37_all_gates", "NewExpressions", ALL_GATES),
        ("new_1_37_no_gates", "NewExpressions", {}),
    ],
)
def test_every_golden_row_is_reproduced(oracle: Oracle, column: str, environment: str, gates: dict[str, bool]) -> None:
    golden = conformance_cases("cel-golden.json")
    rows = [row for row in golden["rows"] if column in row]
    for row in rows:
        question = {"kind": "cel", "expression": row["expr"], "devices": golden["devices"]}
        answer = oracle.ask({**question, "envType": environment, "gates": gates})
        assert answer["letters"] == row[column], row["expr"]
        if column == "stored_1_37" and "max_cost" in row:
            assert answer["maxCost"] == row["max_cost"], row["expr"]
    assert len(rows) >= {"stored_1_37": 380}.get(column, 277)


def test_every_selector_and_derived_attribute_case_is_reproduced_with_texts_and_costs(oracle: Oracle) -> None:
    cases = conformance_cases("cel-cases.json")
    for case in cases:
        device = {key: case[key] for key in ("driver", "allowMultipleAllocations", "attributes", "capacity")}
        for recorded in case["actual"]:
            gates = {
                "EnableConsumableCapacity": case["enableConsumableCapacity"],
                "EnableListTypeAttributes": recorded["enableListTypeAttributes"],
            }
            question = {"kind": "derived" if case["derivedAttribute"] else "cel", "expression": case["expression"]}
            answer = oracle.ask({**question, "envType": case["envType"], "gates": gates, "devices": [device]})
            check_selector(case["name"], recorded, answer)
    assert len(cases) >= 292


def check_selector(name: str, recorded: dict[str, Any], answer: dict[str, Any]) -> None:
    if recorded["compileError"] is not None:
        assert answer["letters"] == "C", name
    elif recorded["matchError"] is not None:
        assert (answer["letters"], answer["errors"]) == ("E", [recorded["matchError"]]), name
    elif recorded.get("attribute") is not None:
        assert answer["attributes"] == [recorded["attribute"]], name
    elif recorded["match"] is not None:
        assert answer["letters"] == ("T" if recorded["match"] else "F"), name
        assert answer["actualCosts"] == [recorded["actualCost"]], name
        assert answer["maxCost"] == recorded["maxCost"], name
    else:
        assert answer["letters"] != "C", name
