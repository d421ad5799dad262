"""The API server's rules for slices and devices."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from dra_api.validation import Rules, validate_object, validate_update, with_defaults
from support.dra_objects import counter_slice, full_slice, scoped_slice, slice_of

Obj = dict[str, Any]
RULES = Rules(partitionable_devices_type=True)


def errors(obj: Obj, rules: Rules | None = None) -> list[str]:
    return [str(error) for error in validate_object(obj, rules)]


def test_a_slice_with_everything_is_valid() -> None:
    assert errors(full_slice(), RULES) == []
    assert errors(counter_slice()) == []
    assert errors(scoped_slice()) == []


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
    assert errors(slice_of(**spec)) == expected


TYPES = "`int`, `bool`, `string`, `version`, `ints`, `bools`, `strings`, `versions`"


def test_the_number_of_devices_depends_on_what_they_use() -> None:
    plain = [{"name": f"d{i}"} for i in range(129)]
    assert errors(slice_of(*plain[:128])) == []
    assert errors(slice_of(*plain)) == ["spec.devices: Too many: 129: must have at most 128 items"]
    for advanced in (
        {"taints": [{"key": "k", "effect": "NoSchedule"}]},
        {"consumesCounters": [{"counterSet": "s", "counters": {"c": {"value": "1"}}}]},
        {"attributes": {"x": {"ints": [1]}}},
    ):
        devices = [plain[0] | advanced, *plain[1:65]]
        assert errors(slice_of(*devices[:64])) == []
        assert errors(slice_of(*devices)) == ["spec.devices: Too many: 65: must have at most 64 items"]


@pytest.mark.parametrize(
    ("device", "expected"),
    [
        ({"name": "A"}, ['.name: Invalid value: "A": must be a lowercase RFC 1123 label']),
        ({"attributes": {"x": {}}}, [f'.attributes[x]: Invalid value: "": must specify one of: {TYPES}']),
        (
            {"attributes": {"x": {"int": 1, "string": "1"}}},
            [f'.attributes[x]: Invalid value: "{{int, string}}": must specify exactly one of: {TYPES}'],
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
            [
                ".attributes[x].ints: Invalid value: []: must not be empty if specified",
                f'.attributes[x]: Invalid value: "": must specify one of: {TYPES}',
            ],
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
    found = errors(slice_of({"name": "a"} | device))
    assert len(found) == len(expected), found
    for text, start in zip(found, expected, strict=True):
        assert text.startswith(f"spec.devices[0]{start}")


def test_with_per_device_node_selection_each_device_needs_one_scope() -> None:
    found = errors(
        slice_of(
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


def test_what_identifies_a_slice_is_immutable_and_what_is_unchanged_is_not_checked_again() -> None:
    old = slice_of({"name": "a", "taints": [{"key": "-", "effect": "x"}], "capacity": {"m-": {"value": "1"}}})
    old["metadata"]["resourceVersion"] = "1"
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
    found = errors(slice_of(*devices, partitionTypeAttribute="d.example.com/t"), RULES)
    assert [text.split(": ")[0:2] for text in found] == [
        ["spec.devices[1].attributes[d.example.com/t]", "Required value"],
        ["spec.devices[2].attributes[d.example.com/t]", "Invalid value"],
    ]
    assert errors(slice_of(devices[3], partitionTypeAttribute="d.example.com/t"), RULES)[0].startswith(
        'spec.partitionTypeAttribute: Invalid value: "d.example.com/t": may only be set on a slice which '
        "declares devices"
    )
    assert errors(slice_of(devices[0], partitionTypeAttribute="t"), RULES)[0].endswith("separated by a slash")


def test_defaults_give_device_taints_their_time() -> None:
    filled = with_defaults(slice_of({"name": "a", "taints": [{"key": "k", "effect": "None"}]}, {"name": "b"}), "now")
    assert filled["spec"]["devices"][0]["taints"] == [{"key": "k", "effect": "None", "timeAdded": "now"}]
    assert filled["spec"]["devices"][1] == {"name": "b"}
