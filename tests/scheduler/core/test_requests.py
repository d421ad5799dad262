from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dra_cel.quantity import QuantityError
from dra_scheduler.cache.requests import LARGEST, amounts, pod_requests, scored_requests


def container(always: bool = False, **requests: str) -> dict[str, Any]:
    restart = {"restartPolicy": "Always"} if always else {}
    return {"name": "c", "resources": {"requests": requests}, **restart}


def test_cpu_is_in_milli_units_and_everything_else_in_units() -> None:
    assert amounts({"cpu": "1500m", "memory": "1Gi", "example.com/gpu": "2"}) == {
        "cpu": 1500,
        "memory": 2**30,
        "example.com/gpu": 2,
    }


def test_containers_add_up_and_overhead_comes_on_top() -> None:
    spec = {"containers": [container(cpu="1"), container(cpu="500m")], "overhead": {"cpu": "250m"}}
    assert pod_requests(spec) == {"cpu": 1750}


def test_the_largest_init_container_counts_if_it_is_larger_than_all_containers() -> None:
    spec = {"containers": [container(cpu="1")], "initContainers": [container(cpu="3"), container(cpu="2")]}
    assert pod_requests(spec) == {"cpu": 3000}


def test_a_sidecar_counts_beside_the_containers_and_beside_later_init_containers_only() -> None:
    spec = {
        "containers": [container(cpu="1")],
        "initContainers": [container(cpu="4"), container(always=True, cpu="2"), container(cpu="1")],
    }
    assert pod_requests(spec) == {"cpu": 4000}
    spec["initContainers"].append(container(cpu="3"))
    assert pod_requests(spec) == {"cpu": 5000}


def test_a_request_on_the_pod_level_replaces_the_sum_for_cpu_memory_and_hugepages_only() -> None:
    spec = {
        "containers": [container(cpu="1", memory="1Gi", **{"ephemeral-storage": "1Gi"})],
        "resources": {"requests": {"cpu": "4", "ephemeral-storage": "9Gi"}},
    }
    assert pod_requests(spec) == {"cpu": 4000, "memory": 2**30, "ephemeral-storage": 2**30}


def test_zero_requests_are_left_out() -> None:
    assert pod_requests({"containers": [container(cpu="0", memory="1")]}) == {"memory": 1}


def test_scoring_counts_a_default_for_each_container_without_a_request() -> None:
    spec = {"containers": [container(), container(cpu="1", memory="1Gi")]}
    assert scored_requests(spec) == (1100, 200 * 1024 * 1024 + 2**30)


def test_what_no_node_can_have_stays_larger_than_anything_a_node_can_have() -> None:
    asked = pod_requests({"containers": [container(memory="9223372036854775807")]})
    assert asked["memory"] == LARGEST + 1
    assert amounts({"memory": "9223372036854775807"}) == {"memory": LARGEST}


def test_a_quantity_that_cannot_be_read_is_an_error() -> None:
    with pytest.raises(QuantityError):
        pod_requests({"containers": [container(cpu="two")]})


cores = st.integers(0, 20)


@settings(deadline=None)
@given(st.lists(cores, min_size=1, max_size=4), st.lists(st.tuples(st.booleans(), cores), max_size=5))
def test_requests_are_the_highest_demand_of_any_moment_of_the_pods_life(
    containers: list[int], init: list[tuple[bool, int]]
) -> None:
    spec = {
        "containers": [container(cpu=str(n)) for n in containers],
        "initContainers": [container(always=always, cpu=str(n)) for always, n in init],
    }
    moments = []
    running = 0
    for always, n in init:
        moments.append(running + n)
        running += n if always else 0
    moments.append(running + sum(containers))
    assert pod_requests(spec).get("cpu", 0) == max(moments) * 1000
