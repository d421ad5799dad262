"""The smallest case of each bug that Kubernetes' allocator has or had, and of what is easily lost."""

from __future__ import annotations

import pytest

from dra_allocator.claim import Constraint
from dra_allocator.device import DeviceID, NodeScope
from dra_allocator.outcome import AllocationResult, DeviceResult
from dra_allocator.rejection import Rejection
from dra_cel.quantity import Quantity
from support.devices import (
    DRIVER,
    Cluster,
    claim,
    counter_set,
    counters,
    device,
    distinct,
    holding,
    match,
    picked,
    request,
    resource_slice,
)


def on_one_node(*devices: object) -> Cluster:
    return Cluster(resource_slice("s", devices, node="n1"))  # type: ignore[arg-type]


def test_distinct_values_differ_from_all_others_not_only_from_the_last() -> None:
    cluster = on_one_node(device("a", numa=1), device("b", numa=2), device("c", numa=1))
    wanted = claim(request(count=3), constraints=[distinct("numa")])
    assert isinstance(cluster.allocate(wanted), Rejection)


def test_what_devices_have_in_common_is_restored_after_a_step_back() -> None:
    devices = [device(str(number), numa=value) for number, value in enumerate([(1, 2), (1,), (2,), (2,)])]
    outcome = on_one_node(*devices).allocate(claim(request(count=3), constraints=[match("numa")]))
    assert picked(outcome) == [["0", "2", "3"]]


@pytest.mark.parametrize("order", [1, -1])
def test_every_constraint_of_a_claim_counts(order: int) -> None:
    constraints: list[Constraint] = [match("numa"), match("model")][::order]
    devices = [device("a", numa=1, model="x"), device("b", numa=1, model="y"), device("c", numa=2, model="x")]
    assert isinstance(on_one_node(*devices).allocate(claim(request(count=2), constraints=constraints)), Rejection)
    fitting = device("d", numa=2, model="x")
    assert picked(on_one_node(*devices, fitting).allocate(claim(request(count=2), constraints=constraints))) == [
        ["c", "d"]
    ]


def test_counters_of_two_drivers_are_two_though_pools_and_sets_have_one_name() -> None:
    def pool(prefix: str, driver: str) -> list[object]:
        shape = {"pool": "p", "driver": driver, "slice_count": 2}
        sets = resource_slice(f"{prefix}-sets", node="n1", shared_counters=(counter_set("set", slots=1),), **shape)  # type: ignore[arg-type]
        part = device(f"{prefix}-part", consumes_counters=(counters("set", slots=1),))
        return [sets, resource_slice(f"{prefix}-devices", [part], node="n1", **shape)]  # type: ignore[arg-type]

    both = [*pool("one", DRIVER), *pool("two", "zzz.example.com")]
    assert picked(Cluster(*both).allocate(claim(request(count=2)))) == [["one-part", "two-part"]]  # type: ignore[arg-type]
    held = AllocationResult((DeviceResult("r", DeviceID(DRIVER, "p", "one-part")),))
    cluster = Cluster(*both)  # type: ignore[arg-type]
    cluster.ledger.observe("uid-other", held)
    assert picked(cluster.allocate(claim())) == [["two-part"]]


def test_counters_are_free_again_after_a_step_back() -> None:
    sets = resource_slice("sets", node="n1", pool="p", slice_count=2, shared_counters=(counter_set("set", slots=2),))
    large = device("large", numa=1, consumes_counters=(counters("set", slots=2),))
    small = [device(f"small-{n}", numa=2, consumes_counters=(counters("set", slots=1),)) for n in range(2)]
    parts = resource_slice("parts", [large, *small], node="n1", pool="p", slice_count=2)
    assert picked(Cluster(sets, parts).allocate(claim(request(count=2)))) == [["small-0", "small-1"]]


def test_nothing_comes_from_an_older_generation_though_the_newest_serves_other_nodes() -> None:
    old = resource_slice("old", [device("a")], pool="p", scope=NodeScope(node_name="n1"), generation=1)
    new = resource_slice("new", [device("b")], pool="p", scope=NodeScope(node_name="n2"), generation=2)
    assert isinstance(Cluster(old, new, nodes=("n1",)).allocate(claim()), Rejection)


def test_admin_access_takes_nothing_from_others() -> None:
    cluster = on_one_node(device("a"))
    admin = claim(request(admin_access=True), name="admin")
    assert picked(cluster.allocate(admin, claim())) == [["a"], ["a"]]
    result = AllocationResult((DeviceResult("r", DeviceID(DRIVER, "n1", "a"), admin_access=True),))
    cluster.ledger.observe("uid-admin", result)
    assert picked(cluster.allocate(claim())) == [["a"]]


def test_a_device_that_is_held_as_a_whole_is_not_shared_whoever_else_holds_a_share() -> None:
    shared = device("a", memory="4", allow_multiple_allocations=True)
    cluster = on_one_node(shared)
    cluster.ledger.observe("uid-share", holding("a", pool="n1", share_id="1", memory="1"))
    cluster.ledger.observe("uid-whole", holding("a", pool="n1"))
    one = claim(request(capacity={"memory": Quantity.from_int(1)}))
    assert isinstance(cluster.allocate(one), Rejection)


def test_a_device_with_a_share_is_not_given_away_as_a_whole() -> None:
    cluster = on_one_node(device("a"))
    cluster.ledger.observe("uid-share", holding("a", pool="n1", share_id="1"))
    assert isinstance(cluster.allocate(claim()), Rejection)
