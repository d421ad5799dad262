"""Gangs between their claims and their bindings: all of it holds back, all of it is undone, restarts change nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from support.chaos import crash
from support.faulty import Faulty, status
from support.gangs import SETTINGS, counters_slice, group_condition, halves_slice, member, pod_group, whole_or_half
from support.invariants import check_invariants
from support.stage import Raw, Stage, claim, device_class, node, on_stage, pod, resource_slice, template

NODES = ("n1", "n2")


def fabric_slice(name: str) -> Raw:
    made = resource_slice(name, 1)
    (device,) = made["spec"]["devices"]
    device |= {"bindingConditions": ["Attached"], "bindingFailureConditions": ["Broken"]}
    return made


async def report(stage: Stage, claim_name: str, condition: str) -> None:
    """What a driver says of the device that a claim was given."""
    (result,) = (await stage.claims())[claim_name]["status"]["allocation"]["devices"]["results"]
    entry = {"type": condition, "status": "True", "reason": "Test", "message": "x"}
    device = {key: result[key] for key in ("driver", "pool", "device")}
    told = {**device, "conditions": [{**entry, "lastTransitionTime": "2026-01-01T00:00:00Z"}]}
    await stage.patch(claim(claim_name), {"status": {"devices": [told]}}, "status")


async def gang_on_fabric(stage: Stage) -> dict[str, str]:
    """A gang of two whose devices have to be attached; returns the names of their claims by pod."""
    await stage.create(device_class(), template(), pod_group())
    for name in NODES:
        await stage.create(node(name), fabric_slice(name))
    await stage.create(member("a", template="gpu"), member("b", template="gpu"))
    await asyncio.sleep(5)
    return {
        name: pod["status"]["resourceClaimStatuses"][0]["resourceClaimName"]
        for name, pod in (await stage.pods()).items()
    }


def test_no_pod_of_a_gang_is_bound_before_the_devices_of_all_are_ready() -> None:
    async def play(stage: Stage) -> None:
        claims = await gang_on_fabric(stage)
        await report(stage, claims["a"], "Attached")
        await asyncio.sleep(5)
        assert set((await stage.nodes_of_pods()).values()) == {""}
        reasons = {pod.name: pod.reason for pod in stage.scheduler.pending()} if stage.scheduler else {}
        assert reasons == {
            "a": "waiting for others of pod group default/group",
            "b": "waiting for the binding conditions of its devices",
        }
        assert {pod["status"]["nominatedNodeName"] for pod in (await stage.pods()).values()} == set(NODES)
        assert (await group_condition(stage))[0] != "True"
        await report(stage, claims["b"], "Attached")
        await stage.settle(1)
        assert set((await stage.nodes_of_pods()).values()) == set(NODES)
        assert await group_condition(stage) == ("True", "Scheduled", "")

    on_stage(play, SETTINGS)


def test_a_device_that_cannot_be_attached_sends_the_whole_gang_back() -> None:
    async def play(stage: Stage) -> None:
        claims = await gang_on_fabric(stage)
        await report(stage, claims["a"], "Attached")
        await report(stage, claims["b"], "Broken")
        await asyncio.sleep(0.5)
        assert set((await stage.nodes_of_pods()).values()) == {""}
        notes = [event["note"] for event in await stage.events("FailedScheduling")]
        assert any("device binding failed: claim=" in note for note in notes)
        await asyncio.sleep(30)
        # Both were given devices anew, which nobody has attached yet.
        states = {name: (await stage.claims())[name]["status"] for name in claims.values()}
        assert all(state.get("allocation") and not state.get("devices") for state in states.values())
        for name in claims.values():
            await report(stage, name, "Attached")
        await stage.settle(1)
        assert set((await stage.nodes_of_pods()).values()) == set(NODES)

    on_stage(play, SETTINGS)


def test_a_restart_in_the_middle_of_the_wait_goes_on_with_it() -> None:
    async def play(stage: Stage) -> None:
        claims = await gang_on_fabric(stage)
        before = {name: (await stage.claims())[name]["status"]["allocation"] for name in claims.values()}
        await report(stage, claims["a"], "Attached")
        await stage.kill()
        await stage.start()
        await asyncio.sleep(300)
        await stage.kill()
        await stage.start()
        await asyncio.sleep(5)
        after = {name: (await stage.claims())[name]["status"]["allocation"] for name in claims.values()}
        assert before == after
        assert set((await stage.nodes_of_pods()).values()) == {""}
        await report(stage, claims["b"], "Attached")
        await stage.settle(1)
        assert set((await stage.nodes_of_pods()).values()) == set(NODES)

    on_stage(play, SETTINGS)


def test_the_time_out_counts_from_the_allocation_whatever_restarts() -> None:
    async def play(stage: Stage) -> None:
        claims = await gang_on_fabric(stage)
        first = {
            name: (await stage.claims())[name]["status"]["allocation"]["allocationTimestamp"]
            for name in claims.values()
        }
        await asyncio.sleep(590)
        await stage.kill()
        await stage.start()
        await asyncio.sleep(60)
        now = {
            name: (await stage.claims())[name]["status"]["allocation"]["allocationTimestamp"]
            for name in claims.values()
        }
        assert all(now[name] > first[name] for name in claims.values())
        notes = [event["note"] for event in await stage.events("FailedScheduling")]
        assert any("device binding timeout" in note for note in notes)

    on_stage(play, SETTINGS)


def test_pods_of_the_gang_that_are_only_tried_do_not_make_up_for_those_that_are_not_ready() -> None:
    async def play(stage: Stage) -> None:
        claims = await gang_on_fabric(stage)
        await stage.create(node("n3"), device_class("odd", "device.attributes['gpu.example.com'].odd == 1"))
        await stage.create(claim("odd", of="odd"), *(member(f"more{i:02}", claim="late") for i in range(40)))
        await asyncio.sleep(2)
        await stage.create(member("wrong", claim="odd", nodeSelector={"kubernetes.io/hostname": "n3"}))
        await asyncio.sleep(5)
        # Now all of them are tried together, and the last one fails by an error: none of them has a place.
        await stage.create(resource_slice("n3", 2))
        await asyncio.sleep(5)
        asyncio.get_running_loop().create_task(stage.create(claim("late")))
        await report(stage, claims["a"], "Attached")
        await asyncio.sleep(2)
        assert set((await stage.nodes_of_pods()).values()) == {""}

    on_stage(play, SETTINGS)


def on_faulty_stage(play: Callable[[Stage, Faulty], Awaitable[Any]]) -> None:
    async def begin(stage: Stage) -> None:
        transport = Faulty(stage.transport)
        await stage.create(device_class(), template(), pod_group())
        for name in NODES:
            await stage.create(node(name), resource_slice(name, 1))
        await stage.start(transport)
        await play(stage, transport)

    on_stage(begin, SETTINGS, start=False)


def test_a_pod_whose_claim_cannot_be_written_keeps_the_others_from_their_nodes() -> None:
    async def play(stage: Stage, transport: Faulty) -> None:
        for _ in range(8):
            transport.fail("resourceclaims/b-gpu", status(403, "Forbidden"))
        await stage.create(member("a", template="gpu"), member("b", template="gpu"))
        await asyncio.sleep(0.5)
        assert set((await stage.nodes_of_pods()).values()) == {""}
        assert not any(c["status"].get("reservedFor") for c in (await stage.claims()).values())
        await stage.settle(120)
        assert set((await stage.nodes_of_pods()).values()) == set(NODES)
        await check_invariants(stage)

    on_faulty_stage(play)


def test_a_pod_that_is_deleted_on_the_way_takes_the_others_back() -> None:
    async def play(stage: Stage, transport: Faulty) -> None:
        transport.meanwhile(
            "PATCH /apis/resource.k8s.io/v1/namespaces/default/resourceclaims/b-gpu", lambda: stage.delete(member("b"))
        )
        await stage.create(member("a", template="gpu"), member("b", template="gpu"))
        await stage.settle(60)
        assert await stage.nodes_of_pods() == {"a": ""}
        assert not any(c["status"].get("allocation") for c in (await stage.claims()).values())
        await stage.create(member("c", template="gpu"))
        await stage.settle(60)
        assert set((await stage.nodes_of_pods()).values()) == set(NODES)

    on_faulty_stage(play)


def test_a_gang_is_not_decided_anew_before_all_that_its_last_round_has_written_is_known_and_taken_back() -> None:
    async def play(stage: Stage, transport: Faulty) -> None:
        for _ in range(100):
            transport.fail("resourceclaims/b-gpu")
        await stage.create(member("a", template="gpu"), member("b", template="gpu"))
        await asyncio.sleep(2)
        await stage.delete(member("a"))
        await stage.create(member("c", template="gpu"))
        await asyncio.sleep(20)
        assert transport.sent("PATCH /apis/resource.k8s.io/v1/namespaces/default/resourceclaims/c-gpu") == []
        transport.faults.clear()
        await stage.settle(60)
        assert set((await stage.nodes_of_pods()).values()) == set(NODES)
        await check_invariants(stage)

    on_faulty_stage(play)


def test_with_one_place_for_writing_a_gang_gets_on_all_the_same() -> None:
    async def play(stage: Stage) -> None:
        await stage.create(device_class(), template(), pod_group())
        for name in NODES:
            await stage.create(node(name), resource_slice(name, 1))
        await stage.create(member("a", template="gpu"), member("b", template="gpu"))
        await stage.settle(1)
        assert set((await stage.nodes_of_pods()).values()) == set(NODES)

    on_stage(play, SETTINGS.model_copy(update={"max_in_flight": 1}))


def test_a_pod_that_waits_for_its_devices_leaves_the_place_for_writing_to_others() -> None:
    async def play(stage: Stage) -> None:
        await stage.create(device_class(), template(), node("n1"), fabric_slice("n1"))
        await stage.create(node("n2"), resource_slice("n2", 1))
        await stage.create(pod("slow", template="gpu", nodeSelector={"kubernetes.io/hostname": "n1"}))
        await asyncio.sleep(1)
        await stage.create(pod("quick", template="gpu"))
        await asyncio.sleep(1)
        assert await stage.nodes_of_pods() == {"slow": "", "quick": "n2"}

    on_stage(play, SETTINGS.model_copy(update={"max_in_flight": 1}))


def crashing_objects() -> list[Raw]:
    """A gang that has to share one card, one with a claim for all of it, and a pod that takes what is left."""
    shared = [{"name": "shared", "resourceClaimName": "c"}]
    return [
        node("n1"),
        node("n2"),
        device_class(),
        template(),
        whole_or_half("part"),
        halves_slice("n1"),
        counters_slice("n1"),
        resource_slice("n2", 1),
        claim("c"),
        pod_group("pair"),
        *(member(f"pair{i}", "pair", template="part", nodeSelector={"kubernetes.io/hostname": "n1"}) for i in range(2)),
        pod_group("team", resourceClaims=shared),
        *(member(f"team{i}", "team", claim="c") for i in range(2)),
    ]


@pytest.mark.parametrize("executed", [False, True], ids=["before it took effect", "after it took effect"])
def test_a_crash_at_any_write_brings_gangs_to_the_same_end(executed: bool) -> None:
    async def play(stage: Stage, at: int) -> bool:
        crashed = await crash(stage, crashing_objects(), at, executed=executed)
        await stage.settle(30)
        await check_invariants(stage)
        assert await stage.nodes_of_pods() == {"pair0": "n1", "pair1": "n1", "team0": "n2", "team1": "n2"}, at
        for name in ("pair", "team"):
            assert (await group_condition(stage, name))[0] == "True"
        return crashed

    writes = 0
    while on_stage(lambda stage, at=writes: play(stage, at), SETTINGS, start=False):  # type: ignore[misc]
        writes += 1
    # Three claims with finalizer and status, four bindings, two conditions, events.
    assert writes >= 3 * 2 + 4 + 2
