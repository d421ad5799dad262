"""Waiting for binding conditions (KEP-5007): restarts, shared claims, devices that many nodes reach."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from dra_embedded.virtual_time import VirtualClock, run_virtual
from dra_scheduler.device_wait import DeviceWait
from dra_scheduler.settings import Settings
from dra_scheduler.signals import Signals
from dra_scheduler.slots import Slot
from dra_scheduler.writes.errors import BindLostError
from dra_scheduler.writes.refs import PodRef
from support.invariants import check_invariants
from support.known import known_cluster
from support.objects import make_pod
from support.stage import Raw, Stage, claim, device_class, node, on_stage, pod, resource_slice

NODES = tuple(f"n{number}" for number in range(6))


def fabric(devices: int = 1) -> Raw:
    """Devices that every node can reach, and that are attached to one of them."""
    made = resource_slice("fabric", devices)
    made["spec"] = {key: value for key, value in made["spec"].items() if key != "nodeName"} | {"allNodes": True}
    for device in made["spec"]["devices"]:
        device |= {"bindingConditions": ["Attached"], "bindingFailureConditions": ["Broken"]}
    return made


async def report(stage: Stage, condition: str) -> None:
    (result,) = (await stage.claims())["c"]["status"]["allocation"]["devices"]["results"]
    entry = {"type": condition, "status": "True", "reason": "Test", "message": "gone"}
    device = {key: result[key] for key in ("driver", "pool", "device")}
    told = {**device, "conditions": [{**entry, "lastTransitionTime": "2026-01-01T00:00:00Z"}]}
    await stage.patch(claim("c"), {"status": {"devices": [told]}}, "status")


async def waiting_pod(stage: Stage, devices: int = 1, pods: tuple[str, ...] = ("p",)) -> None:
    await stage.create(device_class(), claim("c"), fabric(devices), *map(node, NODES))
    await stage.create(*(pod(name, claim="c") for name in pods))
    await asyncio.sleep(5)
    assert set((await stage.nodes_of_pods()).values()) == {""}


@pytest.mark.parametrize("seed", range(5))
def test_after_a_restart_a_pod_goes_to_the_node_that_its_device_is_being_attached_to(seed: int) -> None:
    async def play(stage: Stage) -> None:
        await waiting_pod(stage)
        nominated = (await stage.pod("p"))["status"]["nominatedNodeName"]
        await stage.kill()
        await stage.start()
        await asyncio.sleep(5)
        assert (await stage.pod("p"))["status"]["nominatedNodeName"] == nominated
        await report(stage, "Attached")
        await stage.settle(1)
        assert await stage.nodes_of_pods() == {"p": nominated}

    on_stage(play, seed=seed)


def test_a_restart_neither_writes_the_claim_anew_nor_begins_the_time_anew() -> None:
    async def play(stage: Stage) -> None:
        await waiting_pod(stage)
        before = (await stage.claims())["c"]
        for _ in range(3):
            await asyncio.sleep(150)
            await stage.kill()
            await stage.start()
        await asyncio.sleep(10)
        assert (await stage.claims())["c"] == before
        await asyncio.sleep(150)
        after = (await stage.claims())["c"]["status"]["allocation"]["allocationTimestamp"]
        assert after > before["status"]["allocation"]["allocationTimestamp"]

    on_stage(play)


def test_devices_that_failed_are_given_up_and_others_taken() -> None:
    async def play(stage: Stage) -> None:
        await waiting_pod(stage, devices=2)
        first = (await stage.claims())["c"]["status"]["allocation"]["devices"]["results"][0]["device"]
        await stage.patch(
            fabric(2), {"spec": {"devices": [d for d in fabric(2)["spec"]["devices"] if d["name"] != first]}}
        )
        await report(stage, "Broken")
        await asyncio.sleep(30)
        second = (await stage.claims())["c"]["status"]["allocation"]["devices"]["results"][0]["device"]
        assert second != first
        await report(stage, "Attached")
        await stage.settle(1)
        assert (await stage.nodes_of_pods())["p"]

    on_stage(play)


def test_a_claim_of_several_waiting_pods_is_given_up_once_none_has_it_reserved() -> None:
    async def play(stage: Stage) -> None:
        await waiting_pod(stage, pods=("p", "q"))
        assert len((await stage.claims())["c"]["status"]["reservedFor"]) == 2
        before = (await stage.claims())["c"]["status"]["allocation"]["allocationTimestamp"]
        await report(stage, "Broken")
        await asyncio.sleep(60)
        status = (await stage.claims())["c"]["status"]
        assert status["allocation"]["allocationTimestamp"] > before
        assert not status.get("devices")
        await report(stage, "Attached")
        await stage.settle(1)
        assert all((await stage.nodes_of_pods()).values())
        await check_invariants(stage)

    on_stage(play)


def test_a_device_in_use_by_a_bound_pod_is_never_given_up() -> None:
    async def play(stage: Stage) -> None:
        await waiting_pod(stage)
        await report(stage, "Attached")
        await stage.settle(1)
        await report(stage, "Broken")
        before = (await stage.claims())["c"]["status"]["allocation"]
        await stage.create(pod("late", claim="c"))
        await asyncio.sleep(30)
        assert (await stage.claims())["c"]["status"]["allocation"] == before
        assert not (await stage.nodes_of_pods())["late"]

    on_stage(play)


def test_the_time_to_wait_can_be_set() -> None:
    async def play(stage: Stage) -> None:
        await waiting_pod(stage)
        await asyncio.sleep(30)
        assert any("device binding timeout" in event["note"] for event in await stage.events("FailedScheduling"))

    on_stage(play, Settings(binding_timeout=20))


async def allocated_by_others(stage: Stage) -> None:
    await stage.create(device_class(), claim("c"), fabric(), *map(node, NODES))
    result: Raw = {"request": "gpu", "driver": "gpu.example.com", "pool": "fabric", "device": "gpu-0-0"}
    result |= {"bindingConditions": ["Attached"], "bindingFailureConditions": ["Broken"]}
    await stage.patch(claim("c"), {"status": {"allocation": {"devices": {"results": [result]}}}}, "status")


@pytest.mark.parametrize("gate", ["DRADeviceBindingConditions", "DRAResourceClaimDeviceStatus"])
@pytest.mark.parametrize("broken", [False, True])
def test_with_the_gate_off_nobody_asks_for_binding_conditions_that_an_allocation_has(gate: str, broken: bool) -> None:
    async def play(stage: Stage) -> None:
        await allocated_by_others(stage)
        if broken:
            await report(stage, "Broken")
        await stage.create(pod("p", claim="c"))
        await stage.settle(5)
        assert (await stage.nodes_of_pods())["p"]

    on_stage(play, Settings(feature_gates={gate: False}))


def test_devices_that_others_allocated_without_a_time_stamp_are_not_waited_for_without_end() -> None:
    async def play(stage: Stage) -> None:
        await allocated_by_others(stage)
        await stage.create(pod("p", claim="c"))
        await asyncio.sleep(15)
        assert not await stage.events("FailedScheduling")
        await asyncio.sleep(10)
        (event,) = await stage.events("FailedScheduling")
        assert event["note"] == "device binding timeout: claim=default/c"
        # When it began is not known, so it is not given up, and waited for anew.
        await report(stage, "Attached")
        await asyncio.sleep(15)
        assert (await stage.nodes_of_pods())["p"]

    on_stage(play, Settings(binding_timeout=20))


def test_what_happens_during_the_wait_is_not_kept_for_the_pod_that_waits() -> None:
    async def play(stage: Stage) -> None:
        await waiting_pod(stage)
        for number in range(20):
            await stage.create(node(f"later{number}"))
        await asyncio.sleep(5)
        assert stage.scheduler is not None
        assert stage.scheduler.queue.events_kept == 0

    on_stage(play)


def test_a_pod_that_is_being_deleted_no_longer_waits_for_its_devices() -> None:
    async def play(stage: Stage) -> None:
        held = pod("p", claim="c")
        held["metadata"]["finalizers"] = ["example.com/held"]
        await stage.create(device_class(), claim("c"), fabric(), *map(node, NODES), held)
        await asyncio.sleep(5)
        assert (await stage.claims())["c"]["status"]["reservedFor"]
        await stage.delete(pod("p"))
        await asyncio.sleep(5)
        assert (await stage.pod("p"))["metadata"]["deletionTimestamp"]
        assert not (await stage.claims())["c"]["status"].get("reservedFor")

    on_stage(play)


class MayGo:
    """What a wait asks of a group."""

    group = "group"
    yes = False

    def may_go(self, uid: str, *, ready: bool) -> bool:
        return self.yes and ready


def test_what_happens_while_a_pod_waits_for_a_place_to_be_bound_is_seen_before_it_is() -> None:
    async def play(clock: VirtualClock) -> None:
        cluster, signals, places = known_cluster(), Signals(), asyncio.Semaphore(1)
        cluster.apply_pod(None, make_pod("p"))
        (known,) = cluster.pods
        together: Any = MayGo()
        tainted = False

        def look() -> None:
            if tainted:
                raise BindLostError("tainted")

        async def begin(reason: str) -> None:
            assert reason == "waiting for others of group"

        await places.acquire()
        wait = DeviceWait(cluster, signals, clock, 600).until_ready(
            PodRef("default", "p", known.uid), [], begin, look=look, together=together, slot=Slot(places)
        )
        waiting = asyncio.create_task(wait)
        await places.acquire()
        together.yes = True
        signals.notify(known.uid)
        await asyncio.sleep(1)
        tainted = True
        places.release()
        with pytest.raises(BindLostError, match="tainted"):
            await waiting

    run_virtual(play)
