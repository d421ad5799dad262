"""Every event that can make a pod schedulable wakes it at once; nothing else does, and nothing spins."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from support.objects import make_allocation
from support.stage import GROUP, Raw, Stage, claim, device_class, node, on_stage, pod, resource_slice, template

SOON = 15.0
"""Seconds: backoff ends within 10, the flush of forgotten pods comes after 300."""

Act = Callable[[Stage], Awaitable[None]]
TAINT = {"key": "example.com/broken", "effect": "NoSchedule"}
RULE: Raw = {
    "apiVersion": GROUP,
    "kind": "DeviceTaintRule",
    "metadata": {"name": "broken"},
    "spec": {"deviceSelector": {"driver": "gpu.example.com"}, "taint": TAINT},
}
FINALIZERS = {"metadata": {"finalizers": ["resource.kubernetes.io/delete-protection"]}}


def labelled(name: str, **labels: str) -> Raw:
    found = node(name)
    found["metadata"]["labels"] |= labels
    return found


def selecting(key: str, value: str) -> Raw:
    """A pool for the nodes that have a label."""
    found = resource_slice("n0", 1)
    del found["spec"]["nodeName"]
    term = {"matchExpressions": [{"key": key, "operator": "In", "values": [value]}]}
    found["spec"]["nodeSelector"] = {"nodeSelectorTerms": [term]}
    return found


def tainted_node() -> Raw:
    return node("n0") | {"spec": {"taints": [{"key": "a", "effect": "NoSchedule"}]}}


def tainted_slice() -> Raw:
    found = resource_slice("n0", 1)
    found["spec"]["devices"][0]["taints"] = [TAINT]
    return found


def creates(*objects: Raw) -> Act:
    async def act(stage: Stage) -> None:
        await stage.create(*objects)

    return act


def deletes(obj: Raw) -> Act:
    async def act(stage: Stage) -> None:
        await stage.delete(obj)

    return act


def patches(obj: Raw, change: Raw, subresource: str = "") -> Act:
    async def act(stage: Stage) -> None:
        await stage.patch(obj, change, subresource)

    return act


async def allocate_elsewhere(stage: Stage) -> None:
    """Another scheduler allocates the pod's claim, on devices of its own."""
    await stage.patch(claim("c"), FINALIZERS)
    allocation = make_allocation("other-device", node="n0")
    await stage.patch(claim("c"), {"status": {"allocation": allocation}}, "status")


def namespace(**labels: str) -> Raw:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default", "labels": labels}}


def admin_claim() -> Raw:
    found = claim("c")
    found["spec"]["devices"]["requests"][0]["exactly"]["adminAccess"] = True
    return found


READY = (node("n0"), device_class(), claim("c"))
HOLDER = pod("holder", claim="taken")

CASES: dict[str, tuple[tuple[Raw, ...], Act]] = {
    "the claim is created": ((node("n0"), device_class(), resource_slice("n0", 1)), creates(claim("c"))),
    "the claim is allocated by somebody else": (READY, allocate_elsewhere),
    "devices are freed": (
        (*READY, resource_slice("n0", 1), claim("taken"), HOLDER),
        deletes(HOLDER),
    ),
    "a slice is added": (READY, creates(resource_slice("n0", 1))),
    "a slice gets a device": (
        (*READY, resource_slice("n0", 0)),
        patches(resource_slice("n0", 0), {"spec": {"devices": [{"name": "new"}]}}),
    ),
    "a slice too many is deleted, and the pool is whole": (
        (*READY, resource_slice("n0", 1), resource_slice("n0", 1, number=1)),
        deletes(resource_slice("n0", 1, number=1)),
    ),
    "the slice that a pool lacks is added": (
        (*READY, resource_slice("n0", 1, slices=2)),
        creates(resource_slice("n0", 1, slices=2, number=1)),
    ),
    "a device's taint is taken away": (
        (*READY, tainted_slice()),
        patches(tainted_slice(), {"spec": {"devices": [{"name": "gpu-0-0"}]}}),
    ),
    "the class is created": ((node("n0"), claim("c"), resource_slice("n0", 1)), creates(device_class())),
    "the class selects other devices": (
        (node("n0"), claim("c"), resource_slice("n0", 1), device_class("gpu", "false")),
        patches(device_class(), {"spec": {"selectors": None}}),
    ),
    "a taint rule is deleted": ((*READY, resource_slice("n0", 1), RULE), deletes(RULE)),
    "a taint rule means others": (
        (*READY, resource_slice("n0", 1), RULE),
        patches(RULE, {"spec": {"deviceSelector": {"driver": "other.example.com"}}}),
    ),
    "a node comes": ((device_class(), claim("c"), resource_slice("n0", 1)), creates(node("n0"))),
    "a node gets the label that its devices ask for": (
        (*READY, selecting("zone", "a")),
        patches(node("n0"), {"metadata": {"labels": {"zone": "a"}}}),
    ),
    "a node loses a taint": (
        (tainted_node(), device_class(), claim("c"), resource_slice("n0", 1)),
        patches(node("n0"), {"spec": {"taints": None}}),
    ),
    "a node gets room": (
        (node("n0", cpu="10m"), device_class(), claim("c"), resource_slice("n0", 1)),
        patches(node("n0"), {"status": {"allocatable": {"cpu": "8"}}}, "status"),
    ),
    "a pod makes room": (
        (*READY, resource_slice("n0", 1), pod("holder", cpu="8")),
        deletes(pod("holder")),
    ),
}


