"""The special claim for a pod's extended resources: which requests, and which container uses which."""

from __future__ import annotations

from typing import Any

import pytest

from dra_scheduler.cache.device_classes import DeviceClasses
from dra_scheduler.cache.pod_info import pod_info
from dra_scheduler.cycle.extended_resources import RequestMapping, special_claim
from support.objects import make_class, make_pod

GPU, OTHER = "example.com/gpu", "example.com/other"
IMPLICIT = "deviceclass.resource.kubernetes.io/other"
Requests = dict[str, tuple[str, int]]


def container(name: str, *, always: bool = False, **requests: int) -> dict[str, Any]:
    amounts = {name: str(count) for name, count in requests.items()}
    return {"name": name, "resources": {"requests": amounts}} | ({"restartPolicy": "Always"} if always else {})


def requests_of(
    served: dict[str, str], containers: list[dict[str, Any]], inits: list[dict[str, Any]] | None = None
) -> tuple[Requests, list[tuple[str, str]]]:
    """The requests by name, with class and count, and (container, request) of the mappings."""
    made = special_claim(pod_info(make_pod("p", containers=containers, initContainers=inits or [])), served)
    names = [request.name for request in made.spec.requests]
    assert names == sorted(names)
    requests = {request.name: (request.device_class, request.count) for request in made.spec.requests}
    return requests, [(mapping.container, mapping.request) for mapping in made.mappings]


def test_nothing_served_by_devices_makes_no_request() -> None:
    assert requests_of({}, [container("c", **{GPU: 1})]) == ({}, [])


def test_a_request_per_resource_with_its_place_among_all_that_the_container_requests() -> None:
    asks = [container("c", cpu=1, **{GPU: 1, OTHER: 2})]
    both = {"container-0-request-1": ("gpu", 1), "container-0-request-2": ("other", 2)}
    assert requests_of({GPU: "gpu", OTHER: "other"}, asks) == (both, [("c", name) for name in both])
    only = {"container-0-request-2": ("other", 2)}
    assert requests_of({OTHER: "other"}, asks) == (only, [("c", "container-0-request-2")])


def test_a_request_per_container() -> None:
    asks = [container("a", **{GPU: 1}), container("b", **{OTHER: 2})]
    both = {"container-0-request-0": ("gpu", 1), "container-1-request-0": ("other", 2)}
    found = [("a", "container-0-request-0"), ("b", "container-1-request-0")]
    assert requests_of({GPU: "gpu", OTHER: "other"}, asks) == (both, found)


def test_an_explicit_and_an_implicit_name_of_one_class_are_two_requests() -> None:
    asks = [container("c", **{OTHER: 1, IMPLICIT: 2})]
    both = {"container-0-request-1": ("other", 1), "container-0-request-0": ("other", 2)}
    assert requests_of({OTHER: "other", IMPLICIT: "other"}, asks)[0] == both


def test_init_containers_come_first_in_the_count_of_containers() -> None:
    inits, asks = [container("i", **{OTHER: 2})], [container("c", **{GPU: 1})]
    both = {"container-0-request-0": ("other", 2), "container-1-request-0": ("gpu", 1)}
    assert requests_of({GPU: "gpu", OTHER: "other"}, asks, inits)[0] == both


def test_init_containers_share_one_request_of_the_largest_size() -> None:
    inits = [container("i", **{OTHER: 1}), container("j", **{OTHER: 2})]
    requests, mappings = requests_of({OTHER: "other"}, [container("c")], inits)
    assert requests == {"container-1-request-0": ("other", 2)}
    assert mappings == [("i", "container-1-request-0"), ("j", "container-1-request-0")]


def test_an_init_container_uses_what_the_containers_after_it_will_have() -> None:
    inits, asks = [container("i", **{GPU: 1})], [container("c", **{GPU: 2})]
    one = {"container-1-request-0": ("gpu", 2)}
    assert requests_of({GPU: "gpu"}, asks, inits) == (one, [("c", "container-1-request-0"), ("i", *one)])


def test_an_init_container_that_needs_more_asks_for_the_rest_only() -> None:
    inits, asks = [container("i", **{GPU: 3})], [container("c", **{GPU: 2})]
    requests, mappings = requests_of({GPU: "gpu"}, asks, inits)
    assert requests == {"container-0-request-0": ("gpu", 1), "container-1-request-0": ("gpu", 2)}
    assert mappings[1:] == [("i", "container-1-request-0"), ("i", "container-0-request-0")]


def test_a_sidecar_keeps_its_own_and_only_init_containers_before_it_may_use_it() -> None:
    inits = [
        container("early", **{OTHER: 1}),
        container("sidecar", always=True, **{OTHER: 1}),
        container("late", **{OTHER: 2}),
    ]
    requests, mappings = requests_of({OTHER: "other", GPU: "gpu"}, [container("c", **{GPU: 1})], inits)
    assert requests == {
        "container-1-request-0": ("other", 1),
        "container-2-request-0": ("other", 2),
        "container-3-request-0": ("gpu", 1),
    }
    assert set(mappings) == {
        ("early", "container-1-request-0"),
        ("sidecar", "container-1-request-0"),
        ("late", "container-2-request-0"),
        ("c", "container-3-request-0"),
    }


def test_mappings_name_the_resource_as_the_container_does() -> None:
    made = special_claim(pod_info(make_pod("p", containers=[container("c", **{IMPLICIT: 1})])), {IMPLICIT: "other"})
    assert made.mappings == (RequestMapping("c", IMPLICIT, "container-0-request-0"),)


def classes(**created: str) -> DeviceClasses:
    known = DeviceClasses()
    for name, when in created.items():
        raw = make_class(name)
        raw["metadata"]["creationTimestamp"] = when
        raw["spec"]["extendedResourceName"] = GPU
        known.apply(name, raw)
    return known


@pytest.mark.parametrize(
    ("created", "found"),
    [
        ({"b": "2026-01-02T00:00:00Z", "a": "2026-01-01T00:00:00Z"}, "b"),
        ({"a": "2026-01-01T00:00:00Z", "b": "2026-01-02T00:00:00Z"}, "b"),
        ({"b": "2026-01-01T00:00:00Z", "a": "2026-01-01T00:00:00Z"}, "a"),
    ],
)
def test_of_two_classes_for_one_resource_the_newest_has_it_then_the_lower_name(
    created: dict[str, str], found: str
) -> None:
    known = classes(**created)
    assert known.of_resource(GPU) == found
    known.apply(found, None)
    assert known.of_resource(GPU) == ({"a", "b"} - {found}).pop()
    assert known.of_resource(f"deviceclass.resource.kubernetes.io/{found}") is None


def test_a_class_that_stands_for_another_resource_gives_the_old_one_back() -> None:
    known = classes(a="2026-01-01T00:00:00Z", b="2026-01-02T00:00:00Z")
    changed = make_class("b")
    changed["spec"]["extendedResourceName"] = OTHER
    known.apply("b", changed)
    assert (known.of_resource(GPU), known.of_resource(OTHER)) == ("a", "b")
    assert known.of_resource("cpu") is None
