"""Conversion between the served versions."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dra_api import decode
from dra_api.errors import DecodeError
from dra_api.versions import SERVED, from_v1, to_v1

Obj = dict[str, Any]
names = st.sampled_from(["a", "b", "z9", "gpu", "x0y1z"])
texts = st.lists(names, max_size=2)
selectors = st.lists(st.builds(lambda text: {"cel": {"expression": text}}, names), max_size=2)


def optional(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Obj]:
    return st.fixed_dictionaries({}, optional=fields)


def required(optional_: dict[str, st.SearchStrategy[Any]], **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Obj]:
    return st.fixed_dictionaries(fields, optional=optional_)


common = {
    "selectors": selectors,
    "allocationMode": st.sampled_from(["ExactCount", "All"]),
    "count": st.integers(1, 5),
    "tolerations": st.lists(st.just({"operator": "Exists"}), min_size=1, max_size=1),
}
since_1_34 = {
    "capacity": st.just({"requests": {"m": "1"}}),
    "derivedAttributes": st.just([{"name": "a/b", "expression": "1"}]),
}


def requests(newest: bool) -> st.SearchStrategy[Obj]:
    newer = since_1_34 if newest else {}
    exact = required(common | newer | {"adminAccess": st.just(True)}, deviceClassName=names)
    sub = required(common | newer, name=names, deviceClassName=names)
    return st.one_of(
        required({}, name=names, exactly=exact),
        required({}, name=names, firstAvailable=st.lists(sub, min_size=1, max_size=2)),
        required({}, name=names),  # of a kind that is not known
    )


def claim_specs(newest: bool) -> st.SearchStrategy[Obj]:
    attribute = st.sampled_from(["matchAttribute", "distinctAttribute"] if newest else ["matchAttribute"])
    constraint = st.builds(lambda key, value: {key: value}, attribute, names)
    config = st.just({"opaque": {"driver": "d", "parameters": {"x": 1}}})
    devices = optional(
        requests=st.lists(requests(newest), max_size=3),
        constraints=st.lists(constraint, max_size=2),
        config=st.lists(config, max_size=1),
    )
    return required({}, devices=devices)


def statuses(newest: bool) -> st.SearchStrategy[Obj]:
    extra: Obj = {"shareID": st.just("s"), "consumedCapacity": st.just({"m": "1"})} if newest else {}
    result = required({"adminAccess": st.booleans()} | extra, request=names, driver=names, pool=names, device=names)
    allocation = required({}, devices=required({}, results=st.lists(result, max_size=2)))
    return optional(allocation=allocation, reservedFor=st.lists(st.just({"resource": "pods"}), max_size=1))


def slice_specs(newest: bool) -> st.SearchStrategy[Obj]:
    values: Obj = {"int": st.integers(), "string": names}
    newer: Obj = {}
    capacity = required({}, value=st.sampled_from(["1", "8Gi"]))
    if newest:
        values |= {"ints": st.lists(st.integers(), min_size=1, max_size=2)}
        newer = {"bindingConditions": texts, "allowMultipleAllocations": st.booleans(), "bindsToNode": st.just(True)}
        capacity = required({"requestPolicy": st.just({"default": "1"})}, value=st.sampled_from(["1", "8Gi"]))
    attribute = st.sampled_from(sorted(values)).flatmap(lambda key: st.builds(lambda value: {key: value}, values[key]))
    device = required(
        newer
        | {
            "attributes": st.dictionaries(names, attribute, max_size=2),
            "capacity": st.dictionaries(names, capacity, max_size=2),
            "taints": st.just([{"key": "k", "effect": "NoSchedule"}]),
            "nodeName": names,
        },
        name=names,
    )
    return required(
        {"nodeName": names, "allNodes": st.just(True), "devices": st.lists(device, max_size=3)},
        driver=names,
        pool=st.just({"name": "p", "generation": 1, "resourceSliceCount": 1}),
    )


def objects(newest: bool) -> st.SearchStrategy[Obj]:
    def of(kind: str, **parts: st.SearchStrategy[Any]) -> st.SearchStrategy[Obj]:
        head = {"apiVersion": st.just("resource.k8s.io/v1"), "kind": st.just(kind), "metadata": st.just({"name": "x"})}
        return st.fixed_dictionaries(head | parts)

    class_fields: Obj = {"selectors": selectors}
    if newest:
        class_fields["extendedResourceName"] = names
    return st.one_of(
        of("ResourceClaim", spec=claim_specs(newest), status=statuses(newest)),
        of("ResourceClaimTemplate", spec=required({}, metadata=st.just({}), spec=claim_specs(newest))),
        of("ResourceSlice", spec=slice_specs(newest)),
        of("DeviceClass", spec=optional(**class_fields)),
    )


@given(objects(newest=True), st.sampled_from(["v1", "v1beta2", "v1beta1"]))
def test_down_and_up_again_is_the_same_object(obj: Obj, version: str) -> None:
    before = copy.deepcopy(obj)
    older = from_v1(obj, version)
    assert older["apiVersion"] == f"resource.k8s.io/{version}"
    again = copy.deepcopy(older)
    assert to_v1(older) == obj
    assert (obj, older) == (before, again), "the arguments must not be changed"


@given(objects(newest=False))
def test_what_v1alpha3_can_say_survives_it(obj: Obj) -> None:
    assert to_v1(from_v1(obj, "v1alpha3")) == obj


def claim(version: str, request: Obj, **spec: Any) -> Obj:
    return {
        "apiVersion": f"resource.k8s.io/{version}",
        "kind": "ResourceClaim",
        "metadata": {"namespace": "default", "name": "gpu"},
        "spec": {"devices": {"requests": [request]}} | spec,
    }


def slice_(version: str, device: Obj, **spec: Any) -> Obj:
    return {
        "apiVersion": f"resource.k8s.io/{version}",
        "kind": "ResourceSlice",
        "metadata": {"name": "s"},
        "spec": {"driver": "d", "pool": {"name": "p"}, "devices": [device]} | spec,
    }


def test_a_flat_request_goes_under_exactly() -> None:
    flat = {"name": "r", "deviceClassName": "c", "count": 2, "adminAccess": False}
    assert to_v1(claim("v1beta1", flat))["spec"]["devices"]["requests"] == [
        {"name": "r", "exactly": {"deviceClassName": "c", "count": 2, "adminAccess": False}}
    ]
    assert to_v1(claim("v1alpha3", flat))["spec"]["devices"]["requests"] == [
        {"name": "r", "exactly": {"deviceClassName": "c", "count": 2}}
    ]


def test_a_device_comes_out_of_basic_and_plain_capacities_get_a_value() -> None:
    basic = {"attributes": {"x": {"int": 1}}, "capacity": {"m": "8Gi"}}
    converted = to_v1(slice_("v1alpha3", {"name": "a", "basic": basic}, nodeName="", allNodes=False))
    assert converted["spec"]["devices"] == [
        {"name": "a", "attributes": {"x": {"int": 1}}, "capacity": {"m": {"value": "8Gi"}}}
    ]
    assert "nodeName" not in converted["spec"]
    assert "allNodes" not in converted["spec"]


@pytest.mark.parametrize("version", ["v1beta1", "v1alpha3"])
def test_a_device_without_basic_is_of_an_unknown_kind_and_never_picked(version: str) -> None:
    converted = to_v1(slice_(version, {"name": "a", "composite": {}}))
    device = decode.resource_slice(converted).devices[0]
    assert device.unsupported == "unknown kind of device: instead of basic it has composite"
    assert to_v1(from_v1(converted, "v1beta1"))["spec"]["devices"][0]["unsupported"]


def test_a_request_of_an_unknown_kind_stays_unknown() -> None:
    converted = to_v1(claim("v1beta1", {"name": "r", "atLeast": {}}))
    assert decode.resource_claim(converted).requests[0].unsupported is not None


def test_list_items_get_their_kind_and_version_from_the_caller() -> None:
    item = {"metadata": {"name": "s"}, "spec": {"devices": [{"name": "a", "basic": {}}]}}
    converted = to_v1(item, kind="ResourceSlice", version="v1beta1")
    assert (converted["kind"], converted["apiVersion"]) == ("ResourceSlice", "resource.k8s.io/v1")
    assert converted["spec"]["devices"] == [{"name": "a"}]


def test_the_classic_parts_of_kubernetes_1_31_are_kept() -> None:
    converted = to_v1(claim("v1alpha3", {"name": "r", "deviceClassName": "c"}, controller="dra.example.com"))
    assert decode.resource_claim(converted).classic_controller == "dra.example.com"
    assert from_v1(converted, "v1alpha3")["spec"]["controller"] == "dra.example.com"
    with pytest.raises(
        DecodeError, match=r"spec\.controller: is not a field of v1; it fits apiVersion resource\.k8s\.io/v1alpha3$"
    ):
        from_v1(converted, "v1")


FLAT = {"name": "r", "deviceClassName": "c"}
NESTED = {"name": "r", "exactly": {"deviceClassName": "c"}}
CLAIM = "ResourceClaim default/gpu: "
SLICE = "ResourceSlice s: "
CASES = [
    (
        claim("v1alpha3", NESTED),
        CLAIM + "spec.devices.requests[0].exactly: is not a field of v1alpha3; it fits apiVersion "
        "resource.k8s.io/v1 and v1beta2; here its fields stand directly in the request",
    ),
    (
        claim("v1beta1", NESTED),
        CLAIM + "spec.devices.requests[0].exactly: is not a field of v1beta1; it",
    ),
    (
        claim("v1", FLAT),
        CLAIM + "spec.devices.requests[0].deviceClassName: is not a field of a request in v1; here it "
        "belongs under exactly; in a request it fits apiVersion resource.k8s.io/v1beta1 and v1alpha3",
    ),
    (
        claim("v1beta2", FLAT),
        CLAIM + "spec.devices.requests[0].deviceClassName: is not a field of a req",
    ),
    (
        claim("v1beta1", FLAT | {"firstAvailable": [{"name": "a"}]}),
        CLAIM + "spec.devices.requests[0].deviceClassName: must not be set beside firstAvailable; move it",
    ),
    (
        claim("v1alpha3", FLAT | {"capacity": {"requests": {"m": "1"}}}),
        CLAIM + "spec.devices.requests[0].capacity: is not a field of v1alpha3; it fits apiVersion "
        "resource.k8s.io/v1 or resource.k8s.io/v1beta2 or resource.k8s.io/v1beta1",
    ),
    (
        slice_("v1beta1", {"name": "a", "basic": {"capacity": {"m": "8Gi"}}}),
        SLICE + "spec.devices[0].basic.capacity[m]: must be an object with value in v1beta1, not a string ('8Gi'); "
        'write m: {value: "..."}; a plain quantity fits apiVersion resource.k8s.io/v1alpha3 only',
    ),
    (
        slice_("v1", {"name": "a", "capacity": {"m": "8Gi"}}),
        SLICE + "spec.devices[0].capacity[m]: must be an obj",
    ),
    (
        slice_("v1alpha3", {"name": "a", "basic": {"capacity": {"m": {"value": "8Gi"}}}}),
        SLICE + "spec.devices[0].basic.capacity[m]: must be a quantity in v1alpha3, not an object; with value it fits",
    ),
    (slice_("v1", {"name": "a", "basic": {}}), SLICE + "spec.devices[0].basic: is not a field of v1; it fits"),
    (
        slice_("v1beta1", {"name": "a", "attributes": {}}),
        SLICE + "spec.devices[0].attributes: is not a field of a device in v1beta1; directly in the device it fits",
    ),
    (
        slice_("v1alpha3", {"name": "a", "basic": {"attributes": {"d.example.org/x": {"ints": [1]}}}}),
        SLICE
        + "spec.devices[0].basic.attributes[d.example.org/x].ints: is not a field of v1alpha3; it fits apiVersion",
    ),
    (
        claim("v1alpha1", FLAT),
        CLAIM + "apiVersion: version 'v1alpha1' of resource.k8s.io is not known here",
    ),
    (
        claim("v1alpha2", FLAT),
        CLAIM + "apiVersion: version 'v1alpha2' of resource.k8s.io is not known here",
    ),
    (
        {"apiVersion": "v1", "kind": "Pod"},
        "Pod: apiVersion: 'v1' is not a version of resource.k8s.io; use resource.k8s.io/v1",
    ),
    (
        {"apiVersion": "resource.k8s.io/v1", "kind": "Gpu"},
        "Gpu: kind: 'Gpu' has no v1 form here; it must be one of Resource",
    ),
    (
        {"apiVersion": "resource.k8s.io/v1beta1", "kind": "DeviceTaintRule", "metadata": {"name": "r"}},
        "DeviceTaintRule r: apiVersion: there is no DeviceTaintRule in v1beta1; use v1, v1beta2 or v1alpha3",
    ),
    (
        {
            "apiVersion": "resource.k8s.io/v1beta2",
            "kind": "DeviceTaintRule",
            "metadata": {"name": "r"},
            "spec": {"deviceSelector": {"deviceClassName": "c"}},
        },
        "DeviceTaintRule r: spec.deviceSelector.deviceClassName: is not a field of v1beta2; it fits apiVersion "
        "resource.k8s.io/v1alpha3",
    ),
    (
        claim("v1", {}) | {"spec": {"devices": {"requests": {}}}},
        CLAIM + "spec.devices.requests: must be a",
    ),
    (claim("v1", {}) | {"spec": []}, CLAIM + "spec: must be an object, not a list"),
]


@pytest.mark.parametrize(("obj", "message"), CASES)
def test_a_field_of_another_version_is_refused_and_the_fitting_version_named(obj: Obj, message: str) -> None:
    with pytest.raises(DecodeError) as caught:
        to_v1(obj)
    assert str(caught.value).startswith(message)


def test_a_field_that_the_target_lacks_is_never_lost_silently() -> None:
    obj = to_v1(slice_("v1", {"name": "a", "capacity": {"m": {"value": "1", "requestPolicy": {"default": "1"}}}}))
    with pytest.raises(
        DecodeError, match=r"spec\.devices\[0\]\.capacity\[m\]\.requestPolicy: is not a field of v1alpha3"
    ):
        from_v1(obj, "v1alpha3")


def test_in_files_v1alpha2_is_read_as_v1alpha3_with_a_warning() -> None:
    warnings: list[str] = []
    converted = to_v1(claim("v1alpha2", FLAT), warnings)
    assert converted["spec"]["devices"]["requests"] == [NESTED]
    assert warnings == ["v1alpha2 is read as v1alpha3; write apiVersion: resource.k8s.io/v1"]


@pytest.mark.parametrize("field", ["resourceClassName", "parametersRef", "allocationMode"])
def test_fields_of_kubernetes_1_30_are_refused(field: str) -> None:
    obj = claim("v1alpha2", FLAT, **{field: "x"})
    with pytest.raises(DecodeError, match=rf"spec\.{field}: is of Kubernetes 1\.30 and older; use devices\.requests$"):
        to_v1(obj, [])
    template = obj | {"kind": "ResourceClaimTemplate", "spec": {"spec": obj["spec"]}}
    with pytest.raises(DecodeError, match=rf"spec\.spec\.{field}: is of Kubernetes 1\.30"):
        to_v1(template, [])


def test_the_versions_are_in_the_order_of_preference() -> None:
    assert SERVED == ("v1", "v1beta2", "v1beta1", "v1alpha3")
