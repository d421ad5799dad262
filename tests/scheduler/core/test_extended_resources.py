"""Extended resources served by devices, on the whole stage: the special claim from its making to its end."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from dra_allocator.allocator import Allocator
from dra_api.references import RESOURCE_QUOTA
from dra_scheduler.cycle.decision import Bind, Reject
from dra_scheduler.feature_gates import NEWEST_MINOR, FeatureGates
from dra_scheduler.settings import Settings
from support.faulty import Faulty
from support.held_watch import HeldClaimWatch
from support.invariants import check_invariants
from support.known import decide, known_cluster, make_cycle
from support.objects import make_allocation, make_claim, make_class, make_node, make_pod, make_slice
from support.refusing import Refusing
from support.stage import Raw, Stage, claim, device_class, node, on_stage, pod, resource_slice

NAME = "example.com/gpu"
IMPLICIT = "deviceclass.resource.kubernetes.io/gpu"
ANNOTATION = "resource.kubernetes.io/extended-resource-claim"


def backed_class(name: str = "gpu", resource: str = NAME) -> Raw:
    made = device_class(name)
    made["spec"]["extendedResourceName"] = resource
    return made


def asking(name: str, **resources: str) -> Raw:
    made = pod(name)
    made["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "100m"} | resources, "limits": resources}
    return made


def asks(name: str, count: int = 1, resource: str = NAME) -> Raw:
    return asking(name, **{resource: str(count)})


async def cluster(stage: Stage, *nodes: Raw, devices: int = 2) -> None:
    made = nodes or (node("n1"),)
    slices = [resource_slice(each["metadata"]["name"], devices) for each in made] if devices else []
    await stage.create(*made, *slices, backed_class())


async def only_claim(stage: Stage) -> Raw:
    claims = list((await stage.claims()).values())
    assert len(claims) == 1
    return claims[0]


@pytest.mark.parametrize("resource", [NAME, IMPLICIT])
def test_devices_serve_a_resource_that_the_node_does_not_have(resource: str) -> None:
    async def play(stage: Stage) -> tuple[Raw, Raw]:
        await cluster(stage)
        await stage.create(asks("my-pod", 2, resource))
        await stage.settle()
        return await stage.pod("my-pod"), await only_claim(stage)

    bound, claim = on_stage(play)
    assert bound["spec"]["nodeName"] == "n1"
    assert claim["metadata"]["name"].startswith("my-pod-extended-resources-")
    assert claim["metadata"]["annotations"] == {ANNOTATION: "true"}
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "my-pod", "uid": bound["metadata"]["uid"], "controller": True}
    assert claim["metadata"]["ownerReferences"] == [owner]
    (request,) = claim["spec"]["devices"]["requests"]
    assert request["name"] == "container-0-request-1"
    assert request["exactly"] == {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 2}
    assert len(claim["status"]["allocation"]["devices"]["results"]) == 2
    assert claim["status"]["reservedFor"][0]["uid"] == bound["metadata"]["uid"]
    assert bound["status"]["extendedResourceClaimStatus"] == {
        "resourceClaimName": claim["metadata"]["name"],
        "requestMappings": [{"containerName": "main", "resourceName": resource, "requestName": request["name"]}],
    }
    assert bound["status"]["phase"] == "Running"


def test_a_device_plugin_wins_where_there_is_one_even_when_all_is_taken() -> None:
    async def play(stage: Stage) -> tuple[dict[str, str], int, tuple[str, str, str]]:
        await cluster(stage, node("n1", **{NAME: "1"}))
        await stage.create(asks("first"))
        await stage.settle()
        await stage.create(asks("second"))
        await stage.settle()
        return await stage.nodes_of_pods(), len(await stage.claims()), await stage.condition("second")

    nodes, claims, condition = on_stage(play)
    assert (nodes, claims) == ({"first": "n1", "second": ""}, 0)
    assert f"1 Insufficient {NAME}" in condition[2]


def test_a_node_without_the_plugin_serves_what_another_has_no_more_of() -> None:
    async def play(stage: Stage) -> tuple[dict[str, str], int]:
        await stage.create(node("plugin", **{NAME: "1"}), node("devices"), resource_slice("devices", 1), backed_class())
        for name in ("a", "b"):
            await stage.create(asks(name))
            await stage.settle()
        return await stage.nodes_of_pods(), len(await stage.claims())

    nodes, claims = on_stage(play)
    assert sorted(nodes.values()) == ["devices", "plugin"]
    assert claims == 1


def test_one_resource_by_the_plugin_and_one_by_devices() -> None:
    async def play(stage: Stage) -> Raw:
        await cluster(stage, node("n1", **{"example.com/other": "4"}))
        await stage.create(asking("p", **{NAME: "1", "example.com/other": "1"}))
        await stage.settle()
        assert (await stage.nodes_of_pods())["p"] == "n1"
        return await only_claim(stage)

    claim = on_stage(play)
    assert [request["name"] for request in claim["spec"]["devices"]["requests"]] == ["container-0-request-1"]


def test_a_node_that_has_none_of_it_is_served_by_devices() -> None:
    async def play(stage: Stage) -> int:
        await cluster(stage, node("n1", **{NAME: "0"}))
        await stage.create(asks("p"))
        await stage.settle()
        assert (await stage.nodes_of_pods())["p"] == "n1"
        return len(await stage.claims())

    assert on_stage(play) == 1


def test_no_class_stands_for_the_resource_until_there_is_one() -> None:
    async def play(stage: Stage) -> tuple[str, str]:
        await stage.create(node("n1"), resource_slice("n1", 1), device_class())
        await stage.create(asks("p"))
        await stage.settle()
        before = (await stage.condition("p"))[2]
        await stage.patch(device_class(), {"spec": {"extendedResourceName": NAME}})
        await stage.settle()
        return before, (await stage.nodes_of_pods())["p"]

    before, at = on_stage(play)
    assert before.startswith(f"0/1 nodes are available: 1 Insufficient {NAME}.")
    assert at == "n1"


def test_no_devices_leave_the_pod_waiting_without_a_claim() -> None:
    async def play(stage: Stage) -> tuple[str, int, str]:
        await cluster(stage, devices=0)
        await stage.create(asks("p"))
        await stage.settle()
        message, claims = (await stage.condition("p"))[2], len(await stage.claims())
        await stage.create(resource_slice("n1", 1))
        await stage.settle()
        return message, claims, (await stage.nodes_of_pods())["p"]

    message, claims, at = on_stage(play)
    assert message.startswith("0/1 nodes are available: 1 cannot allocate all claims.")
    assert (claims, at) == (0, "n1")


def test_the_gate_switches_it_off() -> None:
    async def play(stage: Stage) -> str:
        await cluster(stage)
        await stage.create(asks("p"))
        await stage.settle()
        return (await stage.condition("p"))[2]

    message = on_stage(play, Settings(feature_gates={"DRAExtendedResource": False}))
    assert message.startswith(f"0/1 nodes are available: 1 Insufficient {NAME}.")


def test_a_pod_may_have_claims_of_its_own_beside() -> None:
    async def play(stage: Stage) -> list[str]:
        await cluster(stage)
        await stage.create(claim("own"))
        mixed = pod("p", claim="own")
        mixed["spec"]["containers"][0]["resources"]["requests"][NAME] = "1"
        mixed["spec"]["containers"][0]["resources"]["limits"] = {NAME: "1"}
        await stage.create(mixed)
        await stage.settle()
        assert (await stage.nodes_of_pods())["p"] == "n1"
        claims = (await stage.claims()).values()
        results = [each["status"]["allocation"]["devices"]["results"] for each in claims]
        return sorted(result["device"] for some in results for result in some)

    assert on_stage(play) == ["gpu-0-0", "gpu-0-1"]


def test_the_claim_of_an_earlier_attempt_is_deleted_and_made_anew() -> None:
    async def play(stage: Stage) -> tuple[Raw, Raw]:
        await stage.kill()
        await cluster(stage, devices=1)
        waiting = asks("p")
        await stage.create(waiting)
        owner = {"apiVersion": "v1", "kind": "Pod", "name": "p", "controller": True}
        left = {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceClaim",
            "metadata": {
                "name": "p-extended-resources-0",
                "namespace": "default",
                "annotations": {ANNOTATION: "true"},
                "finalizers": ["resource.kubernetes.io/delete-protection"],
                "ownerReferences": [owner | {"uid": (await stage.pod("p"))["metadata"]["uid"]}],
            },
            "spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu"}}]}},
        }
        await stage.create(left)
        await stage.start()
        await stage.settle()
        return await stage.pod("p"), await only_claim(stage)

    bound, claim = on_stage(play)
    assert bound["spec"]["nodeName"] == "n1"
    assert claim["metadata"]["name"] != "p-extended-resources-0"


async def left_over(stage: Stage, finalizers: list[str], allocation: Raw | None) -> Raw:
    """A pod, and the claim that an earlier attempt has made for it."""
    await stage.create(asks("p"))
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "p", "controller": True}
    left = claim("p-extended-resources-0")
    left["metadata"] |= {
        "annotations": {ANNOTATION: "true"},
        "finalizers": finalizers,
        "ownerReferences": [owner | {"uid": (await stage.pod("p"))["metadata"]["uid"]}],
    }
    await stage.create(left)
    if allocation is not None:
        await stage.patch(left, {"status": {"allocation": allocation}}, "status")
    return left


@pytest.mark.parametrize("allocated", [True, False])
def test_a_claim_that_somebody_else_protects_keeps_its_device_and_its_pod_until_it_is_gone(allocated: bool) -> None:
    async def play(stage: Stage) -> None:
        await stage.kill()
        await cluster(stage, devices=1)
        allocation = make_allocation("gpu-0-0", node="n1") if allocated else None
        finalizers = ["resource.kubernetes.io/delete-protection", "example.com/hold"]
        left = await left_over(stage, finalizers, allocation)
        transport = Faulty(stage.transport)
        await stage.start(transport)
        await stage.settle(30)
        if allocated:
            await stage.create(asks("q"))
            await stage.settle(30)
            assert (await stage.nodes_of_pods())["q"] == ""
            await stage.delete(asks("q"))
            await stage.settle(30)
        assert (await stage.nodes_of_pods())["p"] == ""
        assert (await only_claim(stage))["metadata"]["deletionTimestamp"]
        assert len(transport.sent("GET /apis/resource.k8s.io/v1/namespaces/default/resourceclaims/p-")) < 10
        assert "deletion of ResourceClaim completed" in (await stage.condition("p"))[2]
        await stage.patch(left, {"metadata": {"finalizers": None}})
        await stage.settle(30)
        await check_invariants(stage)
        assert (await stage.nodes_of_pods())["p"] == "n1"

    on_stage(play)


def test_a_quota_that_refuses_the_claim_leaves_the_pod_unschedulable_until_it_does_not() -> None:
    async def play(stage: Stage) -> tuple[tuple[str, str, str], str]:
        await stage.kill()
        refusing = Refusing(stage.transport, "POST", "/resourceclaims", "exceeded quota: gpus")
        await stage.start(refusing)
        await cluster(stage)
        await stage.create(asks("p"))
        await asyncio.sleep(5)
        condition = await stage.condition("p")
        refusing.on = False
        await stage.settle(15)
        return condition, (await stage.nodes_of_pods())["p"]

    condition, at = on_stage(play)
    assert condition == (
        "False",
        "Unschedulable",
        "create claim for extended resources default/p-extended-resources-: exceeded quota: gpus",
    )
    assert at == "n1"


def test_a_pod_that_a_quota_refuses_moves_when_the_quota_changes_and_not_before() -> None:
    async def play(stage: Stage) -> None:
        await stage.kill()
        stage.cluster.server.register(RESOURCE_QUOTA)
        refusing = Refusing(stage.transport, "POST", "/resourceclaims", "exceeded quota: gpus")
        await stage.start(refusing)
        await cluster(stage)
        quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "gpus", "namespace": "default"}}
        await stage.create(quota, asks("p"))
        await asyncio.sleep(60)
        tries = refusing.count
        await asyncio.sleep(120)
        assert refusing.count == tries <= 3
        refusing.on = False
        await stage.patch(quota, {"spec": {"hard": {"gpus": "9"}}})
        await stage.settle(2)
        assert (await stage.nodes_of_pods())["p"] == "n1"

    on_stage(play)


def with_plugin() -> Raw:
    """A roomy node that has the resource itself, so that a pod needs no claim there."""
    return node("n2", cpu="64", **{NAME: "1"})


async def a_node_comes(stage: Stage) -> None:
    await stage.create(with_plugin())


async def a_node_gets_a_plugin(stage: Stage) -> None:
    await stage.patch(node("n2"), {"status": {"allocatable": {NAME: "1"}}}, "status")


async def a_pod_leaves(stage: Stage) -> None:
    await stage.delete(pod("holder"))


HOLDER = asks("holder") | {"spec": asks("holder")["spec"] | {"nodeSelector": {"kubernetes.io/hostname": "n2"}}}
WITHOUT_CLAIM: dict[str, tuple[tuple[Raw, ...], Callable[[Stage], Awaitable[None]]]] = {
    "a node comes that has the resource itself": ((), a_node_comes),
    "a node gets the resource itself": ((node("n2", cpu="64"),), a_node_gets_a_plugin),
    "a pod leaves a node that has the resource itself": ((with_plugin(), HOLDER), a_pod_leaves),
}


@pytest.mark.parametrize("name", WITHOUT_CLAIM)
def test_a_pod_that_a_quota_refuses_moves_when(name: str) -> None:
    given, act = WITHOUT_CLAIM[name]

    async def play(stage: Stage) -> None:
        await stage.kill()
        stage.cluster.server.register(RESOURCE_QUOTA)
        await stage.start(Refusing(stage.transport, "POST", "/resourceclaims", "exceeded quota: gpus"))
        await cluster(stage)
        await stage.create(*given)
        await stage.settle(2)
        await stage.create(asks("p"))
        await asyncio.sleep(60)
        assert (await stage.nodes_of_pods())["p"] == ""
        await act(stage)
        await asyncio.sleep(15)
        assert (await stage.nodes_of_pods())["p"] == "n2"

    on_stage(play)


def test_a_binding_that_fails_leaves_no_claim_and_a_name_that_the_next_replaces() -> None:
    async def play(stage: Stage) -> tuple[dict[str, Raw], Raw, Raw, str]:
        await stage.kill()
        refusing = Refusing(stage.transport, "POST", "/binding")
        await stage.start(refusing)
        await cluster(stage, devices=1)
        await stage.create(asks("p"))
        await asyncio.sleep(0.5)
        claims, before = await stage.claims(), (await stage.pod("p"))["status"]
        refusing.on = False
        # The status names a claim that is gone: a kubelet would wait for it where none is needed.
        await stage.create(node("plugin", **{NAME: "1", "cpu": "64"}))
        await stage.settle(15)
        bound = await stage.pod("p")
        return claims, before, bound["status"], bound["spec"]["nodeName"]

    claims, before, after, at = on_stage(play)
    assert claims == {}
    names = [status["extendedResourceClaimStatus"]["resourceClaimName"] for status in (before, after)]
    assert names[0] != names[1]
    assert (at, after["phase"]) == ("n1", "Running")


def test_a_failing_write_of_the_status_undoes_the_claim() -> None:
    async def play(stage: Stage) -> tuple[int, dict[str, Raw], str]:
        await stage.kill()
        refusing = Refusing(stage.transport, "PATCH", "/pods/p/status", holding=b'"requestMappings"')
        await stage.start(refusing)
        await cluster(stage, devices=1)
        await stage.create(asks("p"))
        await asyncio.sleep(0.5)
        claims = await stage.claims()
        refusing.on = False
        await stage.settle(15)
        return refusing.count, claims, (await stage.nodes_of_pods())["p"]

    count, claims, at = on_stage(play)
    assert count
    assert claims == {}
    assert at == "n1"


def test_the_claim_ends_with_its_pod_and_the_next_gets_the_device() -> None:
    async def play(stage: Stage) -> tuple[str, list[str]]:
        await cluster(stage, devices=1)
        first = asks("first")
        await stage.create(first)
        await stage.settle()
        await stage.create(asks("second"))
        await stage.settle()
        await stage.delete(first)
        await stage.settle()
        return (await stage.nodes_of_pods())["second"], list(await stage.claims())

    at, claims = on_stage(play)
    assert at == "n1"
    assert [name.startswith("second-extended-resources-") for name in claims] == [True]


def test_a_claim_that_came_and_went_while_nobody_was_watching_holds_no_device() -> None:
    async def play(stage: Stage) -> None:
        await stage.kill()
        transport = HeldClaimWatch(stage.transport, held=False, expires=True)
        await stage.start(transport)
        await cluster(stage, devices=1)
        await stage.settle()
        transport.held = True
        await stage.create(asks("first"))
        await asyncio.sleep(5)
        assert (await stage.nodes_of_pods())["first"] == "n1"
        await stage.delete(pod("first"))
        await asyncio.sleep(5)
        assert not await stage.claims()
        transport.let_go()
        await asyncio.sleep(5)
        await stage.create(asks("second"))
        await asyncio.sleep(5)
        assert (await stage.nodes_of_pods())["second"] == "n1"

    on_stage(play)


def test_a_decision_that_is_not_carried_out_leaves_nothing() -> None:
    cluster = known_cluster([make_node("n0")], devices=1)
    stands_for = make_class()
    stands_for["spec"]["extendedResourceName"] = NAME
    cluster.apply_class(make_class(), stands_for)
    decision = decide(cluster, make_pod("p", requests={NAME: "1"}))
    assert isinstance(decision, Bind)
    assert isinstance(decide(cluster, make_pod("q", requests={NAME: "1"})), Reject)
    decided = cluster.pods.get("uid-p")
    assert decided is not None
    cluster.forget(decided, decision.new_claims)
    assert len(cluster.claims) == 0
    assert isinstance(decide(cluster, make_pod("r", requests={NAME: "1"})), Bind)


def test_without_the_gate_a_name_in_the_status_from_before_keeps_no_node_away() -> None:
    cluster = known_cluster([make_node("n0", **{NAME: "1"})])
    cluster.use(FeatureGates.of({"DRAExtendedResource": False}, NEWEST_MINOR))
    waiting = make_pod("p", requests={NAME: "1"})
    waiting["status"]["extendedResourceClaimStatus"] = {"resourceClaimName": "gone", "requestMappings": []}
    assert isinstance(decide(cluster, waiting), Bind)


@pytest.mark.parametrize("before", ["2", "0"])
def test_a_node_whose_device_plugin_comes_or_goes_during_the_search_is_asked_for_what_it_has_then(before: str) -> None:
    after = "0" if before == "2" else "2"
    cluster = known_cluster([make_node("n0", cpu="64", **{NAME: before}), make_node("n1", **{NAME: after})])
    stands_for = make_class()
    stands_for["spec"]["extendedResourceName"] = NAME
    cluster.apply_class(make_class(), stands_for)
    for name in ("n0", "n1"):
        cluster.apply_slice(None, make_slice(name, 2))

    class Meanwhile(Allocator):
        def allocate(self, *args: Any, **more: Any) -> Any:
            cluster.apply_node(None, make_node("n0", cpu="64", **{NAME: after}))
            return super().allocate(*args, **more)

    cycle = make_cycle(cluster, allocator=Meanwhile(share_ids=str))
    decision = decide(cluster, make_pod("p", requests={NAME: "1"}), cycle)
    assert isinstance(decision, Bind)
    assert decision.node == "n0"
    assert (decision.special is None) == (after == "2")


def test_beside_a_special_claim_that_has_to_go_first_no_other_claim_is_given_up() -> None:
    cluster = known_cluster([make_node("n0"), make_node("n1")], devices=1)
    stands_for = make_class()
    stands_for["spec"]["extendedResourceName"] = NAME
    cluster.apply_class(make_class(), stands_for)
    cluster.apply_claim(None, make_claim("c", allocation=make_allocation("gpu-0", node="n0"), reserved=["p"]))
    left = make_claim("p-extended-resources-x", owner="p")
    left["metadata"]["annotations"] = {ANNOTATION: "true"}
    cluster.apply_claim(None, left)
    claims = [{"name": "c", "resourceClaimName": "c"}]
    reject = decide(cluster, make_pod("p", requests={NAME: "1"}, claims=claims))
    assert isinstance(reject, Reject)
    assert reject.counts == {"cannot schedule extended resource claim": 2}
    assert reject.release == ("uid-p-extended-resources-x",)
