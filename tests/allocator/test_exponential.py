"""Searches that try every combination elsewhere: here the number of steps stays small. Steps, not time, are counted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import pytest

from dra_allocator.claim import DerivedAttribute, DeviceRequest, ResourceClaim
from dra_allocator.device import Device, DeviceTaint, ResourceSlice
from dra_allocator.masks import MaskStore
from dra_allocator.problem import NodeProblem
from dra_allocator.requests import resolve
from dra_allocator.rules.account import Account
from dra_allocator.search import Search
from support.devices import (
    DRIVER,
    Calls,
    Cluster,
    capacity,
    claim,
    counter_set,
    counters,
    device,
    distinct,
    match,
    request,
)
from support.devices import resource_slice as slice_of

FEW = 4000
"""A step takes one to two microseconds, so this is less than 10 ms."""


def search(slices: Iterable[ResourceSlice], *claims: ResourceClaim) -> Search:
    cluster = Cluster(*slices)
    view, masks = cluster.view, MaskStore(1 << 20)
    resolved = resolve(cluster.table, cluster.features, claims)
    problem = NodeProblem(view, masks, view.layout(0), resolved)
    return Search(problem, Account(problem, resolved).rules)


def steps_to_refuse(slices: Iterable[ResourceSlice], *claims: ResourceClaim) -> int:
    run = search(slices, *claims)
    assert run.step(Calls()) is False
    return run.steps


def pool(devices: Iterable[Device]) -> list[ResourceSlice]:
    return [slice_of("s", devices, node="n1")]


def equal(count: int, **fields: object) -> list[Device]:
    return [device(f"d{number:03}", **{"numa": 1, **fields}) for number in range(count)]


def many(names: Iterable[str], count: int = 1) -> list[DeviceRequest]:
    return [request(name, count) for name in names]


def test_one_device_more_than_there_is_under_a_match_constraint() -> None:
    assert steps_to_refuse(pool(equal(30)), claim(request(count=31), constraints=[match("numa")])) < FEW


def test_many_requests_for_equal_devices_one_too_many() -> None:
    names = [f"r{number}" for number in range(21)]
    assert steps_to_refuse(pool(equal(20)), claim(*many(names), constraints=[match("numa")])) < FEW


def test_many_claims_for_equal_devices_one_too_many() -> None:
    claims = [claim(request(count=3), name=f"c{number}") for number in range(8)]
    assert steps_to_refuse(pool(equal(23)), *claims) < FEW


def test_no_group_of_devices_with_a_common_value_is_large_enough() -> None:
    devices = [device(f"d{number:03}", numa=number // 3) for number in range(90)]
    assert steps_to_refuse(pool(devices), claim(request(count=4), constraints=[match("numa")])) < FEW


def test_two_requests_share_a_value_that_too_few_devices_have() -> None:
    devices = [device(f"d{number:03}", numa=number // 3) for number in range(60)]
    asked = claim(request("a", 2), request("b", 2), constraints=[match("numa")])
    assert steps_to_refuse(pool(devices), asked) < FEW


def test_fewer_distinct_values_than_devices_wanted() -> None:
    devices = [device(f"d{number:03}", numa=number % 12) for number in range(48)]
    assert steps_to_refuse(pool(devices), claim(request(count=13), constraints=[distinct("numa")])) < FEW


def test_fewer_distinct_values_than_requests() -> None:
    devices = [device(f"d{number:03}", numa=number % 8) for number in range(40)]
    names = [f"r{number}" for number in range(9)]
    assert steps_to_refuse(pool(devices), claim(*many(names), constraints=[distinct("numa")])) < FEW


@pytest.mark.parametrize("as_requests", [False, True])
def test_counters_for_all_but_one_of_the_partitions_wanted(as_requests: bool) -> None:
    devices = [device(f"d{number:03}", consumes_counters=(counters("set", slots=1),)) for number in range(40)]
    slices = [
        slice_of("c", shared_counters=(counter_set("set", slots=10),), node="n1", slice_count=2),
        slice_of("s", devices, node="n1", slice_count=2),
    ]
    asked = claim(*many(f"r{number}" for number in range(11))) if as_requests else claim(request(count=11))
    assert steps_to_refuse(slices, asked) < FEW


def test_partitions_of_different_sizes_that_never_add_up() -> None:
    devices = [
        device(f"d{number:03}", consumes_counters=(counters("set", slots=2 + number % 4),)) for number in range(40)
    ]
    slices = [
        slice_of("c", shared_counters=(counter_set("set", slots=15),), node="n1", slice_count=2),
        slice_of("s", devices, node="n1", slice_count=2),
    ]
    names = [f"r{number}" for number in range(8)]
    assert steps_to_refuse(slices, claim(*many(names))) < FEW


def test_shares_of_equal_devices_one_too_many() -> None:
    devices = equal(10, allow_multiple_allocations=True, capacity={"gpu.example.com/memory": capacity("2")})
    half = {"memory": capacity("1").value}
    asked = claim(*(request(f"r{number}", capacity=half) for number in range(21)))
    assert steps_to_refuse(pool(devices), asked) < FEW


def test_an_interchangeable_prefix_before_a_request_that_fits_nothing() -> None:
    never = request("z", selectors=("device.driver == 'other'",))
    assert steps_to_refuse(pool(equal(30)), claim(request("a", 8), request("b", 8), never)) < FEW


def test_alternatives_that_all_fail_are_not_multiplied() -> None:
    subs = tuple(request(f"s{number}", 2) for number in range(4))
    asked = claim(*(DeviceRequest(f"r{number}", first_available=subs) for number in range(8)))
    assert steps_to_refuse(pool(equal(15)), asked) < FEW


def test_each_search_that_has_a_solution_finds_it_without_detours() -> None:
    run = search(pool(equal(64)), claim(request("a", 16), request("b", 16), constraints=[match("numa")]))
    assert run.step(Calls()) is True
    assert run.steps < 200


def unlike(count: int, **fields: object) -> list[Device]:
    """Devices of which no two are alike."""
    amounts = ({f"{DRIVER}/memory": capacity(str(16 + number))} for number in range(count))
    return [device(f"d{number:03}", numa=number, capacity=one, **fields) for number, one in enumerate(amounts)]


def model(*numbers: int) -> tuple[str, ...]:
    return (f'device.attributes["{DRIVER}"].numa in {list(numbers)}',)


@pytest.mark.parametrize("mode", ["ExactCount", "All"])
def test_alternatives_that_nothing_can_serve_after_devices_that_are_all_different(mode: str) -> None:
    devices = [*unlike(14), device("x", memory="500"), device("y", memory="500", taints=(DeviceTaint("broken"),))]
    large = {"memory": capacity("400").value}
    subs = (request("s0", 2, capacity=large), request("s1", 2, mode=mode, capacity=large))
    asked = claim(
        DeviceRequest("r0", first_available=(request("s0", 6), request("s1", 5))),
        DeviceRequest("r1", first_available=(request("s0", 5), request("s1", 1), request("s2", 4))),
        DeviceRequest("r2", first_available=subs),
    )
    assert steps_to_refuse(pool(devices), asked) < FEW


def test_requests_for_the_same_few_among_devices_that_are_all_different() -> None:
    few = [request(name, 2, selectors=model(0, 1, 2, 3, 4)) for name in ("x", "y", "z")]
    assert steps_to_refuse(pool(unlike(24)), claim(request("a", 6), request("b", 5), *few)) < FEW


def test_alternatives_for_the_same_few_among_devices_that_are_all_different() -> None:
    subs = (request("s0", 2, selectors=model(0, 1, 2)), request("s1", 3, selectors=model(2, 3, 4)))
    few = [DeviceRequest(name, first_available=subs) for name in ("x", "y", "z")]
    assert steps_to_refuse(pool(unlike(24)), claim(request("a", 6), request("b", 5), *few)) < FEW


def test_an_error_behind_a_request_that_fits_nothing_is_never_reached() -> None:
    fails = request("z", selectors=(f'device.attributes["{DRIVER}"].nothing == 1',))
    empty = request("all", mode="All", selectors=model(99))
    asked = (claim(request("a", 5), name="one"), claim(request("b", 5), empty, fails, name="two"))
    assert steps_to_refuse(pool(unlike(24)), *asked) < FEW


def test_an_error_behind_requests_that_want_more_devices_than_there_are_is_never_reached() -> None:
    fails = request("z", selectors=(f'device.attributes["{DRIVER}"].nothing == 1',))
    subs = (request("s0", 6), request("s1", 7))
    asked = claim(request("a", 6), request("b", 6), request("c", 7), DeviceRequest("d", first_available=subs), fails)
    assert steps_to_refuse(pool(unlike(24)), asked) < FEW


def test_a_common_derived_value_that_two_requests_never_have() -> None:
    group = f"{DRIVER}/group"
    number = DerivedAttribute(group, f'device.attributes["{DRIVER}"].numa')
    name = DerivedAttribute(group, f'string(device.attributes["{DRIVER}"].numa)')
    asked = (request("a", 4, derived_attributes=(number,)), request("b", 4, derived_attributes=(name,)))
    for constraint in (match("group"), distinct("group", "a")):
        more = [] if constraint.kind == "match" else [match("group")]
        assert steps_to_refuse(pool(unlike(24)), claim(*asked, constraints=[constraint, *more])) < FEW


def test_a_common_value_that_two_requests_have_only_without_what_others_take() -> None:
    devices = unlike(36)
    devices = [replace(one, attributes={f"{DRIVER}/numa": at % 3}) for at, one in enumerate(devices)]
    first = [claim(request("a", count), name=f"c{count}") for count in (7, 8)]
    asked = claim(request("a", 7), request("b", 7), name="last", constraints=[match("numa")])
    assert steps_to_refuse(pool(devices), *first, asked) < FEW


def partitions(amounts: Sequence[Mapping[str, int]], **limits: int) -> list[ResourceSlice]:
    devices = [device(f"d{at:03}", consumes_counters=(counters("set", **one),)) for at, one in enumerate(amounts)]
    return [
        slice_of("c", shared_counters=(counter_set("set", **limits),), node="n1", slice_count=2),
        slice_of("s", devices, node="n1", slice_count=2),
    ]


def different(count: int) -> list[dict[str, int]]:
    """Amounts of three counters, all different; those with little of one have much of another."""
    return [{"a": 100 + 37 * at % 101, "b": 250 - 37 * at % 101, "c": 100 + 53 * at % 97} for at in range(count)]


@pytest.mark.parametrize("counts", [(10,), (5, 5), (4, 3, 3)])
def test_different_partitions_of_which_any_ten_exceed_one_of_the_counters(counts: tuple[int, ...]) -> None:
    asked = claim(*(request(f"r{at}", count) for at, count in enumerate(counts)))
    assert steps_to_refuse(partitions(different(24), a=1400, b=1600, c=1240), asked) < FEW // 10


@pytest.mark.parametrize("counts", [(10,), (5, 5), (4, 3, 3)])
def test_different_partitions_of_which_few_choices_keep_to_the_counters(counts: tuple[int, ...]) -> None:
    asked = claim(*(request(f"r{at}", count) for at, count in enumerate(counts)))
    run = search(partitions(different(24), a=1540, b=1980, c=1430), asked)
    assert run.step(Calls()) is True
    assert run.steps < FEW // 10


def test_alternatives_among_different_partitions_after_others() -> None:
    subs = (request("s0", 5), request("s1", 4))
    asked = claim(request("a", 4), DeviceRequest("b", first_available=subs), DeviceRequest("c", first_available=subs))
    assert steps_to_refuse(partitions(different(24), a=1600, b=1900, c=1400), asked) < FEW // 10
