"""The API server's rules for claims and templates."""

from __future__ import annotations

from typing import Any

import pytest

from dra_allocator.features import Features
from dra_api.validation import Rules, summary, validate_object, validate_update, with_defaults

Obj = dict[str, Any]


def claim(**devices: Any) -> Obj:
    requests = [{"name": "r", "exactly": {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1}}]
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"namespace": "default", "name": "c", "resourceVersion": "1"},
        "spec": {"devices": {"requests": requests} | devices},
    }


def with_request(**fields: Any) -> Obj:
    obj = claim()
    obj["spec"]["devices"]["requests"][0]["exactly"] |= fields
    return obj


def errors(obj: Obj) -> list[str]:
    return [str(error) for error in validate_object(obj)]


def test_a_claim_with_defaults_is_valid() -> None:
    assert errors(claim()) == []
    bare = claim(requests=[{"name": "r", "exactly": {"deviceClassName": "gpu", "tolerations": [{"key": "k"}]}}])
    filled = with_defaults(bare, "2026-01-01T00:00:00Z")
    assert filled["spec"]["devices"]["requests"][0]["exactly"] == {
        "deviceClassName": "gpu",
        "allocationMode": "ExactCount",
        "count": 1,
        "tolerations": [{"key": "k", "operator": "Equal"}],
    }
    assert errors(filled) == []
    assert "count" not in bare["spec"]["devices"]["requests"][0]["exactly"]


REQUEST = "spec.devices.requests[0]"
SUB = {"name": "a", "deviceClassName": "gpu", "allocationMode": "All"}
REFERENCE = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"


@pytest.mark.parametrize(
    ("obj", "expected"),
    [
        (
            claim(requests=[{"name": "r"}]),
            [f"{REQUEST}: Required value: exactly one of `exactly` or `firstAvailable` is required"],
        ),
        (
            claim(requests=[{"name": "r", "exactly": {}, "firstAvailable": [SUB]}]),
            [
                f"{REQUEST}: Invalid value: null: exactly one of `exactly` or `firstAvailable` is required, but "
                "multiple fields "
                "are set"
            ],
        ),
        (with_request(deviceClassName=""), [f"{REQUEST}.exactly.deviceClassName: Required value"]),
        (with_request(count=0), [f"{REQUEST}.exactly.count: Invalid value: 0: must be greater than zero"]),
        (
            with_request(allocationMode="All"),
            [f"{REQUEST}.exactly.count: Invalid value: 1: must not be specified when allocationMode is 'All'"],
        ),
        (
            with_request(allocationMode="Some"),
            [f'{REQUEST}.exactly.allocationMode: Unsupported value: "Some": supported values: "All", "ExactCount"'],
        ),
        (with_request(selectors=[{}]), [f"{REQUEST}.exactly.selectors[0].cel: Required value"]),
        (
            with_request(selectors=[{"cel": {"expression": "x" * 10241}}]),
            [f"{REQUEST}.exactly.selectors[0].cel.expression: Too long: may not be more than 10240 bytes"],
        ),
        (
            with_request(selectors=[{}] * 33),
            [f"{REQUEST}.exactly.selectors: Too many: 33: must have at most 32 items"],
        ),
        (
            with_request(tolerations=[{"key": "k", "operator": "Exists", "value": "v"}]),
            [f'{REQUEST}.exactly.tolerations[0].value: Invalid value: "v": must be empty for operator `Exists`'],
        ),
        (
            with_request(tolerations=[{"key": "k", "operator": "Like", "effect": "Odd"}]),
            [
                f'{REQUEST}.exactly.tolerations[0].operator: Unsupported value: "Like": supported values: '
                '"Equal", "Exists"',
                f'{REQUEST}.exactly.tolerations[0].effect: Unsupported value: "Odd": supported values: "NoExecute", '
                '"NoSchedule", "None"',
            ],
        ),
        (
            claim(requests=[{"name": "r", "firstAvailable": [SUB, SUB]}]),
            [f'{REQUEST}.firstAvailable[1]: Duplicate value: "a"'],
        ),
        (
            claim(requests=[{"name": "r", "firstAvailable": [SUB | {"name": f"s{i}"} for i in range(9)]}]),
            [f"{REQUEST}.firstAvailable: Too many: 9: must have at most 8 items"],
        ),
        (
            claim(requests=claim()["spec"]["devices"]["requests"] * 2),
            ['spec.devices.requests[1]: Duplicate value: "r"'],
        ),
        (
            claim(constraints=[{}]),
            [
                'spec.devices.constraints[0]: Required value: exactly one of "matchAttribute" or '
                '"distinctAttribute" is required'
            ],
        ),
        (
            claim(constraints=[{"matchAttribute": "model", "requests": ["x"]}]),
            [
                f'spec.devices.constraints[0].requests[0]: Invalid value: "x": {REFERENCE}',
                'spec.devices.constraints[0].matchAttribute: Invalid value: "model": a fully qualified name '
                "must be a domain "
                "and a name separated by a slash",
            ],
        ),
        (
            claim(constraints=[{"distinctAttribute": "a.example.com/x", "requests": ["r/a", "r", "r", "a/b/c"]}]),
            [
                f'spec.devices.constraints[0].requests[0]: Invalid value: "r/a": {REFERENCE}',
                f'spec.devices.constraints[0].requests[3]: Invalid value: "a/b/c": {REFERENCE}',
                'spec.devices.constraints[0].requests[2]: Duplicate value: "r"',
            ],
        ),
        (claim(config=[{"requests": ["r"]}]), ["spec.devices.config[0].opaque: Required value"]),
        (
            claim(config=[{"opaque": {"driver": "-", "parameters": [1]}}]),
            [
                'spec.devices.config[0].opaque.driver: Invalid value: "-": must be a lowercase RFC 1123 '
                "subdomain: letters a-z, "
                "digits, '-' and '.', starting and ending with a letter or digit (e.g. 'example.com')",
                'spec.devices.config[0].opaque.parameters: Invalid value: "<value omitted>": must be a valid '
                "JSON object",
            ],
        ),
        (
            claim(config=[{"opaque": {"driver": "d", "parameters": {"x": "x" * 10240}}}]),
            ["spec.devices.config[0].opaque.parameters: Too long: may not be more than 10240 bytes"],
        ),
        (
            with_request(derivedAttributes=[{"name": "a.example.com/x", "expression": ""}]),
            [
                f'{REQUEST}.exactly.derivedAttributes[0].name: Invalid value: "a.example.com/x": must be '
                "referenced by at least "
                "one matchAttribute or distinctAttribute constraint targeting this request",
                f"{REQUEST}.exactly.derivedAttributes[0].expression: Required value",
            ],
        ),
        (
            claim() | {"metadata": {"namespace": "Default", "name": "", "labels": {"-": "x"}}},
            [
                "metadata.name: Required value: name or generateName is required",
                'metadata.namespace: Invalid value: "Default": must be a lowercase RFC 1123 label: letters '
                "a-z, digits and "
                "'-', starting and ending with a letter or digit (e.g. 'my-name', '123-abc')",
                "metadata.labels: Invalid value: \"-\": name part must consist of letters, digits, '-', '_' or "
                "'.', and start "
                "and end with a letter or digit (e.g. 'MyName', 'my.name')",
            ],
        ),
        (
            with_request(count="2"),
            [f"{REQUEST}.exactly.count: Invalid value: null: must be an integer, not a string ('2')"],
        ),
    ],
)
def test_a_claim_that_breaks_a_rule_gets_the_servers_error(obj: Obj, expected: list[str]) -> None:
    assert errors(obj) == expected


