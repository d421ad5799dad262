"""Rejection.explain: per request and reason, how many devices and nodes fell out."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings

from dra_allocator.claim import DeviceClass, ResourceClaim, Toleration
from dra_allocator.device import CapacityPolicy, DeviceID, DeviceTaint, DeviceTaintRule
from dra_allocator.facts import Condition, Groups, PoolFact, Scarcity, Shortage, TaintFact
from dra_allocator.node import Node
from dra_allocator.outcome import AllocationError
from dra_allocator.rejection import ClaimRejection, Explanation, NearestMiss, Rejection, RequestRejection, Together
from dra_cel.quantity import Quantity
from dra_cel.slices import Slices
from support.clusters import World, worlds
from support.devices import (
    ANY,
    CLASS,
    DRIVER,
    Cluster,
    claim,
    counter_set,
    counters,
    device,
    distinct,
    holding,
    match,
    request,
    resource_slice,
)
from support.world import cluster_of

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


def test_an_operand_that_fails_where_another_is_false_is_not_told_as_a_failure() -> None:
    kind = f'device.attributes["{DRIVER}"].kind == "gpu"'
    cluster = Cluster(
        resource_slice("s", [device("part", model="a", kind="part"), device("nic", model="b")], node="n"), nodes=("n",)
    )
    (one,) = explained(cluster, claim(request(selectors=(f"{MODEL % 'a'} && {kind}",))))
    (told,) = [count for count in one.requests[0].reasons if count.reason == "claim-selector"]
    first, second = told.facts
    assert isinstance(first, Condition)
    assert isinstance(second, Condition)
    assert (first.text, first.false, first.failing, first.error) == (MODEL % "a", 1, 0, "")
    assert (second.text, second.false, second.failing, second.error) == (kind, 1, 0, "")


def test_holders_are_told_for_each_request() -> None:
    cluster = two_nodes()
    for node in ("n1", "n2"):
        cluster.ledger.observe(f"{node}-a", holding("d0", pool=node))
        cluster.ledger.observe(f"{node}-b", holding("d1", pool=node))
    wanted = claim(request("a", selectors=(MODEL % "a",)), request("b", selectors=(MODEL % "b",)))
    (one,) = explained(cluster, wanted)
    assert [sorted(told.in_use_by) for told in one.requests] == [["n1-a", "n2-a"], ["n1-b", "n2-b"]]
    assert sorted(one.in_use_by) == ["n1-a", "n1-b", "n2-a", "n2-b"]
    assert [told.more_in_use for told in one.requests] == [0, 0]


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


def explanation_of(cluster: Cluster, *claims: ResourceClaim) -> Explanation:
    outcome = cluster.allocate(*claims)
    assert isinstance(outcome, Rejection | AllocationError), outcome
    assert outcome.explain is not None
    return outcome.explain()


def test_says_how_many_slices_of_an_incomplete_pool_are_there() -> None:
    cluster = Cluster(resource_slice("s", [device("d0")], node="n1", slice_count=3, generation=7))
    (reason, _) = explanation_of(cluster).claims[0].requests[0].reasons
    assert reason.facts == (PoolFact(f"{DRIVER}/n1", generation=7, slices=1, expected=3),)


def test_says_which_taint_is_not_tolerated() -> None:
    tainted = device("d0", taints=(DeviceTaint("broken", "fan", "NoExecute"),))
    (reason, _) = explanation_of(Cluster(resource_slice("s", [tainted], node="n1"))).claims[0].requests[0].reasons
    assert reason.facts == (TaintFact("broken", "fan", "NoExecute"),)


def test_says_what_is_left_of_a_shared_capacity_and_where_most_is() -> None:
    shared = [device(f"d{n}", memory="80Gi", allow_multiple_allocations=True) for n in range(2)]
    cluster = Cluster(resource_slice("s", shared, node="n1"))
    cluster.ledger.observe("x", holding("d0", pool="n1", share_id="1", memory="70Gi"))
    cluster.ledger.observe("y", holding("d1", pool="n1", share_id="2", memory="60Gi"))
    wanted = claim(request(capacity={"memory": Quantity.parse("30Gi")}))
    (reason, _) = explanation_of(cluster, wanted).claims[0].requests[0].reasons
    assert (reason.reason, reason.devices) == ("capacity", 2)
    assert reason.facts == (Shortage("memory", "30Gi", "20Gi", "80Gi", device=str(DeviceID(DRIVER, "n1", "d1"))),)


def test_says_that_a_request_policy_excludes_an_amount() -> None:
    one = device("d0", "80Gi", CapacityPolicy(valid_values=(Quantity.parse("10Gi"),)), allow_multiple_allocations=True)
    wanted = claim(request(capacity={"memory": Quantity.parse("20Gi")}))
    (reason, _) = explanation_of(Cluster(resource_slice("s", [one], node="n1")), wanted).claims[0].requests[0].reasons
    (fact,) = reason.facts
    assert isinstance(fact, Shortage)
    assert (fact.wanted, fact.left) == ("20Gi", "")


def test_a_class_that_is_not_there_is_named_with_the_nearest_one() -> None:
    (one,) = explanation_of(two_nodes(), claim(request(device_class="gpus"))).missing
    assert (one.kind, one.name, one.request, one.suggestion, one.others) == (
        "DeviceClass",
        "gpus",
        "r",
        CLASS,
        (CLASS,),
    )


def test_an_error_that_no_node_escapes_is_explained_as_well() -> None:
    told = explanation_of(two_nodes(), claim(request(selectors=(MODEL.replace(".model", ".modle") % "a",))))
    (reason, _) = told.claims[0].requests[0].reasons
    assert (reason.reason, reason.devices, reason.nodes) == ("selector-error", 4, 2)


def test_nodes_that_were_not_asked_are_named_if_they_have_enough() -> None:
    cluster = two_nodes()
    cluster.nodes = ["n1"]
    cluster.ledger.observe("x", holding("d0", "d1", pool="n1"))
    elsewhere = explanation_of(cluster).elsewhere
    assert elsewhere is not None
    assert (elsewhere.nodes, elsewhere.names) == (1, ("n2",))
    cluster.ledger.observe("y", holding("d0", "d1", pool="n2"))
    assert explanation_of(cluster).elsewhere is None


def test_one_node_is_explained_as_if_it_were_the_only_one() -> None:
    cluster = two_nodes()
    cluster.ledger.observe("x", holding("d0", pool="n1"))
    outcome = cluster.allocate(claim(request(count=3)))
    assert isinstance(outcome, Rejection)
    assert outcome.explain("n1").claims[0].requests[0].candidates == 1
    assert outcome.explain("n2").claims[0].requests[0].candidates == 2
    assert outcome.explain("gone").nodes == 0


def test_the_nearest_node_is_that_which_lacks_least_of_all_requests_together() -> None:
    plenty = resource_slice("s3", [device(f"d{n}", model="a") for n in range(4)], node="n3")
    cluster = two_nodes(plenty)
    cluster.table.apply_node(Node("n3"))
    cluster.nodes.append("n3")
    wanted = claim(request("a", 9, selectors=(MODEL % "a",)), request("b", 3, selectors=(MODEL % "b",)))
    told = explanation_of(cluster, wanted)
    assert told.nearest == "n3"
    assert told.claims[0].requests[0].nearest == NearestMiss("n3", 9, 4)


def test_several_rules_that_only_together_leave_no_choice_are_all_named() -> None:
    some = [device(f"d{n}", model=model, numa=numa) for n, (model, numa) in enumerate((("a", 1), ("a", 1), ("b", 2)))]
    cluster = Cluster(resource_slice("s", some, node="n1"))
    constraints = [distinct("model"), distinct("numa")]
    (one,) = together(cluster, claim(request(count=3), constraints=constraints))
    assert one.reason == "several-rules"
    assert f"constraint on {DRIVER}/model" in one.detail
    assert f"constraint on {DRIVER}/numa" in one.detail


def test_what_fits_by_now_is_said_to_fit() -> None:
    cluster = two_nodes()
    for node in ("n1", "n2"):
        cluster.ledger.observe(node, holding("d0", "d1", pool=node))
    outcome = cluster.allocate()
    assert isinstance(outcome, Rejection)
    cluster.ledger.observe("n2", None)
    assert outcome.explain().fits_on == "n2"


def test_holders_are_looked_up_for_some_hundred_devices_those_of_the_nearest_node_first() -> None:
    slices = [resource_slice(f"s{n}", [device(f"d{i}") for i in range(8)], node=f"m{n}") for n in range(60)]
    cluster = Cluster(*slices, nodes=[f"m{n}" for n in range(60)])
    for n in range(60):
        cluster.ledger.observe(f"of-{n}", holding(*[f"d{i}" for i in range(7 if n == 59 else 8)], pool=f"m{n}"))
    (one,) = explained(cluster, claim(request(count=2)))
    assert "of-59" in one.in_use_by
    assert one.more_in_use == 60 * 8 - 1 - 256


def test_requests_that_are_alike_are_looked_at_once_and_too_many_different_ones_are_left_out() -> None:
    alike = [claim(request(count=9), name=f"c{n}") for n in range(20)]
    assert explanation_of(two_nodes(), *alike).left_out == 0
    different = [claim(request(count=9, selectors=(MODEL % n,)), name=f"c{n}") for n in range(20)]
    assert explanation_of(two_nodes(), *different).left_out == 12


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(worlds())
def test_every_device_that_the_nodes_see_is_left_or_fell_out_for_one_reason(world: World) -> None:
    cluster = cluster_of(world)
    outcome = cluster.allocate(*world.claims)
    if not isinstance(outcome, Rejection | AllocationError) or outcome.explain is None:
        return
    told = outcome.explain()
    requests = [one for entry in told.claims for one in entry.requests]
    totals = {one.candidates + sum(reason.devices for reason in one.reasons) for one in requests}
    assert len(totals) <= 1
    for one in requests:
        assert one.of_class <= max(totals)
        assert (one.nearest is None) == bool(one.nodes_enough) or not told.nodes
    assert told.fits_on == ""


def test_an_explanation_in_slices_says_the_same_and_one_of_what_was_before_is_never_mixed_in() -> None:
    cluster = two_nodes()
    wanted = claim(request(selectors=(MODEL % "c",)), request("other", 2, selectors=(MODEL % "a", "true")))
    outcome = cluster.allocate(wanted)
    assert isinstance(outcome, Rejection)
    expected = cluster.allocator.explain(cluster.view, [wanted], cluster.nodes)()
    work: Slices[Explanation] = Slices(cluster.allocator.explain(cluster.view, [wanted], cluster.nodes))
    rests = 0
    while not work.step(lambda: True):
        rests += 1
    assert rests > 5
    assert work.value == expected
    work = Slices(cluster.allocator.explain(cluster.view, [wanted], cluster.nodes))
    for _ in range(4):
        assert not work.step(lambda: True)
    cluster.table.apply_slice(
        resource_slice("more", [device(f"m{n}", model="b") for n in range(100)], node="n1", pool="q")
    )
    while not work.step(lambda: True):
        pass
    assert work.value.claims[0].requests[0].of_class == 104
    assert work.value == cluster.allocator.explain(cluster.view, [wanted], cluster.nodes)()
