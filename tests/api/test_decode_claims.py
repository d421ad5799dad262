"""Decoding of claims, classes, nodes and allocations, and encoding of allocations."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dra_allocator.claim import Constraint, DerivedAttribute, OpaqueConfig, Toleration
from dra_allocator.device import DeviceID
from dra_allocator.node import Node, NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from dra_allocator.outcome import AllocationResult, ConfigResult, DeviceResult
from dra_api import decode, encode
from dra_api.errors import DecodeError
from dra_cel.quantity import Quantity

Q = Quantity.parse


def claim_of(*requests: dict[str, Any], **devices: Any) -> dict[str, Any]:
    return {
        "metadata": {"namespace": "default", "name": "gpu", "uid": "u1"},
        "spec": {"devices": {"requests": list(requests)} | devices},
    }


def only_request(request: dict[str, Any]) -> Any:
    return decode.resource_claim(claim_of(request)).requests[0]


def exactly(**fields: Any) -> dict[str, Any]:
    return {"name": "r", "exactly": {"deviceClassName": "gpu.example.com"} | fields}


def test_a_request_has_the_defaults_of_the_api() -> None:
    request = only_request(exactly())
    assert (request.name, request.device_class, request.mode, request.count) == (
        "r",
        "gpu.example.com",
        "ExactCount",
        1,
    )
    assert request.unsupported is None
    assert not request.admin_access


def test_all_fields_of_a_request_are_read() -> None:
    request = only_request(
        exactly(
            selectors=[{"cel": {"expression": "true"}}],
            allocationMode="All",
            adminAccess=True,
            tolerations=[{"key": "k", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5}],
            capacity={"requests": {"memory": "8Gi"}},
            derivedAttributes=[{"name": "a.example.com/x", "expression": "1"}],
        )
    )
    assert (request.selectors, request.mode, request.admin_access) == (("true",), "All", True)
    assert request.tolerations == (Toleration("k", "Exists", "", "NoExecute", 5),)
    assert request.capacity == {"memory": Q("8Gi")}
    assert request.derived_attributes == (DerivedAttribute("a.example.com/x", "1"),)


def test_subrequests_keep_their_order() -> None:
    request = only_request(
        {
            "name": "r",
            "firstAvailable": [
                {"name": "a", "deviceClassName": "x", "count": 2},
                {"name": "b", "deviceClassName": "y"},
            ],
        }
    )
    assert [(sub.name, sub.device_class, sub.count) for sub in request.first_available] == [
        ("a", "x", 2),
        ("b", "y", 1),
    ]
    assert request.device_class == ""


@pytest.mark.parametrize(
    ("request_", "reason"),
    [
        (
            {"name": "r"},
            "neither exactly nor firstAvailable (unsupported request type?): it has no fields that are known here",
        ),
        (
            {"name": "r", "atLeast": {}},
            "neither exactly nor firstAvailable (unsupported request type?): it has atLeast",
        ),
        ({"name": "r", "exactly": {}}, "missing device class name (unsupported request type?)"),
        (
            {"name": "r", "exactly": {}, "firstAvailable": [{"name": "a", "deviceClassName": "x"}]},
            "has both exactly and firstAvailable",
        ),
        (exactly(allocationMode="Some"), "unsupported count mode Some"),
        (exactly(count=-1), "count -1 must be greater than zero"),
        (exactly(selectors=[{"regex": ""}]), "CEL expression empty (unsupported selector type?): it has regex"),
        (exactly(tolerations=[{"operator": "Like"}]), "tolerations[0]: operator 'Like' is not known here"),
        (exactly(tolerations=[{"effect": "Odd"}]), "tolerations[0]: effect 'Odd' is not known here"),
        (
            {"name": "r", "firstAvailable": [{"name": "a"}]},
            "subrequest 'a': missing device class name (unsupported request type?)",
        ),
    ],
)
def test_a_request_that_is_not_understood_is_unsupported(request_: dict[str, Any], reason: str) -> None:
    assert only_request(request_).unsupported == reason


def test_constraints_are_read_and_an_unknown_kind_is_unsupported() -> None:
    claim = decode.resource_claim(
        claim_of(
            exactly(),
            constraints=[
                {"requests": ["r"], "matchAttribute": "a/b"},
                {"distinctAttribute": "a/c"},
                {"requests": ["r"], "near": "x"},
            ],
        )
    )
    assert claim.constraints[:2] == (Constraint(("r",), "match", "a/b"), Constraint((), "distinct", "a/c"))
    assert claim.constraints[2].unsupported == "empty constraint (unsupported constraint type?): it has near"


def test_configuration_is_kept_raw_and_an_unknown_kind_refuses_the_claim() -> None:
    parameters = {"kind": "GpuConfig", "n": [1, None, {"x": 1.5}]}
    fine = {"requests": ["r"], "opaque": {"driver": "gpu.example.com", "parameters": parameters}}
    assert decode.resource_claim(claim_of(exactly(), config=[fine])).config == (
        OpaqueConfig("gpu.example.com", parameters, ("r",)),
    )
    refused = decode.resource_claim(claim_of(exactly(), config=[{"sealed": {}}]))
    assert refused.requests[0].unsupported == "not opaque (unsupported configuration type?): it has sealed"


def test_the_classic_controller_of_kubernetes_1_31_is_kept() -> None:
    claim = claim_of(exactly())
    claim["spec"]["controller"] = "dra.example.com"
    assert decode.resource_claim(claim).classic_controller == "dra.example.com"
    assert decode.resource_claim(claim_of()).classic_controller is None


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        (
            claim_of(exactly(count="2")),
            "spec.devices.requests[0].exactly.count: must be an integer, not a string ('2'); write",
        ),
        (
            claim_of({"name": "r", "firstAvailable": [{"count": 1.5}]}),
            "spec.devices.requests[0].firstAvailable[0].count: must",
        ),
        (
            claim_of(exactly(capacity={"requests": {"m": "x"}})),
            "spec.devices.requests[0].exactly.capacity.requests[m]: 'x' is",
        ),
        (
            claim_of(exactly(selectors=[{"cel": {"expression": 1}}])),
            "spec.devices.requests[0].exactly.selectors[0].cel.expr",
        ),
        (
            claim_of(constraints=[{"requests": "r"}]),
            "spec.devices.constraints[0].requests: must be a list, not a string ('r')",
        ),
        (claim_of(config=[{"opaque": {"driver": 1}}]), "spec.devices.config[0].opaque.driver: must be a string"),
        (
            {"metadata": {"namespace": "default", "name": "gpu"}, "spec": {"devices": []}},
            "spec.devices: must be an object",
        ),
    ],
)
def test_a_wrong_type_in_a_claim_names_claim_and_field(claim: dict[str, Any], message: str) -> None:
    with pytest.raises(DecodeError) as caught:
        decode.resource_claim(claim)
    assert str(caught.value).startswith(f"ResourceClaim default/gpu: {message}")


def test_a_class_of_an_unknown_kind_is_unsupported() -> None:
    spec = {"selectors": [{"cel": {"expression": "true"}}], "extendedResourceName": "example.com/gpu"}
    decoded = decode.device_class({"metadata": {"name": "c"}, "spec": spec})
    assert (decoded.selectors, decoded.extended_resource_name, decoded.unsupported) == (
        ("true",),
        "example.com/gpu",
        None,
    )
    unknown = decode.device_class({"metadata": {"name": "c"}, "spec": {"config": [{"sealed": 1}]}})
    assert unknown.unsupported == "not opaque (unsupported configuration type?): it has sealed"


def test_a_node_has_labels_and_declared_features() -> None:
    raw = {"metadata": {"name": "n", "labels": {"a": "b"}}, "status": {"declaredFeatures": ["X"]}}
    assert decode.node(raw) == Node("n", {"a": "b"}, frozenset({"X"}))
    with pytest.raises(DecodeError, match=r"^Node n: metadata\.labels\[a\]: must be a string, not a boolean \(true\)"):
        decode.node({"metadata": {"name": "n", "labels": {"a": True}}})


def test_what_is_not_an_object_is_refused() -> None:
    with pytest.raises(DecodeError, match=r"^ResourceClaim: a ResourceClaim must be an object, not a list$"):
        decode.resource_claim([])


def test_an_allocation_never_loses_a_device_in_use() -> None:
    result = {
        "devices": {
            "results": [
                {"request": "r", "driver": "d", "pool": "p", "device": "x", "tolerations": [{"effect": "Odd"}]}
            ],
            "config": [{"source": "FromClass", "sealed": {}}],
        },
        "nodeSelector": {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "Near"}]}]},
    }
    decoded = decode.allocation_result(result)
    assert [device.device for device in decoded.devices] == [DeviceID("d", "p", "x")]
    assert decoded.node_selector == NodeSelector(())


names = st.from_regex(r"[a-z]([a-z0-9]{0,6})", fullmatch=True)
tolerations = st.builds(
    Toleration,
    key=st.just("") | names,
    operator=st.sampled_from(["Exists", "Equal"]),
    value=st.just("") | names,
    effect=st.sampled_from([None, "None", "NoSchedule", "NoExecute"]),
    toleration_seconds=st.none() | st.integers(0, 10**6),
)
name_tuples = st.lists(names, max_size=3).map(tuple)
results = st.builds(
    DeviceResult,
    request=names,
    device=st.builds(DeviceID, names, names, names),
    admin_access=st.none() | st.booleans(),
    tolerations=st.lists(tolerations, max_size=2).map(tuple),
    share_id=st.none() | st.uuids().map(str),
    consumed_capacity=st.dictionaries(names, st.sampled_from(["1", "500m", "8Gi"]).map(Q), max_size=2),
    binding_conditions=name_tuples,
    binding_failure_conditions=name_tuples,
    skip_node_operations=name_tuples,
)
configs = st.builds(
    ConfigResult,
    source=st.sampled_from(["FromClass", "FromClaim"]),
    config=st.builds(OpaqueConfig, names, st.dictionaries(names, st.integers(), max_size=2), name_tuples),
)
requirements = st.builds(
    NodeSelectorRequirement, names, st.sampled_from(["In", "NotIn"]), st.lists(names, min_size=1, max_size=3).map(tuple)
)
fields = st.builds(NodeSelectorRequirement, st.just("metadata.name"), st.just("In"), names.map(lambda name: (name,)))
terms = st.builds(
    NodeSelectorTerm, st.lists(requirements, max_size=2).map(tuple), st.lists(fields, max_size=1).map(tuple)
)
allocations = st.builds(
    AllocationResult,
    devices=st.lists(results, max_size=3).map(tuple),
    config=st.lists(configs, max_size=2).map(tuple),
    node_selector=st.none() | st.builds(NodeSelector, st.lists(terms, max_size=2).map(tuple)),
)


@given(allocations)
def test_an_encoded_allocation_is_decoded_to_itself(result: AllocationResult) -> None:
    encoded = encode.allocation(result)
    assert decode.allocation_result(json.loads(json.dumps(encoded))) == result
    assert "allocationTimestamp" not in encoded


def test_an_encoded_allocation_leaves_out_what_is_empty() -> None:
    result = AllocationResult((DeviceResult("r", DeviceID("d", "p", "x")),))
    assert encode.allocation(result) == {
        "devices": {"results": [{"request": "r", "driver": "d", "pool": "p", "device": "x"}]}
    }


@pytest.mark.skipif("DRA_CONFORMANCE" not in os.environ, reason="DRA_CONFORMANCE names no folder with conformance data")
def test_every_object_of_the_conformance_cases_is_decoded() -> None:
    cases = json.loads((Path(os.environ["DRA_CONFORMANCE"]) / "allocator-cases.json").read_bytes())
    assert len(cases) >= 279
    for case in cases:
        given_ = case["input"]
        decode.node(given_["node"])
        for read, key in (
            (decode.resource_slice, "slices"),
            (decode.resource_claim, "claimsToAllocate"),
            (decode.device_class, "classes"),
        ):
            for obj in given_[key]:
                read(obj)
        for result in case["actual"]["results"] or []:
            assert encode.allocation(decode.allocation_result(result)) == result, case["name"]
