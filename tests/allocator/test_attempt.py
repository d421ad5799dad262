"""Attempts: order of nodes and devices, errors of nodes, limits, and tables that change while a search is paused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dra_allocator.allocator import Attempt
from dra_allocator.claim import DerivedAttribute, DeviceClass
from dra_allocator.device import DeviceTaint
from dra_allocator.features import Features
from dra_allocator.node import Node
from dra_allocator.outcome import Allocation, AllocationError, Outcome, OutOfBudget
from dra_allocator.rejection import Rejection
from dra_cel.quantity import Quantity
from support.devices import (
    CLASS,
    DRIVER,
    Calls,
    Cluster,
    claim,
    counter_set,
    counters,
    device,
    holding,
    match,
    picked,
    request,
    resource_slice,
)

MODEL = f'device.attributes["{DRIVER}"].model == "a"'
MANY = [f"n{number:02}" for number in range(20)]


def cluster_of(nodes: list[str], **fields: object) -> Cluster:
    slices = [
        resource_slice(f"s-{node}", [device("d0", **fields), device("d1", **fields)], node=node) for node in nodes
    ]
    return Cluster(*slices, nodes=nodes)


def finish(attempt: Attempt, calls: int | None = None) -> Outcome:
    while (outcome := attempt.step(Calls(calls))) is None:
        pass
    return outcome


def test_takes_the_first_node_in_the_order_given() -> None:
    cluster = cluster_of(MANY)
    for nodes in (MANY, MANY[::-1], MANY[5:]):
        cluster.nodes = nodes
        outcome = cluster.allocate()
        assert isinstance(outcome, Allocation)
        assert outcome.node == nodes[0]


def test_nodes_may_be_given_as_ids() -> None:
    cluster = cluster_of(MANY)
    ids = np.array([cluster.table.node_id("n07"), cluster.table.node_id("n03")], np.int32)
    outcome = finish(cluster.allocator.allocate(cluster.view, [claim()], ids))
    assert isinstance(outcome, Allocation)
    assert outcome.node == "n07"


def test_candidates_can_be_tried_in_another_order() -> None:
    cluster = cluster_of(["n1"])
    attempt = cluster.allocator.allocate(
        cluster.view, [claim()], ["n1"], candidates=lambda node, devices: range(len(devices) - 1, -1, -1)
    )
    assert picked(finish(attempt)) == [["d1"]]


def test_nothing_wanted_fits_the_first_node() -> None:
    cluster = Cluster(nodes=MANY)
    empty = claim(request(), name="empty")
    object.__setattr__(empty, "requests", ())
    outcome = cluster.allocate(empty)
    assert isinstance(outcome, Allocation)
    assert (outcome.node, picked(outcome)) == ("n00", [[]])
    assert cluster.view.unchanged(outcome.stamp)
    assert isinstance(finish(cluster.allocator.allocate(cluster.view, [], MANY)), Allocation)


def test_no_nodes_at_all_is_a_rejection() -> None:
    cluster = Cluster(nodes=())
    outcome = cluster.allocate()
    assert isinstance(outcome, Rejection)
    assert outcome.nodes == 0


def test_a_selector_that_fails_on_one_node_leaves_the_others() -> None:
    cluster = Cluster(
        resource_slice("s1", [device("d0")], node="n1"),
        resource_slice("s2", [device("d0", model="a")], node="n2"),
        nodes=("n1", "n2"),
    )
    outcome = cluster.allocate(claim(request(selectors=(MODEL,))))
    assert isinstance(outcome, Allocation)
    assert outcome.node == "n2"
    assert outcome.node_errors["n1"].kind == "selector-runtime"
    assert outcome.node_errors["n1"].device is not None


def test_an_error_on_one_node_is_reported_with_the_rejection() -> None:
    cluster = Cluster(
        resource_slice("s1", [device("d0")], node="n1"),
        resource_slice("s2", [device("d0", model="b")], node="n2"),
        nodes=("n1", "n2"),
    )
    outcome = cluster.allocate(claim(request(selectors=(MODEL,))))
    assert isinstance(outcome, Rejection)
    assert "no such key: model" in outcome.node_errors["n1"]


def test_an_error_that_no_node_escapes_is_the_pods() -> None:
    cluster = cluster_of(MANY)
    outcome = cluster.allocate(claim(request(selectors=(MODEL,))))
    assert isinstance(outcome, AllocationError)
    assert (outcome.scope, outcome.kind) == ("pod", "selector-runtime")


def test_many_nodes_on_which_a_selector_fails_are_all_reported_after_searching_a_few() -> None:
    names = [f"n{number:02}" for number in range(30)]
    cluster = Cluster(nodes=names)
    for number, node in enumerate(names):
        fields = {"model": "b"} if number % 3 == 0 else {}
        cluster.table.apply_slice(resource_slice(f"s-{node}", [device("d0", **fields)], node=node))
    outcome = cluster.allocate(claim(request(selectors=(MODEL,))))
    assert isinstance(outcome, Rejection)
    assert sorted(outcome.node_errors) == [node for number, node in enumerate(names) if number % 3]
    assert "as on node n01" in outcome.node_errors["n29"]
    cluster.table.apply_slice(resource_slice("good", [device("d", model="a")], node="n29", pool="good"))
    found = cluster.allocate(claim(request(selectors=(MODEL,))))
    assert isinstance(found, Allocation)
    assert found.node == "n29"


def test_a_search_that_meets_a_changed_table_starts_its_node_again() -> None:
    tainted = [device(f"d{n:03}", model="a", taints=(DeviceTaint("t"),)) for n in range(100)]
    cluster = Cluster(resource_slice("s", [*tainted, device("e")], node="n1"))
    attempt = cluster.allocator.allocate(cluster.view, [claim(request(selectors=(MODEL,)))], ["n1"])
    assert attempt.step(Calls(1)) is None
    cluster.table.apply_slice(resource_slice("s", [*tainted, device("f", model="a")], node="n1"))
    assert picked(finish(attempt, 1)) == [["f"]]


def test_a_slice_that_goes_during_a_search_does_not_disturb_it() -> None:
    tainted = [device(f"d{n:03}", taints=(DeviceTaint("t"),)) for n in range(100)]
    cluster = Cluster(resource_slice("s", [*tainted, device("e")], node="n1"))
    attempt = cluster.allocator.allocate(cluster.view, [claim(request(count=2))], ["n1"])
    assert attempt.step(Calls(1)) is None
    cluster.table.remove_slice("s")
    outcome = finish(attempt, 1)
    assert isinstance(outcome, Rejection)


def test_a_table_that_never_rests_is_an_error_of_the_node_in_the_end() -> None:
    tainted = [device(f"d{n:03}", model="a", taints=(DeviceTaint("t"),)) for n in range(100)]
    cluster = Cluster(resource_slice("s", [*tainted, device("e")], node="n1"))
    attempt = cluster.allocator.allocate(cluster.view, [claim(request(selectors=(MODEL,)))], ["n1"])
    outcome = None
    while outcome is None:
        outcome = attempt.step(Calls(1))
        cluster.table.apply_slice(resource_slice("s", [*tainted, device("e")], node="n1"))
    assert isinstance(outcome, AllocationError)
    assert "keep changing" in str(outcome)


def test_errors_are_those_of_visited_devices_only() -> None:
    cluster = Cluster(resource_slice("s", [device("d0", model="a"), device("d1")], node="n1"))
    asked = claim(request(selectors=(MODEL,)))
    assert picked(cluster.allocate(asked)) == [["d0"]]
    cluster.ledger.observe("x", holding("d0", pool="n1"))
    assert isinstance(cluster.allocate(asked), AllocationError)
    cluster.ledger.observe("y", holding("d1", pool="n1"))
    assert isinstance(cluster.allocate(asked), Rejection)


def test_too_few_devices_for_all_requests_do_not_hide_an_error_of_a_later_one() -> None:
    devices = [device("d0"), *(device(f"d{n}", model="a") for n in range(1, 4))]
    cluster = Cluster(resource_slice("s", devices, node="n1"))
    failing = claim(request(selectors=(MODEL,)), name="failing")
    outcome = cluster.allocate(claim(request("a"), request("b", 2)), failing, claim(name="last"))
    assert isinstance(outcome, AllocationError)
    assert outcome.claim == "default/failing"


def test_too_few_devices_do_not_hide_an_error_of_a_derived_attribute_or_a_capacity() -> None:
    cluster = Cluster(resource_slice("s", [device("d0", memory="3500m")], node="n1"))
    derived = DerivedAttribute(f"{DRIVER}/x", f'device.capacity["{DRIVER}"].memory.asInteger()')
    asked = request(count=2, derived_attributes=(derived,))
    outcome = cluster.allocate(claim(asked, constraints=[match("x")]))
    assert isinstance(outcome, AllocationError)
    assert outcome.kind == "derived-attribute"
    outcome = cluster.allocate(claim(request(count=2, capacity={"memory": Quantity.parse("-1")})))
    assert isinstance(outcome, AllocationError)
    assert outcome.kind == "capacity"


def test_admin_access_to_a_device_that_can_be_shared_may_be_had_twice_in_a_claim() -> None:
    shared = device("d0", allow_multiple_allocations=True)
    cluster = Cluster(resource_slice("s", [shared, device("d1")], node="n1"))
    twice = claim(request("a", admin_access=True), request("b", admin_access=True))
    outcome = cluster.allocate(twice)
    assert picked(outcome) == [["d0", "d0"]]
    assert isinstance(outcome, Allocation)
    results = outcome.claims[0].result.devices
    assert [one.share_id for one in results] == ["share-1", "share-2"]
    assert [one.consumed_capacity for one in results] == [{}, {}]
    cluster.ledger.assume("x", outcome.claims[0].result)
    assert cluster.ledger.holders_of(results[0].device) == ()


def test_admin_access_to_any_other_device_is_had_once_in_a_claim_and_by_every_claim() -> None:
    cluster = Cluster(resource_slice("s", [device("d0"), device("d1")], node="n1"))
    twice = claim(request("a", admin_access=True), request("b", admin_access=True))
    assert picked(cluster.allocate(twice, claim(name="two"))) == [["d0", "d1"], ["d0"]]


def test_all_devices_and_others_beside_them_are_too_many_for_a_claim() -> None:
    cluster = Cluster(resource_slice("s", [device(f"d{n:02}") for n in range(15)], node="n1"))
    outcome = cluster.allocate(claim(request("all", mode="All"), request("b", 17), request("c", 1)))
    assert isinstance(outcome, AllocationError)
    assert (outcome.kind, outcome.request) == ("too-many-devices", "c")


def test_the_class_is_asked_first_and_its_false_ends_it() -> None:
    cluster = Cluster(resource_slice("s", [device("d0")], node="n1"))
    cluster.table.apply_class(DeviceClass(CLASS, ("device.driver == 'other'",)))
    assert isinstance(cluster.allocate(claim(request(selectors=(MODEL,)))), Rejection)


def test_an_expression_that_does_not_compile_is_the_pods_error_at_once() -> None:
    cluster = cluster_of(MANY)
    cluster.table.apply_class(DeviceClass(CLASS, ("noSuchVar",)))
    outcome = cluster.allocate()
    assert isinstance(outcome, AllocationError)
    assert (outcome.scope, outcome.kind, outcome.device_class) == ("pod", "selector-compile", CLASS)


def test_a_node_that_is_not_known_is_reported() -> None:
    cluster = cluster_of(["n1"])
    cluster.ledger.observe("x", holding("d0", "d1", pool="n1"))
    cluster.nodes = ["n1", "nowhere"]
    outcome = cluster.allocate()
    assert isinstance(outcome, Rejection)
    assert outcome.node_errors == {"nowhere": "node nowhere is not known"}


def test_mode_all_with_an_invalid_pool_on_every_node_is_the_pods_error() -> None:
    cluster = Cluster(
        resource_slice("a", [device("d0")], node="n1", slice_count=2),
        resource_slice("b", [device("d0")], node="n1", slice_count=2),
    )
    outcome = cluster.allocate(claim(request(mode="All")))
    assert isinstance(outcome, AllocationError)
    assert (outcome.scope, outcome.kind, outcome.is_unschedulable) == ("pod", "invalid-pool", False)


def test_an_invalid_pool_is_an_error_of_its_node() -> None:
    cluster = Cluster(
        resource_slice("a", [device("d0")], node="n1", slice_count=2),
        resource_slice("b", [device("d0")], node="n1", slice_count=2),
    )
    outcome = cluster.allocate()
    assert isinstance(outcome, AllocationError)
    assert (outcome.scope, outcome.kind) == ("node", "invalid-pool")
    assert "duplicate device name d0" in str(outcome)
    assert outcome.is_unschedulable
    assert outcome.explain is not None
    (reason,) = [one for one in outcome.explain().claims[0].requests[0].reasons if one.reason == "invalid-pool"]
    assert "n1" in reason.detail
    cluster.table.apply_node(Node("n2"))
    cluster.nodes = ["n1", "n2"]
    assert isinstance(cluster.allocate(), Rejection)


def test_the_limit_ends_the_attempt_as_a_whole() -> None:
    cluster = cluster_of(MANY)
    devices = [device(f"d{n}", consumes_counters=(counters("set", slots=1),)) for n in range(3)]
    for node in MANY:
        cluster.table.apply_slice(
            resource_slice(
                f"c-{node}", shared_counters=(counter_set("set", slots=1),), node=node, pool=f"p-{node}", slice_count=2
            )
        )
        cluster.table.apply_slice(resource_slice(f"p-{node}", devices, node=node, pool=f"p-{node}", slice_count=2))
    attempt = cluster.allocator.allocate(cluster.view, [claim(request(count=4))], MANY, limit=Calls(5))
    outcome = finish(attempt)
    assert isinstance(outcome, OutOfBudget)
    assert 0 < outcome.nodes_tried < outcome.nodes == len(MANY)


def test_the_limit_ends_the_search_on_one_node_too() -> None:
    devices = [
        device(f"d{n}", numa=n, consumes_counters=(counters(f"set{n % 3}", slots=2 + n % 5, memory=n % 7),))
        for n in range(60)
    ]
    sets = tuple(counter_set(f"set{n}", slots=11, memory=13) for n in range(3))
    cluster = Cluster(
        resource_slice("c", shared_counters=sets, node="n1", slice_count=2),
        resource_slice("s", devices, node="n1", slice_count=2),
    )
    asked = claim(*(request(f"r{n}") for n in range(12)), constraints=[match("nothing", "r11")])
    attempt = cluster.allocator.allocate(cluster.view, [asked], ["n1"], limit=Calls(20))
    outcome = finish(attempt)
    assert isinstance(outcome, OutOfBudget | Rejection)
    assert isinstance(finish(cluster.allocator.allocate(cluster.view, [asked], ["n1"], limit=Calls(0))), OutOfBudget)


def test_the_outcome_stays_once_it_is_there() -> None:
    cluster = cluster_of(["n1"])
    attempt = cluster.allocator.allocate(cluster.view, [claim()], ["n1"])
    outcome = finish(attempt)
    assert attempt.step(Calls()) is outcome


@pytest.mark.parametrize("calls", [0, 1, 2])
def test_a_table_that_changes_between_steps_is_seen(calls: int) -> None:
    cluster = cluster_of(["n1"], model="a")
    attempt = cluster.allocator.allocate(cluster.view, [claim(request(count=2, selectors=(MODEL,)))], ["n1"])
    outcome = None
    turn = 0
    while outcome is None:
        outcome = attempt.step(Calls(calls))
        turn += 1
        if outcome is None and turn == 1:
            cluster.table.apply_slice(
                resource_slice("s-n1", [device("e0", model="a"), device("e1", model="a")], node="n1")
            )
    assert isinstance(outcome, Allocation)
    assert picked(outcome) in ([["d0", "d1"]], [["e0", "e1"]])
    assert cluster.view.unchanged(outcome.stamp) == (picked(outcome) == [["e0", "e1"]] or turn == 1)


def test_a_node_that_goes_between_steps_is_left_out() -> None:
    cluster = cluster_of(["n1", "n2"])
    attempt = cluster.allocator.allocate(cluster.view, [claim(request(count=3))], ["n1", "n2"])
    assert attempt.step(Calls(0)) is None
    cluster.table.remove_node("n2")
    assert isinstance(finish(attempt), Rejection)


def test_messages_name_claim_request_and_cause() -> None:
    cluster = Cluster()
    outcome = cluster.allocate(claim(request("r", device_class="nope")))
    assert str(outcome) == "claim default/claim, request r: could not retrieve device class nope: not found"


def test_a_derived_attribute_fails_on_a_device_with_a_value_of_an_unknown_kind_whatever_it_reads() -> None:
    odd = replace(device("a"), unreadable="attribute x: unsupported attribute value (duration)")
    asked = request(derived_attributes=(DerivedAttribute(f"{DRIVER}/x", "true"),))
    cluster = Cluster(resource_slice("s", [odd], node="n1"), features=Features.all_on())
    outcome = cluster.allocate(claim(asked, constraints=[match("x")]))
    assert isinstance(outcome, AllocationError)
    assert outcome.kind == "derived-attribute"
    assert "unsupported attribute value" in str(outcome)


def test_admin_access_that_is_given_at_all_needs_its_feature() -> None:
    cluster = Cluster(resource_slice("s", [device("a")], node="n1"), features=replace(Features(), admin_access=False))
    refused = cluster.allocate(claim(request(admin_access=False)))
    assert isinstance(refused, AllocationError)
    assert refused.kind == "feature-disabled"
    assert isinstance(cluster.allocate(claim(request())), Allocation)


def test_the_limit_of_a_claim_does_not_hide_an_error_of_an_alternative() -> None:
    negative = request("s1", 2, capacity={"memory": Quantity.parse("-1")})
    first = replace(request("r0"), device_class="", first_available=(request("s0"), negative))
    cluster = Cluster(resource_slice("s", [device("a", memory="4")], node="n1"))
    outcome = cluster.allocate(claim(first, request("r1", 31)))
    assert isinstance(outcome, AllocationError)
    assert outcome.kind == "capacity"


def test_mode_all_reaches_the_error_of_a_constraint_before_it_misses_capacity() -> None:
    shared = device("a", memory="4", allow_multiple_allocations=True)
    cluster = Cluster(resource_slice("s", [shared], node="n1"))
    cluster.ledger.observe("uid-other", holding("a", pool="n1", share_id="1", memory="3"))
    derived = DerivedAttribute(f"{DRIVER}/x", f'device.attributes["{DRIVER}"].nosuch')
    outcome = cluster.allocate(claim(request(mode="All", derived_attributes=(derived,)), constraints=[match("x")]))
    assert isinstance(outcome, AllocationError)
    assert outcome.kind == "derived-attribute"
