from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dra_scheduler.writes.comparison import GATES, first_difference, gate_of
from support.writing import allocation


@pytest.mark.parametrize(
    ("sent", "answered"),
    [
        ({"consumedCapacity": {"memory": "1024Mi"}}, {"consumedCapacity": {"memory": "1Gi"}}),
        ({"adminAccess": False}, {}),
        ({"tolerations": []}, {}),
        ({}, {"bindingConditions": None}),
        ({"tolerations": [{"key": "k"}]}, {"tolerations": [{"key": "k", "operator": "Equal"}]}),
        ({}, {"somethingNewer": "set by a newer server"}),
    ],
)
def test_what_kubernetes_takes_for_equal_is_no_difference(sent: dict[str, Any], answered: dict[str, Any]) -> None:
    assert first_difference(allocation(**sent), allocation(**answered)) is None


@pytest.mark.parametrize(
    ("sent", "answered", "path"),
    [
        ({"consumedCapacity": {"memory": "1Gi"}}, {"consumedCapacity": {"memory": "2Gi"}}, "consumedCapacity.memory"),
        ({"consumedCapacity": {"memory": "1Gi"}}, {"consumedCapacity": {"memory": "x"}}, "consumedCapacity.memory"),
        ({"consumedCapacity": {"a": "1"}}, {"consumedCapacity": {"a": "1", "b": "1"}}, "consumedCapacity.b"),
        ({"tolerations": [{"key": "k"}]}, {"tolerations": []}, "tolerations"),
        ({}, {"shareID": "u"}, "shareID"),
    ],
)
def test_a_difference_is_named_by_its_path_and_its_gate(
    sent: dict[str, Any], answered: dict[str, Any], path: str
) -> None:
    found = first_difference(allocation(**sent), allocation(**answered))
    assert found == f"devices.results[0].{path}"
    assert gate_of(found) == GATES[path.partition(".")[0]]


def test_another_device_has_no_gate_and_no_allocation_at_all_differs() -> None:
    found = first_difference(allocation("gpu-0"), allocation("gpu-1"))
    assert found == "devices.results[0].device"
    assert gate_of(found) is None
    assert first_difference(allocation(), None) == "devices"


def test_a_driver_s_parameters_are_compared_to_the_letter() -> None:
    def configured(parameters: object) -> dict[str, Any]:
        result = allocation()
        opaque = {"driver": "gpu.example.com", "parameters": parameters}
        result["devices"]["config"] = [{"source": "FromClaim", "requests": [], "opaque": opaque}]
        return result

    assert first_difference(configured({"a": []}), configured({"a": []})) is None
    assert first_difference(configured({"a": []}), configured({})) == "devices.config[0].opaque.parameters"


LEAVES = st.sampled_from(["a", "b", True, False, 1])
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["request", "device", "key", "values"]), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(["devices", "results", "config"]), VALUES))
def test_nothing_differs_from_its_copy(value: dict[str, Any]) -> None:
    assert first_difference(value, copy.deepcopy(value)) is None


@given(
    st.dictionaries(st.sampled_from(["device", "pool"]), LEAVES),
    st.dictionaries(st.sampled_from(["device", "pool"]), LEAVES),
)
def test_flat_objects_differ_exactly_when_their_non_empty_fields_do(a: dict[str, Any], b: dict[str, Any]) -> None:
    def present(value: dict[str, Any]) -> dict[str, Any]:
        return {key: item for key, item in value.items() if item is not False}

    same = present(a) == present(b)
    assert (first_difference(a, b) is None) == same
