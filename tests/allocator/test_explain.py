"""Rejection.explain: per request and reason, how many devices and nodes fell out."""

from __future__ import annotations

from dra_allocator.claim import DeviceClass, ResourceClaim, Toleration
from dra_allocator.device import DeviceTaint, DeviceTaintRule
from dra_allocator.facts import Groups, Scarcity, Shortage
from dra_allocator.rejection import ClaimRejection, NearestMiss, Rejection, RequestRejection, Together
from support.devices import (
    ANY,
    CLASS,
    DRIVER,
    Cluster,
    claim,
    counter_set,
    counters,
    device,
    holding,
    match,
    request,
    resource_slice,
)

MODEL = f'device.attributes["{DRIVER}"].model == "%s"'


def explained(cluster: Cluster, *claims: ResourceClaim) -> tuple[ClaimRejection, ...]:
    outcome = cluster.allocate(*claims)
    assert isinstance(outcome, Rejection), outcome
    return outcome.explain().claims


def together(cluster: Cluster, *claims: ResourceClaim) -> tuple[Together, ...]:
    outcome = cluster.allocate(*claims)
    assert isinstance(outcome, Rejection), outcome
    return outcome.explain().together


def reasons(one: RequestRejection) -> dict[tuple[str, str], tuple[int, int]]:
    return {(count.reason, count.detail): (count.devices, count.nodes) for count in one.reasons}


def two_nodes(*slices: object) -> Cluster:
    local = [
        resource_slice(f"s-{node}", [device("d0", model="a"), device("d1", model="b")], node=node)
        for node in ("n1", "n2")
    ]
    return Cluster(*local, *slices, nodes=("n1", "n2"))  # type: ignore[arg-type]


def test_says_which_selector_of_the_claim_is_false_and_for_how_many() -> None:
    cluster = two_nodes()
    (one,) = explained(cluster, claim(request(selectors=("true", MODEL % "c"))))
    assert reasons(one.requests[0]) == {("claim-selector", "selector 1"): (4, 2), ("too-few", ""): (0, 2)}
    assert one.requests[0].candidates == 0


def test_says_which_selector_of_the_class_is_false() -> None:
    cluster = two_nodes()
    cluster.table.apply_class(DeviceClass(CLASS, (MODEL % "a",)))
    (one,) = explained(cluster, claim(request(count=2)))
    assert reasons(one.requests[0])["class-selector", "selector 0"] == (2, 2)
    assert one.requests[0].nearest == NearestMiss("n1", 2, 1, {"class-selector": 1})


def test_counts_devices_in_use_and_names_the_holders() -> None:
    cluster = two_nodes()
    cluster.ledger.observe("other", holding("d0", "d1", pool="n1"))
    (one,) = explained(cluster, claim(request(count=3)))
    assert reasons(one.requests[0])["in-use", ""] == (2, 1)
    assert {uid: len(devices) for uid, devices in one.in_use_by.items()} == {"other": 2}
    assert one.requests[0].nearest == NearestMiss("n2", 3, 2)


def test_a_selector_that_fails_is_told_from_one_that_is_false() -> None:
    cluster = Cluster(resource_slice("s", [device("d0"), device("d1", model="b")], node="n1"))
    outcome = cluster.allocate(claim(request(selectors=(f"device.driver == '{DRIVER}x'",))))
    assert isinstance(outcome, Rejection)
    cluster.nodes = ["n1"]
    cluster.ledger.observe("other", holding("d0", pool="n1"))
    (one,) = explained(cluster, claim(request(selectors=(MODEL % "a",))))
    assert reasons(one.requests[0])["selector-error", "selector 0"] == (1, 1)
    assert reasons(one.requests[0])["claim-selector", "selector 0"] == (1, 1)


