"""Decoding of ResourceSlices, devices and taint rules."""

from __future__ import annotations

import contextlib
import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dra_allocator.device import CapacityPolicy, CapacityRange, DeviceTaint, NodeResource, NodeScope
from dra_allocator.node import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from dra_api import decode
from dra_api.errors import DecodeError
from dra_cel.quantity import Quantity
from dra_cel.semver import Semver

Q = Quantity.parse


def slice_of(*devices: dict[str, Any], **spec: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": "node-1-gpu", "resourceVersion": "7"},
        "spec": {
            "driver": "gpu.example.com",
            "pool": {"name": "node-1", "generation": 3, "resourceSliceCount": 2},
            "nodeName": "node-1",
            "devices": list(devices),
        }
        | spec,
    }


def only_device(device: dict[str, Any], **spec: Any) -> Any:
    return decode.resource_slice(slice_of(device, **spec)).devices[0]


def test_a_slice_keeps_pool_generation_and_scope() -> None:
    decoded = decode.resource_slice(slice_of({"name": "gpu-0"}))
    assert (decoded.name, decoded.resource_version, decoded.driver, decoded.pool) == (
        "node-1-gpu",
        "7",
        "gpu.example.com",
        "node-1",
    )
    assert (decoded.generation, decoded.slice_count) == (3, 2)
    assert decoded.scope == NodeScope(node_name="node-1")
    assert [device.name for device in decoded.devices] == ["gpu-0"]


def test_attribute_names_become_fully_qualified() -> None:
    device = only_device({"name": "a", "attributes": {"model": {"string": "x"}, "pci.example.org/root": {"int": 3}}})
    assert device.attributes == {"gpu.example.com/model": "x", "pci.example.org/root": 3}


@pytest.mark.parametrize("order", [1, -1])
def test_the_explicit_spelling_of_a_name_wins_over_the_bare_one(order: int) -> None:
    names = [("model", {"string": "bare"}), ("gpu.example.com/model", {"string": "explicit"})][::order]
    assert only_device({"name": "a", "attributes": dict(names)}).attributes == {"gpu.example.com/model": "explicit"}


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        ({"int": -5}, -5),
        ({"bool": False}, False),
        ({"string": ""}, ""),
        ({"version": "1.2.3-rc.1"}, Semver.parse("1.2.3-rc.1")),
        ({"ints": [1, 2]}, (1, 2)),
        ({"bools": [True]}, (True,)),
        ({"strings": ["a", "b"]}, ("a", "b")),
        ({"versions": ["1.0.0"]}, (Semver.parse("1.0.0"),)),
        ({"int": 1, "string": None}, 1),
    ],
)
def test_each_kind_of_attribute_value_is_read(raw: dict[str, Any], value: object) -> None:
    got = only_device({"name": "a", "attributes": {"x": raw}}).attributes["gpu.example.com/x"]
    assert got == value
    assert type(got) is type(value)


@pytest.mark.parametrize(("raw", "reason"), [({}, "it is empty"), ({"float": 1.5}, "float")])
def test_an_attribute_of_an_unknown_kind_makes_selectors_fail_on_its_device(raw: dict[str, Any], reason: str) -> None:
    device = only_device({"name": "a", "attributes": {"x": raw, "y": {"int": 1}}})
    assert device.unreadable == f"attribute x: unsupported attribute value ({reason})"
    assert device.attributes == {"gpu.example.com/y": 1}
    assert device.unsupported is None


def test_an_attribute_that_another_spelling_hides_still_has_to_be_readable() -> None:
    device = only_device({"name": "a", "attributes": {"gpu.example.com/x": {"int": 1}, "x": {"duration": "1s"}}})
    assert device.unreadable == "attribute x: unsupported attribute value (duration)"
    assert device.attributes == {"gpu.example.com/x": 1}


