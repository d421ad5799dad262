"""Taints of devices: which keep pods away, and what comes between decision and binding."""

from __future__ import annotations

import asyncio

import pytest

from dra_scheduler.settings import Settings
from support.faulty import Faulty
from support.invariants import check_invariants
from support.stage import GROUP, Raw, Stage, claim, device_class, node, on_stage, pod, resource_slice

CLAIM_STATUS = "PATCH /apis/resource.k8s.io/v1/namespaces/default/resourceclaims/c/status"
BINDING = "POST /api/v1/namespaces/default/pods/p/binding"
TAINT = {"key": "example.com/broken", "effect": "NoSchedule"}
TOLERATION = {"key": "example.com/broken", "operator": "Exists"}


def rule(device: str, effect: str = "NoSchedule") -> Raw:
    selector = {"driver": "gpu.example.com", "device": device}
    spec = {"deviceSelector": selector, "taint": {**TAINT, "effect": effect}}
    return {"apiVersion": GROUP, "kind": "DeviceTaintRule", "metadata": {"name": f"broken-{device}"}, "spec": spec}


def tainted(node_name: str, effect: str) -> Raw:
    found = resource_slice(node_name, 1)
    found["spec"]["devices"][0]["taints"] = [{**TAINT, "effect": effect}]
    return found


def tolerant() -> Raw:
    found = claim("c")
    found["spec"]["devices"]["requests"][0]["exactly"]["tolerations"] = [TOLERATION]
    return found


async def begin(stage: Stage, *objects: Raw) -> Faulty:
    transport = Faulty(stage.transport)
    await stage.create(node("n0"), device_class(), *objects)
    await stage.start(transport)
    await stage.settle()
    return transport


async def device_of(stage: Stage, name: str = "c") -> str:
    results = (await stage.claims())[name]["status"]["allocation"]["devices"]["results"]
    return str(results[0]["device"])


@pytest.mark.parametrize("effect", ["NoSchedule", "NoExecute"])
def test_a_pod_waits_for_a_tainted_device_until_the_taint_is_gone(effect: str) -> None:
    async def play(stage: Stage) -> None:
        await begin(stage, tainted("n0", effect), claim("c"), pod("p", claim="c"))
        await stage.settle(20)
        assert (await stage.nodes_of_pods())["p"] == ""
        await stage.patch(resource_slice("n0", 1), {"spec": {"devices": [{"name": "gpu-0-0"}]}})
        await stage.settle()
        assert (await stage.nodes_of_pods())["p"] == "n0"

    on_stage(play, start=False)


@pytest.mark.parametrize("effect", ["NoSchedule", "NoExecute"])
def test_a_rule_keeps_pods_away_until_it_is_gone(effect: str) -> None:
    async def play(stage: Stage) -> None:
        await begin(stage, resource_slice("n0", 1), rule("gpu-0-0", effect), claim("c"), pod("p", claim="c"))
        await stage.settle(20)
        assert (await stage.nodes_of_pods())["p"] == ""
        await stage.delete(rule("gpu-0-0", effect))
        await stage.settle()
        assert (await stage.nodes_of_pods())["p"] == "n0"

    on_stage(play, start=False)


def test_tolerated_taints_and_those_without_effect_keep_nobody_away() -> None:
    async def play(stage: Stage) -> None:
        await begin(stage, tainted("n0", "NoSchedule"), tolerant(), pod("p", claim="c"))
        await stage.create(node("n1"), tainted("n1", "None"), claim("d"), pod("q", claim="d"))
        await stage.settle()
        assert await stage.nodes_of_pods() == {"p": "n0", "q": "n1"}

    on_stage(play, start=False)


def test_taints_are_ignored_while_the_gate_is_off() -> None:
    async def play(stage: Stage) -> None:
        await begin(stage, tainted("n0", "NoSchedule"), claim("c"), pod("p", claim="c"))
        await stage.settle()
        assert (await stage.nodes_of_pods())["p"] == "n0"

    on_stage(play, Settings(feature_gates={"DRADeviceTaints": False}), start=False)


def test_a_device_that_is_tainted_between_decision_and_binding_is_given_up_for_another() -> None:
    async def play(stage: Stage) -> None:
        transport = await begin(stage, resource_slice("n0", 2), claim("c"))
        transport.meanwhile(CLAIM_STATUS, lambda: stage.create(rule("gpu-0-0")))
        await stage.create(pod("p", claim="c"))
        await stage.settle()
        await check_invariants(stage)
        assert (await stage.nodes_of_pods())["p"] == "n0"
        assert await device_of(stage) == "gpu-0-1"
        assert len(transport.sent(BINDING)) == 1

    on_stage(play, start=False)


def test_a_tolerated_taint_that_comes_between_decision_and_binding_changes_nothing() -> None:
    async def play(stage: Stage) -> None:
        transport = await begin(stage, resource_slice("n0", 2), tolerant())
        transport.meanwhile(CLAIM_STATUS, lambda: stage.create(rule("gpu-0-0")))
        await stage.create(pod("p", claim="c"))
        await stage.settle()
        assert await device_of(stage) == "gpu-0-0"

    on_stage(play, start=False)


def test_a_pod_that_waits_for_a_device_to_be_attached_goes_elsewhere_once_that_is_tainted() -> None:
    async def play(stage: Stage) -> None:
        slices = resource_slice("n0", 2)
        slices["spec"]["devices"][0] |= {"bindingConditions": ["Attached"], "bindingFailureConditions": ["Broken"]}
        await begin(stage, slices, claim("c"))
        await stage.create(pod("p", claim="c"))
        await asyncio.sleep(5)
        first = await device_of(stage)
        assert first == "gpu-0-0"
        await stage.create(rule(first))
        await stage.settle()
        assert (await stage.nodes_of_pods())["p"] == "n0"
        assert await device_of(stage) != first

    on_stage(play, start=False)


def test_a_pod_that_is_gone_when_its_claim_would_be_reserved_reserves_nothing() -> None:
    async def play(stage: Stage) -> None:
        transport = await begin(stage, resource_slice("n0", 2), claim("c"), claim("d"))
        both = pod("p", claim="c")
        both["spec"]["resourceClaims"].append({"name": "other", "resourceClaimName": "d"})

        async def ends() -> None:
            await stage.delete(both)
            # The watch has told of it when the answer comes.
            await asyncio.sleep(1)

        transport.meanwhile(CLAIM_STATUS, ends)
        await stage.create(both)
        await stage.settle()
        assert len(transport.sent(CLAIM_STATUS)) >= 1
        assert not transport.sent(CLAIM_STATUS.replace("/c/", "/d/"))
        assert not (await stage.claims())["d"].get("status", {}).get("reservedFor")

    on_stage(play, start=False)