def test_derived_attributes_may_be_used_by_constraints_over_all_requests_or_the_parent() -> None:
    derived = [{"name": "a.example.com/x", "expression": "1"}]
    requests = [{"name": "r", "firstAvailable": [SUB | {"derivedAttributes": derived}]}]
    for targets in ([], ["r"], ["r/a"]):
        constraint = {"matchAttribute": "a.example.com/x", "requests": targets}
        assert errors(claim(requests=requests, constraints=[constraint])) == []


def test_without_consumable_capacity_a_constraint_needs_match_attribute() -> None:
    rules = Rules(Features(consumable_capacity=False))
    assert [str(error) for error in validate_object(claim(constraints=[{}]), rules)] == [
        "spec.devices.constraints[0].matchAttribute: Required value"
    ]


def test_a_template_is_checked_like_its_claims_and_its_metadata_is_limited() -> None:
    template = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"namespace": "default", "name": "t"},
        "spec": {"metadata": {"labels": {"a": "b"}, "name": "x"}, "spec": claim(requests=[{"name": "R"}])["spec"]},
    }
    assert [error.field for error in validate_object(template)] == [
        "spec.metadata.name",
        "spec.spec.devices.requests[0].name",
        "spec.spec.devices.requests[0]",
    ]


def test_the_spec_of_a_claim_is_immutable() -> None:
    changed = with_request(count=2)
    found = validate_update(changed, claim())
    assert [(error.field, error.detail) for error in found] == [("spec", "field is immutable")]
    assert validate_update(claim(), claim()) == []


def test_the_summary_reads_like_the_servers_answer() -> None:
    found = validate_object(with_request(count=0, deviceClassName=""))
    assert summary("ResourceClaim", "resource.k8s.io", "c", found) == (
        f'ResourceClaim.resource.k8s.io "c" is invalid: [{REQUEST}.exactly.deviceClassName: Required value, '
        f"{REQUEST}.exactly.count: Invalid value: 0: must be greater than zero]"
    )
    assert summary("ResourceClaim", "resource.k8s.io", "c", found[:1] * 2).endswith(
        f"is invalid: {REQUEST}.exactly.deviceClassName: Required value"
    )
