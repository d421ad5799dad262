"""The API server's rules that many kinds share: formats, conditions, node selectors, expressions."""

from __future__ import annotations

from typing import Any

import pytest

from dra_api.validation import validate_object, validate_status_update
from dra_api.validation.conditions import conditions
from dra_api.validation.formats import driver_name, fully_qualified_name, pool_name, qualified_name
from dra_api.validation.node_selectors import node_selector
from support import dra_objects

Obj = dict[str, Any]


def fields(found: Any) -> list[str]:
    return [f"{error.field}: {error.type.removeprefix('FieldValue')}" for error in found]


@pytest.mark.parametrize(
    ("check", "value", "expected"),
    [
        (driver_name, "Gpu.Example.com", []),
        (driver_name, "gpu_example", ["f: Invalid"]),
        (pool_name, "a/b.c", []),
        (pool_name, "a//b", ["f: Invalid"]),
        (pool_name, "a" * 254, ["f: TooLong", "f: Invalid"]),
        (qualified_name, "a/b/c", []),
        (qualified_name, "d.example.com/", ["f: Invalid"]),
        (qualified_name, "x" * 33, ["f: TooLong"]),
        (qualified_name, f"{'d' * 64}/x", ["f: TooLong"]),
        (fully_qualified_name, "a.example.com/x", []),
        (fully_qualified_name, "x", ["f: Invalid"]),
    ],
)
def test_formats_of_names(check: Any, value: str, expected: list[str]) -> None:
    found = fields(check("f", value))
    assert found[: len(expected)] == expected
    assert bool(found) is bool(expected)


CONDITION = {
    "type": "Ready",
    "status": "True",
    "reason": "Fine",
    "message": "",
    "lastTransitionTime": "2026-01-01T00:00:00Z",
    "observedGeneration": 1,
}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, []),
        ({"type": "-"}, ["c[0].type: Invalid"]),
        ({"status": "Maybe"}, ["c[0].status: NotSupported"]),
        ({"observedGeneration": -1}, ["c[0].observedGeneration: Invalid"]),
        ({"reason": "not a reason"}, ["c[0].reason: Invalid"]),
        ({"reason": "a" * 1025}, ["c[0].reason: TooLong"]),
        ({"message": "a" * 32769}, ["c[0].message: TooLong"]),
        ({"lastTransitionTime": None}, ["c[0].lastTransitionTime: Required"]),
    ],
)
def test_conditions(change: Obj, expected: list[str]) -> None:
    assert fields(conditions("c", [CONDITION | change], 8)) == expected


def test_conditions_have_different_types_and_a_limit() -> None:
    assert fields(conditions("c", [CONDITION] * 3, 2)) == ["c: TooMany", "c[1]: Duplicate", "c[2]: Duplicate"]


@pytest.mark.parametrize(
    ("part", "requirement", "expected"),
    [
        ("matchExpressions", {"key": "a", "operator": "In", "values": ["b"]}, []),
        ("matchExpressions", {"key": "a", "operator": "NotIn"}, ["values: Required"]),
        ("matchExpressions", {"key": "a", "operator": "Exists", "values": ["b"]}, ["values: Forbidden"]),
        ("matchExpressions", {"key": "a", "operator": "Gt", "values": ["1", "2"]}, ["values: Required"]),
        ("matchExpressions", {"key": "a", "operator": "Lt", "values": ["1"]}, []),
        ("matchExpressions", {"key": "", "operator": "Near"}, ["operator: Invalid", "key: Invalid", "key: Invalid"]),
        ("matchExpressions", {"key": "a", "operator": "In", "values": ["-"]}, ["values[0]: Invalid"]),
        ("matchFields", {"key": "metadata.name", "operator": "In", "values": ["a", "b"]}, ["values: Required"]),
        ("matchFields", {"key": "metadata.name", "operator": "NotIn", "values": ["A"]}, ["values[0]: Invalid"]),
        ("matchFields", {"key": "spec.x", "operator": "Exists"}, ["operator: Invalid", "key: Invalid"]),
    ],
)
def test_node_selectors(part: str, requirement: Obj, expected: list[str]) -> None:
    found = fields(node_selector("s", {"nodeSelectorTerms": [{part: [requirement]}]}))
    assert found == [f"s.nodeSelectorTerms[0].{part}[0].{text}" for text in expected]


NESTED = "device.attributes.exists(a, device.attributes.exists(b, device.attributes.exists(c, {} && a == b)))"
COSTLY = NESTED.format("b == c")  # more than half of what is allowed
TOO_COSTLY = NESTED.format("device.attributes.exists(d, c == d)")


def claim(**exactly: Any) -> Obj:
    request = {"deviceClassName": "gpu", "allocationMode": "All"} | exactly
    constraints = [{"matchAttribute": f"a.example.com/x{i}"} for i in range(3)]
    spec = {"devices": {"requests": [{"name": "r", "exactly": request}], "constraints": constraints}}
    return dra_objects.obj("ResourceClaim", spec, namespace="default")


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("device.driver == 'x'", ""),
        ("", "Invalid value: "),
        ("device.drivers == 'x'", "Invalid value: \"device.drivers == 'x'\": compilation failed: line 1, column"),
        ("'x'", "Invalid value: \"'x'\": compilation failed: "),
        (TOO_COSTLY, "Forbidden: too complex, exceeds cost limit"),
    ],
)
def test_selectors_are_compiled_as_new_expressions(expression: str, message: str) -> None:
    found = validate_object(claim(selectors=[{"cel": {"expression": expression}}]))
    assert [error.field for error in found] == (
        ["spec.devices.requests[0].exactly.selectors[0].cel.expression"] if message else []
    )
    assert all(error.message.startswith(message) for error in found)


def derived(*expressions: str) -> Obj:
    return claim(
        derivedAttributes=[
            {"name": f"a.example.com/x{i}", "expression": expression} for i, expression in enumerate(expressions)
        ]
    )


def test_expressions_of_derived_attributes_have_a_limit_together() -> None:
    assert validate_object(derived("device.driver", "1")) == []
    wrong = validate_object(derived("1.5"))
    assert fields(wrong) == ["spec.devices.requests[0].exactly.derivedAttributes[0].expression: Invalid"]
    assert validate_object(derived(COSTLY)) == []
    assert [str(error) for error in validate_object(derived(COSTLY, COSTLY))] == [
        "spec.devices: Forbidden: too complex, total cost of derived attribute CEL expressions in the claim exceeds "
        "cost limit"
    ]


def test_too_many_derived_attributes_are_counted_and_still_looked_into() -> None:
    obj = claim(derivedAttributes=[{"name": "a.example.com/x0", "expression": "1"}] * 33)
    found = fields(validate_object(obj))
    assert found[0] == "spec.devices.requests[0].exactly.derivedAttributes: TooMany"
    assert len(found) == 33


def test_wrong_types_in_a_status_are_named() -> None:
    new = dra_objects.claim() | {"status": {"reservedFor": {}}}
    assert fields(validate_status_update(new, dra_objects.claim())) == ["status.reservedFor: TypeInvalid"]