def test_a_version_that_is_none_makes_selectors_fail_on_its_device() -> None:
    device = only_device({"name": "a", "attributes": {"x": {"version": "1.2"}}})
    assert device.unreadable == "attribute x: version '1.2' is not a semantic version (semver.org 2.0.0)"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"attributes": {"x": {"int": "5"}}},
            "spec.devices[1].attributes[x].int: must be an integer, not a string ('5'); write it without quotes",
        ),
        (
            {"attributes": {"x": {"int": 2**63}}},
            "spec.devices[1].attributes[x].int: is out of range; integers have 64 bits",
        ),
        (
            {"attributes": {"x": {"int": True}}},
            "spec.devices[1].attributes[x].int: must be an integer, not a boolean (true)",
        ),
        (
            {"attributes": {"x": {"string": 5}}},
            'spec.devices[1].attributes[x].string: must be a string, not an integer (5); write it with quotes: "5"',
        ),
        (
            {"attributes": {"x": {"int": 5, "string": "5"}}},
            "spec.devices[1].attributes[x]: has 2 values (string, int); an attribute has exactly one value",
        ),
        ({"attributes": {"x": {"ints": [1, "2"]}}}, "spec.devices[1].attributes[x].ints[1]: must be an integer"),
        ({"attributes": []}, "spec.devices[1].attributes: must be an object, not a list"),
        ({"attributes": {"x": 5}}, "spec.devices[1].attributes[x]: must be an object, not an integer (5)"),
        ({"capacity": {"m": "8Gi"}}, "spec.devices[1].capacity[m]: must be an object, not a string ('8Gi')"),
        (
            {"capacity": {"m": {"value": "8Qi"}}},
            "spec.devices[1].capacity[m].value: '8Qi' is not a quantity; a quantity is",
        ),
        ({"taints": {}}, "spec.devices[1].taints: must be a list, not an object"),
        ({"taints": [5]}, "spec.devices[1].taints[0]: must be an object, not an integer (5)"),
        (
            {"bindsToNode": "yes"},
            "spec.devices[1].bindsToNode: must be a boolean, not a string ('yes'); write it without",
        ),
        ({"bindingConditions": [1]}, "spec.devices[1].bindingConditions[0]: must be a string, not an integer (1)"),
        (
            {"consumesCounters": [{"counterSet": "s", "counters": {"c": {"value": []}}}]},
            "spec.devices[1].consumesCounters[0].counters[c].value: must be a quantity, not a list",
        ),
    ],
)
def test_a_wrong_type_names_object_field_and_remedy(change: dict[str, Any], message: str) -> None:
    with pytest.raises(DecodeError) as caught:
        decode.resource_slice(slice_of({"name": "fine"}, {"name": "a"} | change))
    assert str(caught.value).startswith(f"ResourceSlice node-1-gpu: {message}")
    assert (caught.value.kind, caught.value.name) == ("ResourceSlice", "node-1-gpu")


def test_a_quantity_that_is_left_out_is_zero_as_for_the_api_server() -> None:
    counters = {"counterSet": "s", "counters": {"c": {}}}
    device = only_device({"name": "a", "capacity": {"m": {}}, "consumesCounters": [counters]})
    assert device.capacity["gpu.example.com/m"].value == Q("0")
    assert device.consumes_counters[0].counters == {"c": Q("0")}


@pytest.mark.parametrize("scope", [{"nodeName": []}, {"nodeSelector": []}, {"allNodes": "yes"}])
def test_wrong_types_are_refused_also_where_each_device_has_its_own_scope(scope: dict[str, Any]) -> None:
    with pytest.raises(DecodeError, match=rf"spec\.{next(iter(scope))}: must be"):
        decode.resource_slice(slice_of(perDeviceNodeSelection=True, **scope))
    with pytest.raises(DecodeError, match=rf"spec\.devices\[0\]\.{next(iter(scope))}: must be"):
        decode.resource_slice(slice_of({"name": "a", **scope}))


def test_capacity_has_its_policy_and_its_published_name() -> None:
    policy = {"default": "1Gi", "validRange": {"min": "1Gi", "max": "8Gi", "step": "1Gi"}}
    device = only_device(
        {
            "name": "a",
            "allowMultipleAllocations": True,
            "capacity": {"memory": {"value": "16Gi", "requestPolicy": policy}, "d.example.org/n": {"value": 4}},
        }
    )
    memory = device.capacity["gpu.example.com/memory"]
    assert memory.policy == CapacityPolicy(Q("1Gi"), (), CapacityRange(Q("1Gi"), Q("8Gi"), Q("1Gi")))
    assert (memory.value, memory.published) == (Q("16Gi"), "memory")
    assert device.capacity["d.example.org/n"].value == Q("4")
    assert device.capacity["d.example.org/n"].published == "d.example.org/n"
    assert device.allow_multiple_allocations


