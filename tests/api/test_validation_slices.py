"""The API server's rules for slices, classes and taint rules."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dra_allocator.features import Features
from dra_api.validation import Rules, validate_object, validate_status_update, validate_update, with_defaults

Obj = dict[str, Any]


def slice_(*devices: Obj, **spec: Any) -> Obj:
    merged = {
        "driver": "d.example.com",
        "pool": {"name": "p", "generation": 0, "resourceSliceCount": 1},
        "nodeName": "n",
        "devices": list(devices),
    } | spec
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": "s", "resourceVersion": "1"},
        "spec": {key: value for key, value in merged.items() if value is not None},
    }


def errors(obj: Obj, rules: Rules | None = None) -> list[str]:
    return [str(error) for error in validate_object(obj, rules)]


FULL = slice_(
    {
        "name": "a",
        "attributes": {"x": {"string": "v"}, "d.example.com/y": {"version": "1.2.3-rc.1+b"}, "z": {"int": 1}},
        "capacity": {
            "m": {
                "value": "8Gi",
                "requestPolicy": {"default": "1Gi", "validRange": {"min": "1Gi", "max": "8Gi", "step": "1Gi"}},
            }
        },
        "allowMultipleAllocations": True,
        "taints": [{"key": "k", "value": "v", "effect": "NoSchedule"}],
        "consumesCounters": [{"counterSet": "s", "counters": {"c": {"value": "1"}}}],
        "bindingConditions": ["a.example.com/ready"],
        "bindingFailureConditions": ["a.example.com/failed"],
    }
)


def test_a_slice_with_everything_is_valid() -> None:
    assert errors(FULL) == []
    assert errors(slice_(sharedCounters=[{"name": "s", "counters": {"c": {"value": "1"}}}], devices=None)) == []


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"driver": ""}, ["spec.driver: Required value"]),
        ({"driver": "D" * 64}, ["spec.driver: Too long: may not be more than 63 bytes"]),
        (
            {"pool": {"name": "", "generation": -1}},
            [
                "spec.pool.name: Required value",
                "spec.pool.resourceSliceCount: Invalid value: 0: must be greater than zero",
                "spec.pool.generation: Invalid value: -1: must be greater than or equal to zero",
            ],
        ),
        (
            {"nodeName": None},
            [
                "spec: Required value: exactly one of `nodeName`, `nodeSelector`, `allNodes`, "
                "`perDeviceNodeSelection` is "
                "required"
            ],
        ),
        (
            {"allNodes": True},
            [
                'spec: Invalid value: "{`nodeName`, `allNodes`}": exactly one of `nodeName`, `nodeSelector`, '
                "`allNodes`, "
                "`perDeviceNodeSelection` is required, but multiple fields are set"
            ],
        ),
        ({"allNodes": False}, ["spec.allNodes: Invalid value: false: must be either unset or set to true"]),
        (
            {"nodeName": None, "nodeSelector": {"nodeSelectorTerms": []}},
            [
                "spec.nodeSelector.nodeSelectorTerms: Required value: must have at least one node selector term",
                "spec.nodeSelector.nodeSelectorTerms: Invalid value: []: must have exactly one node selector term",
            ],
        ),
        (
            {"sharedCounters": [{"name": "s"}, {"name": "s", "counters": {"C": {"value": "1"}}}]},
            [
                'spec: Invalid value: "": only one of `sharedCounters` or `devices` is allowed',
                "spec.sharedCounters[0].counters: Required value",
                'spec.sharedCounters[1].counters: Invalid value: "C": must be a lowercase RFC 1123 label: '
                "letters a-z, digits "
                "and '-', starting and ending with a letter or digit (e.g. 'my-name', '123-abc')",
                'spec.sharedCounters[1]: Duplicate value: "s"',
            ],
        ),
        (
            {"skipNodeOperations": ["NodePrepareResources", "x"]},
            [
                'spec.skipNodeOperations[1]: Unsupported value: "x": supported values: "*", "NodePrepareResources", '
                '"NodeUnprepareResources"',
                'spec.skipNodeOperations: Invalid value: ["NodePrepareResources","x"]: NodePrepareResources '
                "cannot be skipped "
                "unless NodeUnprepareResources is also skipped",
            ],
        ),
        (
            {"partitionTypeAttribute": "a/b"},
            ["spec.partitionTypeAttribute: Forbidden: needs feature gate DRAPartitionableDevicesType"],
        ),
    ],
)
def test_a_slice_that_breaks_a_rule_gets_the_servers_error(spec: Obj, expected: list[str]) -> None:
    assert errors(slice_(**spec)) == expected


def test_the_number_of_devices_depends_on_what_they_use() -> None:
    plain = [{"name": f"d{i}"} for i in range(129)]
    assert errors(slice_(*plain[:128])) == []
    assert errors(slice_(*plain)) == ["spec.devices: Too many: 129: must have at most 128 items"]
    for advanced in (
        {"taints": [{"key": "k", "effect": "NoSchedule"}]},
        {"consumesCounters": [{"counterSet": "s", "counters": {"c": {"value": "1"}}}]},
        {"attributes": {"x": {"ints": [1]}}},
    ):
        devices = [plain[0] | advanced, *plain[1:65]]
        assert errors(slice_(*devices[:64])) == []
        assert errors(slice_(*devices)) == ["spec.devices: Too many: 65: must have at most 64 items"]


@pytest.mark.parametrize(
    ("device", "expected"),
    [
        ({"name": "A"}, ['.name: Invalid value: "A": must be a lowercase RFC 1123 label']),
        ({"attributes": {"x": {}}}, ['.attributes[x]: Invalid value: "": exactly one value must be specified']),
        (
            {"attributes": {"x": {"int": 1, "string": "1"}}},
            ['.attributes[x]: Invalid value: {"int":1,"string":"1"}: exactly one value must be specified'],
        ),
        (
            {"attributes": {"x": {"string": "v" * 65}}},
            [".attributes[x].string: Too long: may not be more than 64 bytes"],
        ),
        (
            {"attributes": {"x": {"version": "1.2"}}},
            ['.attributes[x].version: Invalid value: "1.2": must be a string compatible with semver.org spec 2.0.0'],
        ),
        (
            {"attributes": {"x": {"ints": []}}},
            [".attributes[x].ints: Invalid value: []: must not be empty if specified"],
        ),
        (
            {"attributes": {"/x": {"int": 1}}},
            ['.attributes: Invalid value: "": the domain must not be empty'],
        ),
        (
            {"attributes": {f"x{i}": {"int": 1} for i in range(33)}},
            [": Invalid value: 33: the total number of attributes and capacities must not exceed 32"],
        ),
        (
            {"attributes": {"x": {"ints": list(range(49))}}},
            [": Invalid value: 49: the total number of attribute values must not exceed 48"],
        ),
        (
            {"capacity": {"x-y": {"value": "1"}}},
            ['.capacity: Invalid value: "x-y": must be a C identifier'],
        ),
        (
            {"capacity": {"x": {"value": "1", "requestPolicy": {}}}},
            [".capacity[x].requestPolicy: Forbidden: allowMultipleAllocations must be true"],
        ),
        (
            {"taints": [{"key": "", "effect": ""}]},
            [
                '.taints[0].key: Invalid value: ""',
                '.taints[0].key: Invalid value: ""',
                ".taints[0].effect: Required value",
            ],
        ),
        (
            {"taints": [{"key": "k", "effect": "NoSchedule"}] * 17},
            [".taints: Too many: 17: must have at most 16 items"],
        ),
        (
            {
                "consumesCounters": [
                    {"counterSet": "s", "counters": {"c": {"value": "1"}}, "compatibilityGroups": ["a", "a"]}
                ]
                * 2
            },
            [
                '.consumesCounters[0].compatibilityGroups[1]: Duplicate value: "a"',
                '.consumesCounters[1].compatibilityGroups[1]: Duplicate value: "a"',
                '.consumesCounters[1]: Duplicate value: "s"',
            ],
        ),
        ({"nodeName": "n"}, [": Invalid value: null: `nodeName`, `nodeSelector` and `allNodes` can only be set if"]),
        (
            {"bindingConditions": ["a", "a"], "bindingFailureConditions": ["a"]},
            [
                '.bindingConditions[1]: Duplicate value: "a"',
                '.bindingFailureConditions[0]: Invalid value: "a": bindingFailureConditions must not overlap with',
            ],
        ),
        (
            {
                "nodeAllocatableResources": {
                    "gpu": {},
                    "cpu": {"mapping": {"capacityKey": "m", "capacityMultiplier": "0"}},
                }
            },
            [
                '.nodeAllocatableResources[gpu]: Invalid value: "gpu": must be a node allocatable resource name',
                ".nodeAllocatableResources[gpu]: Required value: at least one of mapping or overhead must be set",
                '.nodeAllocatableResources[cpu].mapping.capacityKey: Not found: "m"',
                '.nodeAllocatableResources[cpu].mapping.capacityMultiplier: Invalid value: "0": must be positive',
            ],
        ),
    ],
)
def test_a_device_that_breaks_a_rule_gets_the_servers_error(device: Obj, expected: list[str]) -> None:
    found = errors(slice_({"name": "a"} | device))
    assert len(found) == len(expected), found
    for text, start in zip(found, expected, strict=True):
        assert text.startswith(f"spec.devices[0]{start}")


def test_with_per_device_node_selection_each_device_needs_one_scope() -> None:
    found = errors(
        slice_(
            {"name": "a"},
            {"name": "b", "nodeName": "n", "allNodes": True},
            {"name": "c", "allNodes": False},
            {"name": "d", "nodeName": ""},
            nodeName=None,
            perDeviceNodeSelection=True,
        )
    )
    assert [text.split(": ")[0] for text in found] == [
        "spec.devices[0]",
        "spec.devices[1]",
        "spec.devices[2].allNodes",
        "spec.devices[2]",
        "spec.devices[3].nodeName",
        "spec.devices[3]",
    ]


def policy_errors(policy: Obj, value: str = "10", fractional: bool = False) -> list[str]:
    device = {
        "name": "a",
        "allowMultipleAllocations": True,
        "capacity": {"m": {"value": value, "requestPolicy": policy}},
    }
    found = errors(slice_(device), Rules(Features(fractional_capacity_range=fractional)))
    return [text.removeprefix("spec.devices[0].capacity[m].requestPolicy") for text in found]


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        ({}, []),
        ({"default": "5", "validValues": ["1", "5"]}, []),
        ({"validValues": ["1"]}, [".default: Required value: required when validValues is defined"]),
        (
            {"default": "2", "validValues": ["3", "1", "1000m", "11"]},
            [
                '.validValues[1]: Invalid value: "1": values must be sorted in ascending order',
                '.validValues[3]: Invalid value: "11": option is larger than capacity value: 10',
                '.validValues[2]: Duplicate value: "1"',
                '.validValues: Invalid value: "2": default value is not valid according to the requestPolicy',
            ],
        ),
        (
            {"default": "1", "validValues": ["1"], "validRange": {"min": "1"}},
            [
                ': Forbidden: exactly one policy can be specified, cannot specify "validValues" and '
                '"validRange" at the same time'
            ],
        ),
        ({"validRange": {"min": "1"}}, [".default: Required value: required when validRange is defined"]),
        ({"default": "1", "validRange": {}}, [".validRange.min: Required value: required when validRange is defined"]),
        (
            {"default": "1", "validRange": {"min": "2", "max": "1"}},
            [
                '.validRange.default: Invalid value: "1": default is less than min: 2',
                '.validRange.max: Invalid value: "2": min is larger than max: 1',
            ],
        ),
        (
            {"default": "12", "validRange": {"min": "11", "max": "11", "step": "0"}},
            [
                '.validRange.min: Invalid value: "11": min is larger than capacity value: 10',
                '.validRange.max: Invalid value: "11": max is larger than capacity value: 10',
                '.validRange.default: Invalid value: "12": default is more than max: 11',
                '.validRange.step: Invalid value: "0": must be greater than zero',
            ],
        ),
        (
            {"default": "4", "validRange": {"min": "1", "max": "9", "step": "2"}},
            ['.validRange.step: Invalid value: "4": value is not a multiple of a given step (2) from (1)'],
        ),
        (
            {"default": "9", "validRange": {"min": "9", "step": "2"}},
            ['.validRange.step: Invalid value: "2": one step 11 is larger than capacity value: 10'],
        ),
        (
            {"default": "-1", "validRange": {"min": "-1", "step": "1"}},
            [
                '.validRange.default: Invalid value: "-1": must be greater than or equal to 0',
                '.validRange.min: Invalid value: "-1": must be greater than or equal to 0',
            ],
        ),
    ],
)
def test_a_request_policy_is_checked(policy: Obj, expected: list[str]) -> None:
    assert policy_errors(policy) == expected


def test_fractional_ranges_are_checked_in_thousandths_with_the_gate_on() -> None:
    policy = {"default": "1500m", "validRange": {"min": "500m", "step": "500m"}}
    assert policy_errors(policy, fractional=True) == []
    assert policy_errors(policy | {"default": "1600m"}, fractional=True) == [
        '.validRange.step: Invalid value: "1600m": value is not a multiple of a given step (500m) from (500m)'
    ]
    assert policy_errors(policy | {"default": "1500001u"}, fractional=True) == [
        '.validRange.default: Invalid value: "1500001u": value cannot be represented as a milli value'
    ]


def test_what_identifies_a_slice_is_immutable_and_what_is_unchanged_is_not_checked_again() -> None:
    old = slice_({"name": "a", "taints": [{"key": "-", "effect": "x"}], "capacity": {"m-": {"value": "1"}}})
    assert validate_update(old, old) == []
    new = copy.deepcopy(old)
    new["spec"] |= {"driver": "e.example.com", "nodeName": "m", "pool": {"name": "q", "resourceSliceCount": 1}}
    assert [error.field for error in validate_update(new, old)] == ["spec.pool.name", "spec.driver", "spec.nodeName"]


def test_a_partition_type_needs_the_attribute_on_every_consumer() -> None:
    consumes = {"consumesCounters": [{"counterSet": "s", "counters": {"c": {"value": "1"}}}]}
    devices = [
        {"name": "a", "attributes": {"t": {"string": "x"}}} | consumes,
        {"name": "b"} | consumes,
        {"name": "c", "attributes": {"t": {"int": 1}}} | consumes,
        {"name": "d"},
    ]
    rules = Rules(partitionable_devices_type=True)
    found = errors(slice_(*devices, partitionTypeAttribute="d.example.com/t"), rules)
    assert [text.split(": ")[0:2] for text in found] == [
        ["spec.devices[1].attributes[d.example.com/t]", "Required value"],
        ["spec.devices[2].attributes[d.example.com/t]", "Invalid value"],
    ]
    assert errors(slice_(devices[3], partitionTypeAttribute="d.example.com/t"), rules)[0].startswith(
        'spec.partitionTypeAttribute: Invalid value: "d.example.com/t": may only be set on a slice which '
        "declares devices"
    )
    assert errors(slice_(devices[0], partitionTypeAttribute="t"), rules)[0].endswith("separated by a slash")


def class_(**spec: Any) -> Obj:
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": {"name": "c", "resourceVersion": "1"},
        "spec": spec,
    }


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


def rule(**spec: Any) -> Obj:
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceTaintRule",
        "metadata": {"name": "r", "resourceVersion": "1"},
        "spec": spec,
    }


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


def test_defaults_give_device_taints_their_time() -> None:
    filled = with_defaults(slice_({"name": "a", "taints": [{"key": "k", "effect": "None"}]}, {"name": "b"}), "now")
    assert filled["spec"]["devices"][0]["taints"] == [{"key": "k", "effect": "None", "timeAdded": "now"}]
    assert filled["spec"]["devices"][1] == {"name": "b"}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


def paths(value: Any, prefix: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [prefix, *(path for key, child in children for path in paths(child, (*prefix, key)))]


@given(st.sampled_from([path for path in paths(FULL)[1:] if path[0] in ("metadata", "spec")]), JSON, st.booleans())
def test_whatever_stands_in_a_field_is_judged_without_an_exception(
    path: tuple[Any, ...], value: Any, update: bool
) -> None:
    obj = copy.deepcopy(FULL)
    holder: Any = obj
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = value
    found = validate_update(obj, FULL) if update else validate_object(obj)
    assert all(str(error) for error in found)
