"""The API server's rules for classes and taint rules."""

from __future__ import annotations

from typing import Any

import pytest

from dra_api.validation import validate_object, validate_status_update, validate_update, with_defaults
from support import dra_objects

Obj = dict[str, Any]


def errors(obj: Obj) -> list[str]:
    return [str(error) for error in validate_object(obj)]


def class_(**spec: Any) -> Obj:
    return dra_objects.obj("DeviceClass", spec, resourceVersion="1")


def rule(**spec: Any) -> Obj:
    return dra_objects.obj("DeviceTaintRule", spec, resourceVersion="1")


@pytest.mark.parametrize(
    ("name", "fine"),
    [
        ("example.com/gpu", True),
        ("gpu", False),
        ("kubernetes.io/gpu", False),
        ("requests.example.com/gpu", False),
        ("a/b/c", False),
    ],
)
def test_a_class_may_name_an_extended_resource(name: str, fine: bool) -> None:
    expected = f'spec.extendedResourceName: Invalid value: "{name}": must be a valid extended resource name'
    assert errors(class_(extendedResourceName=name)) == ([] if fine else [expected])


def test_a_class_is_not_in_a_namespace_and_its_lists_are_limited() -> None:
    obj = class_(selectors=[{}], config=[{"opaque": {"driver": "d"}}])
    obj["metadata"]["namespace"] = "default"
    assert errors(obj) == [
        "metadata.namespace: Forbidden: not allowed on this type",
        "spec.selectors[0].cel: Required value",
        "spec.config[0].opaque.parameters: Required value",
    ]


def test_the_stored_configuration_of_a_class_may_be_longer_than_a_new_one() -> None:
    long = class_(config=[{"opaque": {"driver": "d", "parameters": {"x": "x" * 10240}}}])
    assert validate_update(long, long) == []
    assert [error.type for error in validate_update(long, class_())] == ["FieldValueTooLong"]


def test_a_taint_rule_is_checked_and_gets_its_time() -> None:
    assert errors(rule(taint={"key": "k", "effect": "NoExecute"})) == []
    found = errors(rule(deviceSelector={"driver": "-", "pool": "", "device": "A"}, taint={"key": "k", "effect": "x"}))
    assert [text.split(": ")[0] for text in found] == [
        "spec.deviceSelector.driver",
        "spec.deviceSelector.pool",
        "spec.deviceSelector.device",
        "spec.taint.effect",
    ]
    filled = with_defaults(rule(taint={"key": "k", "effect": "NoExecute"}), "2026-01-01T00:00:00Z")
    assert filled["spec"]["taint"]["timeAdded"] == "2026-01-01T00:00:00Z"
    assert with_defaults(filled, "later") == filled


def test_the_status_of_a_taint_rule_has_conditions() -> None:
    new = rule(taint={"key": "k", "effect": "NoExecute"}) | {"status": {"conditions": [{"type": "A"}] * 9}}
    fields = [error.field for error in validate_status_update(new, rule())]
    assert fields[0] == "status.conditions"
    assert "status.conditions[1]" in fields