def test_counters_and_compatibility_groups_are_read() -> None:
    decoded = decode.resource_slice(
        slice_of(
            {
                "name": "a",
                "consumesCounters": [
                    {"counterSet": "s", "counters": {"memory": {"value": "8Gi"}}, "compatibilityGroups": ["g"]}
                ],
            },
            sharedCounters=[{"name": "s", "counters": {"memory": {"value": "40Gi"}}}],
            skipNodeOperations=["*"],
        )
    )
    (consumption,) = decoded.devices[0].consumes_counters
    assert (consumption.counter_set, consumption.counters, consumption.compatibility_groups) == (
        "s",
        {"memory": Q("8Gi")},
        ("g",),
    )
    assert decoded.shared_counters[0].counters == {"memory": Q("40Gi")}
    assert decoded.skip_node_operations == ("*",)


def test_an_unknown_taint_effect_counts_as_none() -> None:
    taints = [
        {"key": "k", "value": "v", "effect": "NoExecute", "timeAdded": "2026-01-01T00:00:00Z"},
        {"key": "n", "effect": "Odd"},
    ]
    assert only_device({"name": "a", "taints": taints}).taints == (
        DeviceTaint("k", "v", "NoExecute", "2026-01-01T00:00:00Z"),
        DeviceTaint("n", "", "None"),
    )


def test_with_per_device_node_selection_each_device_has_its_scope() -> None:
    decoded = decode.resource_slice(
        slice_of(
            {"name": "a", "nodeName": "n1"},
            {"name": "b", "allNodes": True},
            {"name": "c"},
            perDeviceNodeSelection=True,
            nodeName=None,
        )
    )
    assert decoded.scope is None
    assert decoded.per_device_node_selection
    first, second, third = (device.scope for device in decoded.devices)
    assert first == NodeScope(node_name="n1")
    assert second == NodeScope(all_nodes=True)
    assert third == NodeScope(invalid="exactly one of nodeName, nodeSelector and allNodes must be set, but 0 are")


def test_empty_node_name_and_false_all_nodes_count_as_absent() -> None:
    selector = {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n"]}]}]}
    scope = decode.resource_slice(slice_of(nodeName="", allNodes=False, nodeSelector=selector)).scope
    assert scope == NodeScope(
        selector=NodeSelector((NodeSelectorTerm((), (NodeSelectorRequirement("metadata.name", "In", ("n",)),)),))
    )


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ({"key": "a", "operator": "Like", "values": ["x"]}, "operator: 'Like' is not supported; use one of In, NotIn"),
        ({"key": "a", "operator": "In"}, "values: must not be empty with operator In"),
        ({"key": "a", "operator": "Exists", "values": ["x"]}, "values: must be empty with operator Exists"),
        ({"key": "a", "operator": "Gt", "values": ["x"]}, "values: must be exactly one integer with operator Gt"),
        ({"key": "-a", "operator": "Exists"}, "key: '-a' is not a label key: name part must consist of letters"),
        ({"key": "a", "operator": "In", "values": ["-x"]}, "values[0]: '-x' is not a label value: must consist"),
        ({"key": "a", "operator": 5}, "operator: must be a string"),
    ],
)
def test_a_node_selector_that_cannot_be_used_takes_out_its_slice_only(expression: dict[str, Any], reason: str) -> None:
    selector = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
    scope = decode.resource_slice(slice_of({"name": "a"}, nodeName=None, nodeSelector=selector)).scope
    assert scope is not None
    assert scope.invalid is not None
    assert scope.invalid.startswith(f"nodeSelector.nodeSelectorTerms[0].matchExpressions[0].{reason}")


def test_a_node_selector_with_two_terms_takes_out_its_slice() -> None:
    term = {"matchExpressions": [{"key": "a", "operator": "Exists"}]}
    scope = decode.resource_slice(slice_of(nodeName=None, nodeSelector={"nodeSelectorTerms": [term, term]})).scope
    assert scope == NodeScope(invalid="nodeSelector: must have exactly one term, not 2")


def test_what_a_device_takes_of_its_node_is_kept() -> None:
    resources = {
        "cpu": {"mapping": {"capacityKey": "cores", "capacityMultiplier": "2"}},
        "memory": {"mapping": {"deviceMultiplier": "1Gi"}, "overhead": {"perPod": "1Mi", "perContainer": "2Mi"}},
    }
    device = only_device({"name": "a", "nodeAllocatableResources": resources})
    assert device.unsupported is None
    assert device.node_resources == {
        "cpu": NodeResource(True, "cores", Q("2")),
        "memory": NodeResource(True, per_device=Q("1Gi"), per_pod=Q("1Mi"), per_container=Q("2Mi")),
    }


