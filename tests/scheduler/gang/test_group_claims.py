"""Claims that the pods of a PodGroup share: for whom they are reserved, and when they are given up."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from dra_scheduler.cycle.decision import Bind, Reject
from dra_scheduler.feature_gates import NEWEST_MINOR, FeatureGates
from dra_scheduler.gang.consumers import consumer
from dra_scheduler.gang.giving_up import DEALLOCATED, GROUP_DEALLOCATED
from dra_scheduler.settings import Settings
from support.faulty import Faulty
from support.gangs import GATES, SCHEDULING, SETTINGS, member, pod_group
from support.known import decide, known_cluster, known_pod
from support.objects import make_allocation, make_claim, make_node, make_pod, make_slice, meta
from support.refusing import Refusing
from support.stage import Raw, Stage, claim, device_class, node, on_stage, pod, resource_slice, template

SHARED = [{"name": "shared", "resourceClaimName": "c"}]
FOR_PODS = Settings(feature_gates={"GenericWorkload": True})
ON_N2 = {"nodeSelector": {"kubernetes.io/hostname": "n2"}}


async def two_nodes(stage: Stage) -> None:
    await stage.create(device_class())
    for name in ("n1", "n2"):
        await stage.create(node(name), resource_slice(name, 2))


async def group_uid(stage: Stage) -> str:
    raw = await stage.send("GET", f"/apis/{SCHEDULING}/namespaces/default/podgroups/group")
    return str(raw["metadata"]["uid"])


async def reservations(stage: Stage, name: str = "c") -> list[str]:
    """Kind and name of each."""
    status = (await stage.claims())[name].get("status") or {}
    return [f"{entry['resource']} {entry['name']}" for entry in status.get("reservedFor") or ()]


async def allocated_on(stage: Stage, name: str = "c") -> str:
    """The pool of the claim's device, which is the node's name; "": not allocated."""
    status = (await stage.claims())[name].get("status") or {}
    results = ((status.get("allocation") or {}).get("devices") or {}).get("results") or [{"pool": ""}]
    return str(results[0]["pool"])


async def allocate(stage: Stage, name: str, device: str, *reserved: Raw) -> None:
    """A claim that was allocated on n1 some time ago."""
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}
    result = {"request": "gpu", "driver": "gpu.example.com", "pool": "n1", "device": device}
    allocation = {"devices": {"results": [result]}, "nodeSelector": {"nodeSelectorTerms": [term]}}
    await stage.create(claim(name))
    await stage.patch(claim(name), {"status": {"allocation": allocation, "reservedFor": list(reserved)}}, "status")


async def for_group(stage: Stage) -> Raw:
    group = {"apiGroup": "scheduling.k8s.io", "resource": "podgroups", "name": "group"}
    return group | {"uid": await group_uid(stage)}


def test_the_groups_claim_is_reserved_once_for_all_its_pods() -> None:
    async def play(stage: Stage) -> None:
        await two_nodes(stage)
        await stage.create(claim("c"), pod_group(resourceClaims=SHARED))
        await stage.create(member("a", claim="c"), member("b", claim="c"))
        await stage.settle(1)
        assert await reservations(stage) == ["podgroups group"]
        nodes = await stage.nodes_of_pods()
        assert nodes["a"] == nodes["b"] != ""
        # Another pod of the group needs nothing more.
        before = (await stage.claims())["c"]
        await stage.create(member("third", claim="c"))
        await stage.settle(1)
        assert (await stage.nodes_of_pods())["third"] == nodes["a"]
        assert (await stage.claims())["c"] == before

    on_stage(play, SETTINGS)


def test_without_the_gate_each_pod_has_its_own_reservation() -> None:
    async def play(stage: Stage) -> None:
        await two_nodes(stage)
        await stage.create(claim("c"), pod_group(resourceClaims=SHARED))
        await stage.create(member("a", claim="c"), member("b", claim="c"))
        await stage.settle(1)
        assert sorted(await reservations(stage)) == ["pods a", "pods b"]

    on_stage(play, FOR_PODS)


@pytest.mark.parametrize(("gate", "resource"), [(True, "podgroups"), (False, "pods")])
def test_a_claim_made_from_the_groups_template_is_reserved_for_the_group(gate: bool, resource: str) -> None:
    cluster = known_cluster()
    cluster.use(FeatureGates.of({**GATES, "DRAWorkloadResourceClaims": gate}, NEWEST_MINOR))
    entry = [{"name": "shared", "resourceClaimTemplateName": "t"}]
    raw: dict[str, Any] = {
        "metadata": meta("group"),
        "spec": {"schedulingPolicy": {"basic": {}}, "resourceClaims": entry},
        "status": {"resourceClaimStatuses": [{"name": "shared", "resourceClaimName": "c"}]},
    }
    cluster.apply_pod_group(None, raw)
    made = make_claim("c")
    owner = {"apiVersion": SCHEDULING, "kind": "PodGroup", "name": "group", "uid": "uid-group", "controller": True}
    made["metadata"]["ownerReferences"] = [owner]
    cluster.apply_claim(None, made)
    named = {"claims": entry, "statuses": {"shared": "c"}}
    asking = known_pod(cluster, make_pod("p", schedulingGroup={"podGroupName": "group"}, **named))
    found = cluster.claims.get("default", "c")
    assert found is not None
    assert consumer(asking, found, cluster).resource == resource


def test_a_binding_that_fails_leaves_the_groups_reservation() -> None:
    async def play(stage: Stage) -> None:
        await stage.kill()
        refusing = Refusing(stage.transport, "POST", "/binding")
        await stage.start(refusing)
        await two_nodes(stage)
        await stage.create(claim("c"), pod_group(min_count=None, resourceClaims=SHARED), member("a", claim="c"))
        await asyncio.sleep(0.5)
        assert refusing.count
        assert await allocated_on(stage)
        refusing.on = False
        await stage.settle(30)
        assert (await stage.nodes_of_pods())["a"]
        assert await reservations(stage) == ["podgroups group"]

    on_stage(play, SETTINGS)


@pytest.mark.parametrize("reserved", [True, False])
def test_a_claim_on_the_wrong_node_is_given_up_while_no_pod_of_the_group_has_one(reserved: bool) -> None:
    async def play(stage: Stage) -> None:
        await stage.kill()
        await two_nodes(stage)
        await stage.create(pod_group(resourceClaims=SHARED))
        await allocate(stage, "c", "gpu-0-0", *([await for_group(stage)] if reserved else []))
        await stage.create(*(member(name, claim="c", **ON_N2) for name in "ab"))
        await stage.start()
        await stage.settle(30)
        assert await allocated_on(stage) == "n2"
        assert (await stage.nodes_of_pods()) == {"a": "n2", "b": "n2"}
        notes = " ".join(event["note"] for event in await stage.events("FailedScheduling"))
        assert (GROUP_DEALLOCATED if reserved else DEALLOCATED) in notes

    on_stage(play, SETTINGS)


def test_a_pod_beyond_those_that_a_gang_needs_gives_up_its_claim_on_the_wrong_node_at_once() -> None:
    async def play(stage: Stage) -> None:
        await stage.kill()
        await two_nodes(stage)
        await stage.create(pod_group())
        await allocate(stage, "c", "gpu-0-0")
        await stage.create(*(member(name) for name in "ab"), member("late", claim="c", **ON_N2))
        await stage.start()
        await stage.settle(20)
        assert (await stage.nodes_of_pods())["late"] == "n2"

    on_stage(play, SETTINGS)


def test_a_pod_beyond_those_that_a_gang_needs_leaves_the_claim_with_which_the_others_were_just_placed() -> None:
    async def play(stage: Stage) -> None:
        await stage.kill()
        transport = Faulty(stage.transport)
        await two_nodes(stage)
        await stage.create(pod_group())
        await allocate(stage, "c", "gpu-0-0")
        await stage.create(*(member(name, claim="c") for name in "ab"), member("late", claim="c", **ON_N2))
        await stage.start(transport)
        await stage.settle(20)
        assert await stage.nodes_of_pods() == {"a": "n1", "b": "n1", "late": ""}
        written = transport.sent("PATCH /apis/resource.k8s.io/v1/namespaces/default/resourceclaims/c/status")
        assert [b'"allocation":null' in (each.body or b"") for each in written] == [False, False]

    on_stage(play, FOR_PODS)


def test_without_the_gate_a_group_reservation_is_somebody_elses() -> None:
    async def play(stage: Stage) -> None:
        await stage.kill()
        await two_nodes(stage)
        await stage.create(pod_group(resourceClaims=SHARED))
        await allocate(stage, "c", "gpu-0-0", await for_group(stage))
        await stage.create(*(member(name, claim="c", **ON_N2) for name in "ab"))
        await stage.start()
        await asyncio.sleep(30)
        assert await allocated_on(stage) == "n1"
        assert await reservations(stage) == ["podgroups group"]

    on_stage(play, FOR_PODS)


def test_a_claim_stays_while_a_pod_of_the_group_runs_with_it() -> None:
    async def play(stage: Stage) -> None:
        await two_nodes(stage)
        await stage.create(claim("c"), pod_group(min_count=None, resourceClaims=SHARED))
        on_n1 = {"nodeSelector": {"kubernetes.io/hostname": "n1"}}
        await stage.create(member("a", claim="c", **on_n1))
        await stage.settle(1)
        await stage.create(member("b", claim="c", **ON_N2))
        await stage.settle(30)
        assert await stage.nodes_of_pods() == {"a": "n1", "b": ""}
        assert await allocated_on(stage) == "n1"
        assert await reservations(stage) == ["podgroups group"]

    on_stage(play, SETTINGS)


def test_a_claim_stays_that_a_pod_of_the_group_is_just_reserving() -> None:
    async def play(stage: Stage) -> None:
        await stage.kill()
        await two_nodes(stage)
        await stage.create(pod_group(min_count=None, resourceClaims=SHARED))
        await allocate(stage, "c", "gpu-0-0")
        await stage.create(member("a", claim="c"))

        async def another() -> None:
            await stage.create(member("b", claim="c", **ON_N2))
            await asyncio.sleep(0.2)

        transport = Faulty(stage.transport)
        transport.meanwhile("PATCH /apis/resource.k8s.io/v1/namespaces/default/resourceclaims/c/status", another)
        await stage.start(transport)
        await asyncio.sleep(5)
        assert await stage.nodes_of_pods() == {"a": "n1", "b": ""}
        assert await allocated_on(stage) == "n1"
        assert await reservations(stage) == ["podgroups group"]

    on_stage(play, SETTINGS)


def test_of_two_claims_on_the_wrong_node_the_one_that_others_use_stays() -> None:
    async def play(stage: Stage) -> None:
        await stage.kill()
        await two_nodes(stage)
        await stage.create(pod_group(min_count=None, resourceClaims=SHARED))
        await stage.create(pod("other", claim="c", schedulerName="another", nodeName="n1"))
        uid = (await stage.pod("other"))["metadata"]["uid"]
        await allocate(stage, "c", "gpu-0-0", {"resource": "pods", "name": "other", "uid": uid})
        await allocate(stage, "d", "gpu-0-1")
        both = member("a", claim="c", **ON_N2)
        both["spec"]["resourceClaims"].append({"name": "own", "resourceClaimName": "d"})
        await stage.create(both)
        await stage.start()
        await asyncio.sleep(5)
        assert await allocated_on(stage, "d") == ""
        assert await allocated_on(stage) == "n1"

    on_stage(play, SETTINGS)


def test_a_pod_of_a_group_gives_up_its_own_claim_too() -> None:
    async def play(stage: Stage) -> None:
        await stage.kill()
        await two_nodes(stage)
        await stage.create(pod_group(min_count=None))
        await allocate(stage, "c", "gpu-0-0")
        await stage.create(member("a", claim="c", **ON_N2))
        await stage.start()
        await stage.settle(30)
        assert await allocated_on(stage) == "n2"

    on_stage(play, SETTINGS)


def test_what_a_group_gives_up_without_a_claim_is_nothing() -> None:
    async def play(stage: Stage) -> None:
        await two_nodes(stage)
        await stage.create(pod_group(min_count=None), member("a", nodeSelector={"no": "where"}))
        await stage.settle(5)
        assert (await stage.condition("a"))[2].startswith("0/2 nodes are available: 2 node(s) didn't match")

    on_stage(play, SETTINGS)


def test_a_pod_of_a_group_gives_up_the_special_claim_of_an_earlier_attempt() -> None:
    async def play(stage: Stage) -> None:
        await stage.kill()
        await two_nodes(stage)
        await stage.patch(device_class(), {"spec": {"extendedResourceName": "example.com/gpu"}})
        asking = member("a")
        amounts = {"example.com/gpu": "1"}
        asking["spec"]["containers"][0]["resources"] = {"requests": amounts, "limits": amounts}
        await stage.create(pod_group(min_count=None), asking)
        uid = (await stage.pod("a"))["metadata"]["uid"]
        left = claim("a-extended-resources-0")
        left["metadata"] |= {
            "annotations": {"resource.kubernetes.io/extended-resource-claim": "true"},
            "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "a", "uid": uid, "controller": True}],
        }
        await stage.create(left)
        await stage.start()
        await stage.settle(30)
        assert (await stage.nodes_of_pods())["a"]
        (name,) = await stage.claims()
        assert name != "a-extended-resources-0"

    on_stage(play, SETTINGS)


def test_a_group_without_room_lets_its_claim_go() -> None:
    """The claim is not in the way by itself: its node just has no room, so the group's reservation goes first."""

    async def play(stage: Stage) -> None:
        await stage.kill()
        await two_nodes(stage)
        await stage.create(pod_group(resourceClaims=SHARED))
        await allocate(stage, "c", "gpu-0-0", await for_group(stage))
        # Each pod wants three devices of its own beside the group's claim, which n1 does not have.
        await stage.create(template("own", 3))
        for name in "ab":
            both = member(name, claim="c")
            both["spec"]["resourceClaims"].append({"name": "own", "resourceClaimTemplateName": "own"})
            await stage.create(both)
        await stage.start()
        await asyncio.sleep(10)
        assert await reservations(stage) == []
        assert await stage.nodes_of_pods() == {"a": "", "b": ""}

    on_stage(play, SETTINGS)


def test_a_mapped_claim_of_the_group_is_for_one_of_its_pods_at_a_time() -> None:
    gates = GATES | {"DRANodeAllocatableResources": True}
    cluster = known_cluster([make_node("n1")])
    cluster.use(FeatureGates.of(gates, NEWEST_MINOR))
    raw = make_slice("n1", 1)
    raw["spec"]["devices"][0]["nodeAllocatableResources"] = {"cpu": {"mapping": {"deviceMultiplier": "1"}}}
    cluster.apply_slice(None, raw)
    made = make_claim("c", allocation=make_allocation("gpu-0", node="n1"))
    group = {"apiGroup": "scheduling.k8s.io", "resource": "podgroups", "name": "group", "uid": "uid-group"}
    made["status"]["reservedFor"] = [group]
    cluster.apply_claim(None, made)

    def asking(name: str, of: str) -> Raw:
        return make_pod(name, claims=SHARED, schedulingGroup={"podGroupName": of})

    stranger = decide(cluster, asking("stranger", "another"))
    assert isinstance(stranger, Reject)
    assert ["cannot be shared across pods" in reason for reason in stranger.counts] == [True]
    assert isinstance(decide(cluster, asking("a", "group")), Bind)
