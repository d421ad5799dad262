"""Resource lists and what a pod needs, as exact integers."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dra_api.errors import DecodeError
from dra_api.resources import pod_requests, resource_list


def container(name: str = "c", **requests: str) -> dict[str, Any]:
    return {"name": name, "resources": {"requests": requests}}


def sidecar(name: str, **requests: str) -> dict[str, Any]:
    return container(name, **requests) | {"restartPolicy": "Always"}


def test_cpu_is_in_thousandths_and_the_rest_in_units_rounded_up() -> None:
    allocatable = {"cpu": "1500m", "memory": "1Gi", "ephemeral-storage": "1500m", "example.com/gpu": 2, "pods": "110"}
    assert resource_list(allocatable, "status.allocatable") == {
        "cpu": 1500,
        "memory": 2**30,
        "ephemeral-storage": 2,
        "example.com/gpu": 2,
        "pods": 110,
    }
    assert resource_list({"cpu": "100u"}, "x") == {"cpu": 1}


def test_a_wrong_amount_names_the_field() -> None:
    with pytest.raises(DecodeError, match=r"^status\.allocatable\[cpu\]: 'much' is not a quantity"):
        resource_list({"cpu": "much"}, "status.allocatable")
    with pytest.raises(DecodeError, match=r"^status\.allocatable: must be an object, not a list"):
        resource_list([], "status.allocatable")  # type: ignore[arg-type]


def test_containers_add_up_and_sums_are_rounded_once() -> None:
    pod = {"spec": {"containers": [container("a", cpu="1500u"), container("b", cpu="1500u")]}}
    assert pod_requests(pod) == {"cpu": 3}


def test_init_containers_need_the_maximum_and_the_sidecars_before_them() -> None:
    spec = {
        "initContainers": [container("i1", memory="10"), sidecar("s", memory="3"), container("i2", memory="8")],
        "containers": [container("a", memory="4"), container("b", memory="3")],
    }
    # i1 alone 10, i2 with the sidecar 11, the containers with the sidecar 10
    assert pod_requests({"spec": spec}) == {"memory": 11}


def test_pod_level_requests_replace_the_sum_and_the_overhead_comes_on_top() -> None:
    spec = {
        "containers": [container("a", cpu="1", memory="5")],
        "resources": {"requests": {"cpu": "3", "example.com/gpu": "1"}},
        "overhead": {"cpu": "100m"},
    }
    assert pod_requests({"spec": spec}) == {"cpu": 3100, "memory": 5}


@pytest.mark.parametrize(("reason", "expected"), [("Deferred", 4000), ("Infeasible", 3000)])
def test_during_a_resize_the_largest_amount_counts_unless_it_is_infeasible(reason: str, expected: int) -> None:
    pod = {
        "spec": {"containers": [container("a", cpu="4")]},
        "status": {
            "conditions": [{"type": "PodResizePending", "reason": reason}],
            "containerStatuses": [
                {"name": "a", "allocatedResources": {"cpu": "2"}, "resources": {"requests": {"cpu": "3"}}}
            ],
        },
    }
    assert pod_requests(pod) == {"cpu": expected}


amounts = st.integers(0, 50)
kinds = st.lists(st.tuples(st.booleans(), amounts), max_size=4)


@given(kinds, st.lists(amounts, max_size=3))
def test_a_pod_needs_its_peak_over_all_phases(init: list[tuple[bool, int]], main: list[int]) -> None:
    spec = {
        "initContainers": [
            (sidecar if restarts else container)(f"i{i}", memory=str(amount))
            for i, (restarts, amount) in enumerate(init)
        ],
        "containers": [container(f"c{i}", memory=str(amount)) for i, amount in enumerate(main)],
    }
    running = 0
    peak = 0
    for restarts, amount in init:
        peak = max(peak, running + amount)
        running += amount if restarts else 0
    peak = max(peak, running + sum(main))
    assert pod_requests({"spec": spec}).get("memory", 0) == peak
