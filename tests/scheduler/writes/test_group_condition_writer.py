"""The condition of PodGroups."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from dra_embedded.virtual_time import VirtualClock, run_virtual
from dra_scheduler.cache.pod_group import PodGroup, pod_group
from dra_scheduler.writes.group_condition_writer import GroupConditionWriter
from support import gangs
from support.faulty import status
from support.writing import World

PATH = "/apis/scheduling.k8s.io/v1beta1/namespaces/default/podgroups"
STATUS = f"PATCH {PATH}/group/status"
Condition = tuple[str, str, str]


def run(test: Callable[[World, GroupConditionWriter], Awaitable[None]]) -> None:
    async def main(clock: VirtualClock) -> None:
        world = World(clock)
        await world.others.create(PATH, gangs.pod_group())
        writer = GroupConditionWriter(world.api, "v1beta1", clock, world.random, may_write=lambda: world.may_write)
        task = asyncio.create_task(writer.run())
        await test(world, writer)
        task.cancel()

    run_virtual(main)


async def group(world: World) -> PodGroup:
    return pod_group(await world.live(f"{PATH}/group"))


async def shown(world: World) -> Condition:
    found = (await group(world)).condition("PodGroupInitiallyScheduled")
    return ("", "", "") if found is None else (found["status"], found["reason"], found["message"])


def refuse(writer: GroupConditionWriter, of: PodGroup, message: str = "too few") -> None:
    writer.set(of, scheduled=False, reason="Unschedulable", message=message)


def test_a_group_says_why_it_is_not_scheduled_and_then_that_it_is() -> None:
    async def test(world: World, writer: GroupConditionWriter) -> None:
        refuse(writer, await group(world))
        await asyncio.sleep(1)
        assert await shown(world) == ("False", "Unschedulable", "too few")
        writer.set(await group(world), scheduled=True, reason="Scheduled", message="")
        await asyncio.sleep(1)
        assert await shown(world) == ("True", "Scheduled", "")
        assert len(world.faulty.requests) == 2

    run(test)


def test_what_is_true_again_before_something_else_was_written_stays() -> None:
    async def test(world: World, writer: GroupConditionWriter) -> None:
        refuse(writer, await group(world), "too few")
        await asyncio.sleep(1)
        refuse(writer, await group(world), "no devices")
        refuse(writer, await group(world), "too few")
        await asyncio.sleep(60)
        assert await shown(world) == ("False", "Unschedulable", "too few")

    run(test)


def test_what_is_said_already_is_not_written_again_and_changes_not_too_often() -> None:
    async def test(world: World, writer: GroupConditionWriter) -> None:
        for _ in range(3):
            refuse(writer, await group(world))
            await asyncio.sleep(1)
        assert len(world.faulty.requests) == 1
        for number in range(20):
            refuse(writer, await group(world), f"{number} scheduled")
            await asyncio.sleep(1)
        assert len(world.faulty.requests) <= 6
        await asyncio.sleep(10)
        assert (await shown(world))[2] == "19 scheduled"

    run(test)


def test_true_stays_whatever_comes_later_and_whoever_wrote_it() -> None:
    async def test(world: World, writer: GroupConditionWriter) -> None:
        old = await group(world)
        writer.set(old, scheduled=True, reason="Scheduled", message="")
        await asyncio.sleep(1)
        for seen in (old, await group(world)):
            refuse(writer, seen)
            await asyncio.sleep(10)
        assert await shown(world) == ("True", "Scheduled", "")

    run(test)


def test_a_late_word_of_a_group_that_another_process_has_scheduled_is_not_written() -> None:
    async def test(world: World, writer: GroupConditionWriter) -> None:
        old = await group(world)
        other = GroupConditionWriter(world.others, "v1beta1", world.clock, world.random)
        task = asyncio.create_task(other.run())
        other.set(old, scheduled=True, reason="Scheduled", message="")
        await asyncio.sleep(1)
        task.cancel()
        refuse(writer, old)
        await asyncio.sleep(10)
        assert await shown(world) == ("True", "Scheduled", "")

    run(test)


def test_that_a_group_is_scheduled_is_said_again_when_it_was_refused() -> None:
    async def test(world: World, writer: GroupConditionWriter) -> None:
        world.faulty.fail(STATUS, status(403, "Forbidden"))
        writer.set(await group(world), scheduled=True, reason="Scheduled", message="")
        await asyncio.sleep(5)
        assert (writer.failed, await shown(world)) == (1, ("", "", ""))
        await asyncio.sleep(60)
        assert await shown(world) == ("True", "Scheduled", "")

    run(test)


def test_nothing_is_written_of_a_group_that_is_gone_or_while_it_is_not_allowed() -> None:
    async def test(world: World, writer: GroupConditionWriter) -> None:
        seen = await group(world)
        world.may_write = False
        refuse(writer, seen)
        await asyncio.sleep(1)
        assert await shown(world) == ("", "", "")
        world.may_write = True
        await world.others.delete(f"{PATH}/group", {})
        refuse(writer, seen)
        await asyncio.sleep(1)
        assert (writer.failed, writer.waiting) == (0, 0)

    run(test)
