from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from dra_api.transport import STRATEGIC_MERGE_PATCH
from dra_embedded.virtual_time import VirtualClock, run_virtual
from dra_scheduler.writes.binding_writer import BindingWriter
from dra_scheduler.writes.condition_writer import ConditionWriter
from dra_scheduler.writes.refs import PodRef
from support.faulty import status
from support.writing import World

POD = "/api/v1/namespaces/default/pods/pod"
STATUS = f"PATCH {POD}/status"
MESSAGE = "0/8 nodes are available: 8 cannot allocate all claims."


def run(test: Callable[[World, ConditionWriter], Awaitable[None]]) -> None:
    async def main(clock: VirtualClock) -> None:
        world = World(clock)
        writer = ConditionWriter(world.api, clock, world.random, lambda: world.may_write)
        task = asyncio.create_task(writer.run())
        await test(world, writer)
        task.cancel()

    run_virtual(main)


async def condition(world: World) -> dict[str, Any] | None:
    conditions = (await world.live(POD))["status"].get("conditions") or []
    return next((entry for entry in conditions if entry["type"] == "PodScheduled"), None)


def test_a_pod_that_does_not_fit_says_so_in_its_condition() -> None:
    async def test(world: World, writer: ConditionWriter) -> None:
        writer.set_unscheduled(await world.pod(), "Unschedulable", MESSAGE)
        await asyncio.sleep(1)
        assert [request.content_type for request in world.faulty.requests] == [STRATEGIC_MERGE_PATCH]
        found = await condition(world)
        assert found is not None
        assert (found["status"], found["reason"], found["message"]) == ("False", "Unschedulable", MESSAGE)
        assert found["lastTransitionTime"] == "2030-01-01T00:00:00Z"

    run(test)


def test_the_same_condition_is_written_once_also_by_the_next_process() -> None:
    async def test(world: World, writer: ConditionWriter) -> None:
        pod = await world.pod()
        for _ in range(5):
            writer.set_unscheduled(pod, "Unschedulable", MESSAGE)
            await asyncio.sleep(20)
        assert len(world.faulty.sent(STATUS)) == 1
        next_one = ConditionWriter(world.api, world.clock, world.random)
        next_one.set_unscheduled(await world.live(POD), "Unschedulable", MESSAGE)
        assert next_one.waiting == 0

    run(test)


def test_counts_alone_are_written_every_five_seconds_at_most_and_the_last_ones_count() -> None:
    async def test(world: World, writer: ConditionWriter) -> None:
        await world.pod()
        for count in range(8, 40):
            text = f"0/{count} nodes are available: {count} cannot allocate all claims."
            writer.set_unscheduled(await world.live(POD), "Unschedulable", text)
            await asyncio.sleep(0.25)
        await asyncio.sleep(5)
        assert 2 <= len(world.faulty.sent(STATUS)) <= 4
        found = await condition(world)
        assert found is not None
        assert found["message"].startswith("0/39 ")

    run(test)


def test_another_reason_is_written_at_once_and_keeps_the_time_of_the_transition() -> None:
    async def test(world: World, writer: ConditionWriter) -> None:
        pod = await world.pod()
        writer.set_unscheduled(pod, "Unschedulable", MESSAGE)
        await asyncio.sleep(1)
        writer.set_unscheduled(pod, "SchedulerError", "selector 1 fails")  # our write is not observed yet
        await asyncio.sleep(0.1)
        found = await condition(world)
        assert found is not None
        assert (found["reason"], found["lastTransitionTime"]) == ("SchedulerError", "2030-01-01T00:00:00Z")

    run(test)


def test_changing_back_before_it_is_written_writes_nothing() -> None:
    async def test(world: World, writer: ConditionWriter) -> None:
        pod = await world.pod()
        writer.set_unscheduled(pod, "Unschedulable", "0/8 nodes")
        await asyncio.sleep(1)
        writer.set_unscheduled(pod, "Unschedulable", "0/9 nodes")
        writer.set_unscheduled(pod, "Unschedulable", "0/8 nodes")
        await asyncio.sleep(10)
        assert len(world.faulty.sent(STATUS)) == 1

    run(test)


def test_a_late_write_never_tells_a_bound_pod_that_it_is_pending() -> None:
    async def test(world: World, writer: ConditionWriter) -> None:
        pod = await world.pod()
        ref = PodRef.of(pod)
        world.faulty.meanwhile(STATUS, lambda: BindingWriter(world.others, world.random).bind(ref, "node-1"))
        writer.set_unscheduled(pod, "Unschedulable", MESSAGE)
        await asyncio.sleep(60)
        found = await condition(world)
        assert found is not None
        assert found["status"] == "True"

    run(test)


def test_a_pod_that_others_change_meanwhile_is_told_all_the_same() -> None:
    async def test(world: World, writer: ConditionWriter) -> None:
        pod = await world.pod()
        world.faulty.meanwhile(STATUS, lambda: world.touch(POD))
        writer.set_unscheduled(pod, "Unschedulable", MESSAGE)
        await asyncio.sleep(1)
        assert await condition(world) is not None

    run(test)


def test_what_waits_for_a_pod_that_was_bound_or_deleted_is_dropped() -> None:
    async def test(world: World, writer: ConditionWriter) -> None:
        pod = await world.pod()
        writer.set_unscheduled(pod, "Unschedulable", MESSAGE)
        writer.forget(PodRef.of(pod))
        await asyncio.sleep(10)
        assert world.faulty.requests == []
        await world.others.delete(POD)
        writer.set_unscheduled(pod, "Unschedulable", MESSAGE)
        await asyncio.sleep(10)
        assert writer.failed == 0

    run(test)


def test_a_server_that_refuses_is_reported_and_counted_and_stops_nothing(caplog: pytest.LogCaptureFixture) -> None:
    async def test(world: World, writer: ConditionWriter) -> None:
        pod = await world.pod()
        world.faulty.fail(STATUS, status(403, "Forbidden", "no rights"))
        writer.set_unscheduled(pod, "Unschedulable", MESSAGE)
        await asyncio.sleep(1)
        assert writer.failed == 1
        assert "condition not written pod=default/pod" in caplog.text
        writer.set_unscheduled(pod, "Unschedulable", MESSAGE)
        await asyncio.sleep(1)
        assert await condition(world) is not None

    run(test)


def test_nothing_is_written_without_the_lease() -> None:
    async def test(world: World, writer: ConditionWriter) -> None:
        world.may_write = False
        writer.set_unscheduled(await world.pod(), "Unschedulable", MESSAGE)
        await asyncio.sleep(1)
        assert world.faulty.sent(STATUS) == []

    run(test)


def test_a_node_is_nominated_and_the_nomination_taken_away() -> None:
    async def test(world: World, writer: ConditionWriter) -> None:
        pod = PodRef.of(await world.pod())
        await writer.nominate(pod, "node-1")
        assert (await world.live(POD))["status"]["nominatedNodeName"] == "node-1"
        await writer.nominate(pod, "")
        assert "nominatedNodeName" not in (await world.live(POD))["status"]

    run(test)
