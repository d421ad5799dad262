"""The API server's rules for claims, templates and the status of claims."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dra_allocator.features import Features
from dra_api.validation import Rules, summary, validate_object, validate_status_update, validate_update, with_defaults

Obj = dict[str, Any]
UID = "0f3a5c0e-8b62-4c0a-9f5e-1a2b3c4d5e6f"


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


def test_metadata_of_a_stored_object_is_immutable_where_the_server_says_so() -> None:
    old, new = claim(), claim()
    old["metadata"] |= {"uid": "1", "deletionTimestamp": "t", "generation": 2, "finalizers": ["a/b"]}
    new["metadata"] = {"namespace": "default", "name": "d", "generation": 1, "finalizers": ["a/b", "c/d"]}
    assert [error.field for error in validate_update(new, old)] == [
        "metadata.finalizers",
        "metadata.resourceVersion",
        "metadata.generation",
        "metadata.name",
        "metadata.uid",
        "metadata.deletionTimestamp",
    ]


def test_annotations_and_owners_have_their_rules() -> None:
    obj = claim()
    obj["metadata"] |= {
        "annotations": {"a": "x" * 300_000},
        "finalizers": ["orphan", "foregroundDeletion"],
        "generateName": "C-",
        "ownerReferences": [
            {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "1", "controller": True},
            {"apiVersion": "a/b/c", "kind": "Pod", "name": "q", "controller": True},
            {"apiVersion": "v1", "kind": "Event", "name": "e", "uid": "2"},
        ],
    }
    assert [(error.field, error.type) for error in validate_object(obj)] == [
        ("metadata.generateName", "FieldValueInvalid"),
        ("metadata.annotations", "FieldValueTooLong"),
        ("metadata.ownerReferences[1].apiVersion", "FieldValueInvalid"),
        ("metadata.ownerReferences[1].uid", "FieldValueRequired"),
        ("metadata.ownerReferences", "FieldValueInvalid"),
        ("metadata.ownerReferences[2]", "FieldValueInvalid"),
        ("metadata.finalizers", "FieldValueInvalid"),
    ]


RESULT = {"request": "r", "driver": "d.example.com", "pool": "p/q", "device": "x"}
USER = {"resource": "pods", "name": "p", "uid": "u"}


def status(**fields: Any) -> Obj:
    return claim() | {"status": fields}


def allocation(*results: Obj, **fields: Any) -> Obj:
    return {"devices": {"results": list(results)} | fields}


def status_errors(new: Obj, old: Obj | None = None) -> list[str]:
    return [str(error) for error in validate_status_update(new, old or claim())]


def test_an_allocation_with_a_reservation_is_valid() -> None:
    config = [{"source": "FromClass", "requests": ["r"], "opaque": {"driver": "d", "parameters": {}}}]
    selector = {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n"]}]}]}
    new = status(allocation=allocation(RESULT, config=config) | {"nodeSelector": selector}, reservedFor=[USER])
    assert status_errors(new) == []


ALLOCATION = "status.allocation.devices"


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        (
            status(reservedFor=[USER]),
            ["status.reservedFor: Forbidden: may not be specified when `allocated` is not set"],
        ),
        (
            status(allocation=allocation(RESULT), reservedFor=[{"uid": "u"}, USER]),
            [
                "status.reservedFor[0].resource: Required value",
                "status.reservedFor[0].name: Required value",
                'status.reservedFor[1]: Duplicate value: "u"',
            ],
        ),
        (
            status(allocation=allocation(RESULT), reservedFor=[USER | {"uid": str(i)} for i in range(257)]),
            ["status.reservedFor: Too many: 257: must have at most 256 items"],
        ),
        (
            status(allocation=allocation(*[RESULT] * 33, config=[{}] * 65)),
            [
                f"{ALLOCATION}.results: Too many: 33: must have at most 32 items",
                f"{ALLOCATION}.config: Too many: 65: must have at most 64 items",
            ],
        ),
        (
            status(allocation=allocation(RESULT | {"request": "x", "driver": "", "pool": "", "device": "a.b"})),
            [
                f'{ALLOCATION}.results[0].request: Invalid value: "x": {REFERENCE}',
                f"{ALLOCATION}.results[0].driver: Required value",
                f"{ALLOCATION}.results[0].pool: Required value",
                f'{ALLOCATION}.results[0].device: Invalid value: "a.b": must not contain dots',
            ],
        ),
        (
            status(allocation=allocation(RESULT | {"shareID": "1", "bindingConditions": ["a"]})),
            [
                f"{ALLOCATION}.results[0].bindingFailureConditions: Invalid value: []: bindingFailureConditions "
                "are required to "
                "use bindingConditions",
                f'{ALLOCATION}.results[0].shareID: Invalid value: "1": must be a UUID in its normal form, '
                "`xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` in lower case",
            ],
        ),
        (
            status(allocation=allocation(RESULT | {"skipNodeOperations": ["NodePrepareResources"]})),
            [
                f'{ALLOCATION}.results[0].skipNodeOperations: Invalid value: ["NodePrepareResources"]: '
                "NodePrepareResources "
                "cannot be skipped unless NodeUnprepareResources is also skipped"
            ],
        ),
        (
            status(allocation=allocation(config=[{"source": "FromHell"}])),
            [
                f'{ALLOCATION}.config[0].source: Unsupported value: "FromHell": supported values: "FromClaim", '
                '"FromClass"',
                f"{ALLOCATION}.config[0].opaque: Required value",
            ],
        ),
        (
            status(
                allocation={"nodeSelector": {"nodeSelectorTerms": [{"matchFields": [{"key": "a", "operator": "Gt"}]}]}}
            ),
            [
                "status.allocation.nodeSelector.nodeSelectorTerms[0].matchFields[0].operator: Invalid value: "
                '"Gt": not a valid '
                "selector operator",
                'status.allocation.nodeSelector.nodeSelectorTerms[0].matchFields[0].key: Invalid value: "a": '
                "not a valid field "
                "selector key",
            ],
        ),
        (
            status(devices=[{"driver": "d.example.com", "pool": "p", "device": "x"}]),
            ['status.devices[0]: Invalid value: "d.example.com/p/x": must be an allocated device in the claim'],
        ),
        (
            status(
                allocation=allocation(RESULT | {"shareID": UID}),
                devices=[
                    {
                        "driver": "d.example.com",
                        "pool": "p/q",
                        "device": "x",
                        "shareID": UID,
                        "data": [],
                        "conditions": [{}],
                    }
                    | {
                        "networkData": {
                            "interfaceName": "x" * 257,
                            "ips": ["10.0.0.1", "10.00.0.1/8", "2001:DB8::1/64"],
                        }
                    }
                ],
            ),
            [
                "status.devices[0].conditions[0].type: Required value: is required",
                "status.devices[0].conditions[0].status: Required value",
                "status.devices[0].conditions[0].lastTransitionTime: Required value",
                "status.devices[0].conditions[0].reason: Required value",
                'status.devices[0].data: Invalid value: "<value omitted>": must be a valid JSON object',
                "status.devices[0].networkData.interfaceName: Too long: may not be more than 256 bytes",
                'status.devices[0].networkData.ips[0]: Invalid value: "10.0.0.1": must be a valid address in '
                "CIDR form, (e.g. "
                "10.9.8.7/24 or 2001:db8::1/64)",
                'status.devices[0].networkData.ips[1]: Invalid value: "10.00.0.1/8": must be a valid address '
                "in CIDR form, "
                "(e.g. 10.9.8.7/24 or 2001:db8::1/64)",
                'status.devices[0].networkData.ips[2]: Invalid value: "2001:DB8::1/64": must be in canonical form '
                '("2001:db8::1/64")',
            ],
        ),
    ],
)
def test_a_status_that_breaks_a_rule_gets_the_servers_error(new: Obj, expected: list[str]) -> None:
    assert status_errors(new) == expected


def test_an_allocation_can_be_cleared_but_not_changed() -> None:
    old = status(allocation=allocation(RESULT))
    assert status_errors(claim(), old) == []
    changed = status_errors(status(allocation=allocation(RESULT | {"device": "y"})), old)
    assert [text.split(": ")[0] for text in changed] == ["status.allocation"]
    assert changed[0].endswith(": field is immutable")


def test_a_claim_in_deletion_takes_no_new_users() -> None:
    new = status(allocation=allocation(RESULT), reservedFor=[USER, USER | {"uid": "v"}])
    new["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    old = status(allocation=allocation(RESULT), reservedFor=[USER, USER | {"uid": "v"}, USER | {"uid": "w"}])
    assert status_errors(new, old) == []
    assert status_errors(new, status(allocation=allocation(RESULT), reservedFor=[USER])) == [
        "status.reservedFor: Forbidden: new entries may not be added while `deallocationRequested` or "
        "`deletionTimestamp` are "
        "set"
    ]


def test_the_summary_reads_like_the_servers_answer() -> None:
    found = validate_object(with_request(count=0, deviceClassName=""))
    assert summary("ResourceClaim", "resource.k8s.io", "c", found) == (
        f'ResourceClaim.resource.k8s.io "c" is invalid: [{REQUEST}.exactly.deviceClassName: Required value, '
        f"{REQUEST}.exactly.count: Invalid value: 0: must be greater than zero]"
    )
    assert summary("ResourceClaim", "resource.k8s.io", "c", found[:1] * 2).endswith(
        f"is invalid: {REQUEST}.exactly.deviceClassName: Required value"
    )


FULL = with_request(
    adminAccess=True,
    tolerations=[{"key": "k", "operator": "Exists", "tolerationSeconds": 1}],
    capacity={"requests": {"m": "1"}},
)
FULL["spec"]["devices"] |= {
    "constraints": [{"requests": ["r"], "matchAttribute": "a.example.com/x"}],
    "config": [{"requests": ["r"], "opaque": {"driver": "d", "parameters": {}}}],
}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


def paths(value: Any, prefix: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [prefix, *(path for key, child in children for path in paths(child, (*prefix, key)))]


def replaced(obj: Obj, path: tuple[Any, ...], value: Any) -> Obj:
    result = copy.deepcopy(obj)
    holder: Any = result
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = value
    return result


FIXED: Callable[[tuple[Any, ...]], bool] = lambda path: path[:1] not in [("kind",), ("apiVersion",)]  # noqa: E731


@given(st.sampled_from([path for path in paths(FULL)[1:] if FIXED(path)]), JSON)
def test_whatever_stands_in_a_field_is_judged_without_an_exception(path: tuple[Any, ...], value: Any) -> None:
    validate_object(replaced(FULL, path, value))