def test_names_the_taint_of_the_device_or_of_a_rule() -> None:
    cluster = two_nodes(
        resource_slice("t", [device("t0", taints=(DeviceTaint("broken"),))], scope=ANY, pool="shared"),
    )
    cluster.table.apply_taint_rule(DeviceTaintRule("all", DeviceTaint("drained"), pool="n1"))
    cluster.table.apply_taint_rule(DeviceTaintRule("two", DeviceTaint("drained"), pool="n2"))
    (one,) = explained(cluster, claim())
    assert reasons(one.requests[0])["tainted", "broken"] == (1, 2)
    assert reasons(one.requests[0])["tainted", "drained"] == (4, 2)
    (one,) = explained(cluster, claim(request(count=4, tolerations=(Toleration("drained", "Exists"),))))
    assert ("tainted", "drained") not in reasons(one.requests[0])


def test_counts_incomplete_pools() -> None:
    cluster = Cluster(resource_slice("s", [device("d0")], node="n1", slice_count=2))
    (one,) = explained(cluster, claim())
    assert reasons(one.requests[0])["incomplete-pool", f"{DRIVER}/n1"] == (1, 1)


def test_names_the_constraint_that_keeps_enough_devices_apart() -> None:
    cluster = two_nodes()
    wanted = claim(request(count=2), constraints=[match("model")])
    (one,) = together(cluster, wanted)
    assert one == Together(
        "constraint",
        nodes=2,
        looked_at=2,
        claim="default/claim",
        requests=("r",),
        node="n1",
        detail=f"{DRIVER}/model",
        facts=(Groups("match", f"{DRIVER}/model", wanted=2, most=1, value='"a"'),),
    )
    (other,) = explained(cluster, wanted)
    assert other.requests[0].nearest is None


def test_names_counters() -> None:
    partitions = [device(f"d{n}", consumes_counters=(counters("set", slots=1),)) for n in range(3)]
    cluster = Cluster(
        resource_slice("c", shared_counters=(counter_set("set", slots=2),), node="n1", slice_count=2),
        resource_slice("s", partitions, node="n1", slice_count=2),
    )
    (one,) = together(cluster, claim(request(count=3)))
    assert (one.reason, one.nodes, one.node) == ("counters", 1, "n1")
    assert one.facts == (Shortage("slots", "3", "2", "2", counter_set="set", pool=f"{DRIVER}/n1"),)


def test_two_requests_that_fit_alone_are_too_many_together() -> None:
    cluster = two_nodes()
    (one,) = together(cluster, claim(request("a", 2), request("b", 1)))
    assert (one.reason, one.requests, one.facts) == ("too-few", ("a", "b"), (Scarcity(wanted=3, most=2),))


def test_no_device_at_all() -> None:
    (one,) = explained(Cluster(nodes=("n1", "n2")), claim())
    assert reasons(one.requests[0]) == {("no-device-visible", ""): (0, 2), ("too-few", ""): (0, 2)}


def test_describes_each_alternative_under_its_own_name() -> None:
    both = (request("big", 5), request("small", 3))
    cluster = two_nodes()
    (one,) = explained(cluster, claim(request("r", device_class="", first_available=both)))
    assert [(entry.request, entry.wanted) for entry in one.requests] == [("r/big", 5), ("r/small", 3)]


def test_a_costly_selector_is_evaluated_on_some_devices_only_and_the_others_are_not_called_failures() -> None:
    many = resource_slice("s", [device(f"d{number}", model="a") for number in range(40)], node="n1")
    costly = "size(lists.range(40).map(a, lists.range(40).map(b, size(device.attributes[device.driver])))) == 0"
    (one,) = explained(Cluster(many, nodes=("n1",)), claim(request(selectors=(costly,))))
    found = reasons(one.requests[0])
    evaluated, left_out = found["claim-selector", "selector 0"][0], found["not-evaluated", "selector 0"][0]
    assert evaluated + left_out == 40
    assert 1 <= evaluated <= 10
    assert ("selector-error", "selector 0") not in found