def test_the_form_of_kubernetes_1_36_makes_a_device_unsupported() -> None:
    device = only_device({"name": "a", "nodeAllocatableResourceMappings": {"cpu": {"allocationMultiplier": "1"}}})
    assert (
        device.unsupported == "nodeAllocatableResourceMappings (alpha in Kubernetes 1.36 only) is not implemented here"
    )


def test_a_taint_rule_without_selector_matches_nothing_and_an_empty_one_everything() -> None:
    rule: dict[str, Any] = {"metadata": {"name": "r"}, "spec": {"taint": {"key": "k", "effect": "NoSchedule"}}}
    assert decode.taint_rule(rule).matches_nothing
    everything = decode.taint_rule({**rule, "spec": rule["spec"] | {"deviceSelector": {}}})
    assert not everything.matches_nothing
    assert (everything.driver, everything.pool, everything.device, everything.device_class) == (None,) * 4


def test_a_taint_rule_of_an_unknown_selector_is_refused() -> None:
    spec = {"taint": {"key": "k", "effect": "NoSchedule"}, "deviceSelector": {"selectors": [{"regex": "x"}]}}
    with pytest.raises(DecodeError, match=r"DeviceTaintRule r: spec\.deviceSelector\.selectors: CEL expression empty"):
        decode.taint_rule({"metadata": {"name": "r"}, "spec": spec})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
SAMPLE = slice_of(
    {
        "name": "a",
        "attributes": {"x": {"int": 1}, "y": {"versions": ["1.0.0"]}},
        "capacity": {"m": {"value": "1", "requestPolicy": {"default": "1", "validValues": ["1"]}}},
        "taints": [{"key": "k", "effect": "None"}],
        "consumesCounters": [{"counterSet": "s", "counters": {"c": {"value": "1"}}}],
        "nodeSelector": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "Exists"}]}]},
    },
    sharedCounters=[{"name": "s", "counters": {"c": {"value": "1"}}}],
    perDeviceNodeSelection=True,
    nodeName=None,
)


def paths(value: Any, prefix: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [prefix, *(path for key, child in children for path in paths(child, (*prefix, key)))]


@given(st.sampled_from(paths(SAMPLE)[1:]), JSON)
def test_whatever_stands_in_a_field_is_read_or_refused_with_a_decode_error(path: tuple[Any, ...], value: Any) -> None:
    obj = copy.deepcopy(SAMPLE)
    holder = obj
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = value
    with contextlib.suppress(DecodeError):
        decode.resource_slice(obj)


def test_the_explicit_spelling_of_a_capacity_wins_and_a_range_needs_its_minimum() -> None:
    capacity = {"d.example.org/m": {"value": "1"}, "gpu.example.com/n": {"value": "2"}, "n": {"value": "3"}}
    device = only_device({"name": "a", "capacity": capacity})
    assert device.capacity["gpu.example.com/n"].value == Q("2")
    unusable = {"m": {"value": "1", "requestPolicy": {"default": "1", "validRange": {}}}}
    assert only_device({"name": "a", "capacity": unusable}).unsupported == (
        "capacity 'm' has a requestPolicy.validRange without min"
    )


@pytest.mark.parametrize(
    ("requirement", "reason"),
    [
        (
            {"key": "metadata.name", "operator": "Exists"},
            "operator: 'Exists' is not supported for fields; use In or NotIn",
        ),
        (
            {"key": "metadata.name", "operator": "In", "values": ["a", "b"]},
            "values: must have exactly one element for fields",
        ),
    ],
)
def test_a_field_requirement_that_cannot_be_used_takes_out_its_slice(requirement: dict[str, Any], reason: str) -> None:
    selector = {"nodeSelectorTerms": [{"matchFields": [requirement]}]}
    scope = decode.resource_slice(slice_of(nodeName=None, nodeSelector=selector)).scope
    assert scope == NodeScope(invalid=f"nodeSelector.nodeSelectorTerms[0].matchFields[0].{reason}")


def test_a_node_selector_of_the_wrong_type_is_an_error_of_its_field() -> None:
    with pytest.raises(DecodeError, match=r"^spec\.nodeSelector: must be an object, not a list$"):
        decode.node_selector([], "spec.nodeSelector")