def test_a_pod_wakes_when_its_namespace_may_have_admin_access_again() -> None:
    async def play(stage: Stage) -> None:
        allowed = {"metadata": {"labels": {"resource.kubernetes.io/admin-access": "true"}}}
        await stage.create(node("n0"), device_class(), resource_slice("n0", 1))
        await stage.patch(namespace(), allowed)
        await stage.create(admin_claim())
        await stage.patch(namespace(), {"metadata": {"labels": None}})
        await stage.create(pod("p", claim="c"))
        await stage.settle(2 * SOON)
        assert (
            "admin access needs the label resource.kubernetes.io/admin-access=true" in (await stage.condition("p"))[2]
        )
        await stage.patch(namespace(), allowed)
        await asyncio.sleep(SOON)
        assert (await stage.nodes_of_pods())["p"] == "n0"

    on_stage(play)


@pytest.mark.parametrize("name", CASES)
def test_a_pod_wakes_when(name: str) -> None:
    given, act = CASES[name]

    async def play(stage: Stage) -> None:
        await stage.create(*given)
        await stage.settle()
        await stage.create(pod("p", claim="c"))
        await stage.settle(2 * SOON)
        assert (await stage.nodes_of_pods())["p"] == ""
        scheduler = stage.scheduler
        assert scheduler is not None
        before = scheduler.counts.unschedulable
        assert before <= 2, "tried again though nothing happened"
        await act(stage)
        await asyncio.sleep(SOON)
        assert (await stage.nodes_of_pods())["p"] == "n0"
        assert scheduler.counts.unschedulable <= before + 1
        assert scheduler.counts.errors == 0

    on_stage(play)


@pytest.mark.parametrize("comes", [False, True])
def test_a_pod_wakes_when_a_node_declares_what_it_requires(comes: bool) -> None:
    declared = {"status": {"declaredFeatures": ["UserNamespacesHostNetworkSupport"]}}

    async def play(stage: Stage) -> None:
        await stage.create(node("n0"), device_class(), resource_slice("n0", 1), resource_slice("n1", 1), claim("c"))
        await stage.settle()
        await stage.create(pod("p", claim="c", hostNetwork=True, hostUsers=False))
        await stage.settle(2 * SOON)
        assert (await stage.condition("p"))[2].startswith(
            "0/1 nodes are available: 1 node(s) didn't match Pod's required features."
        )
        scheduler = stage.scheduler
        assert scheduler is not None
        before = scheduler.counts.unschedulable
        await stage.patch(node("n0"), {"status": {"allocatable": {"cpu": "9"}}}, "status")
        await asyncio.sleep(SOON)
        assert scheduler.counts.unschedulable == before, "tried again for nothing"
        if comes:
            able = node("n1")
            await stage.create(able | {"status": able["status"] | declared["status"]})
        else:
            await stage.patch(node("n0"), declared, "status")
        await asyncio.sleep(SOON)
        assert (await stage.nodes_of_pods())["p"] == ("n1" if comes else "n0")

    on_stage(play)


def test_a_pod_wakes_when_the_claim_of_its_template_is_named() -> None:
    async def play(stage: Stage) -> None:
        await stage.create(node("n0"), device_class(), resource_slice("n0", 1), pod("p", template="gpu"))
        await stage.settle(2 * SOON)
        assert (await stage.nodes_of_pods())["p"] == ""
        await stage.create(template())
        await asyncio.sleep(SOON)
        assert (await stage.nodes_of_pods())["p"] == "n0"

    on_stage(play)


NOTHING: dict[str, Act] = {
    "another pod's claim": creates(claim("other")),
    "a node's annotation": patches(node("n0"), {"metadata": {"annotations": {"a": "b"}}}),
    "a claim's annotation": patches(claim("c"), {"metadata": {"annotations": {"a": "b"}}}),
    "a pod without devices": creates(pod("plain")),
}


@pytest.mark.parametrize("name", NOTHING)
def test_a_pod_is_not_tried_again_for(name: str) -> None:
    async def play(stage: Stage) -> None:
        await stage.create(*READY, pod("p", claim="c"))
        await stage.settle(2 * SOON)
        scheduler = stage.scheduler
        assert scheduler is not None
        before = scheduler.counts.unschedulable
        await NOTHING[name](stage)
        await asyncio.sleep(2 * SOON)
        assert scheduler.counts.unschedulable == before

    on_stage(play)
