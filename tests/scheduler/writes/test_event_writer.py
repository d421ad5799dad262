from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dra_embedded.virtual_time import VirtualClock, run_virtual
from dra_scheduler.writes.event_writer import NOTE_LIMIT, WAITING_LIMIT, EventWriter, cut, event_name
from dra_scheduler.writes.refs import PodRef
from support.faulty import status
from support.writing import World

EVENTS = "/apis/events.k8s.io/v1/namespaces/default/events"
POD = PodRef("default", "pod", "0d2f53e4-65cc-4c0c-9b8e-8a1d9b7f3a01")


def run(test: Callable[[World, EventWriter], Awaitable[None]]) -> None:
    async def main(clock: VirtualClock) -> None:
        world = World(clock)
        writer = EventWriter(
            world.api,
            clock,
            world.random,
            controller="dra-scheduler",
            instance="dra-scheduler-host",
            may_write=lambda: world.may_write,
        )
        task = asyncio.create_task(writer.run())
        await test(world, writer)
        task.cancel()

    run_virtual(main)


async def events(world: World) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = (await world.others.list(EVENTS))["items"]
    return items


def fail(writer: EventWriter, note: str = "no device", pod: PodRef = POD) -> None:
    writer.record(pod, "Warning", "FailedScheduling", "Scheduling", note)


def test_an_event_has_everything_that_the_api_asks_for() -> None:
    async def test(world: World, writer: EventWriter) -> None:
        writer.record(POD, "Normal", "Scheduled", "Binding", "Successfully assigned default/pod to node-1")
        await asyncio.sleep(1)
        [event] = await events(world)
        assert event["metadata"]["name"].startswith("pod.")
        assert event["regarding"] == {
            "apiVersion": "v1",
            "kind": "Pod",
            "namespace": "default",
            "name": "pod",
            "uid": POD.uid,
        }
        assert event["eventTime"] == "2030-01-01T00:00:00.000000Z"
        assert (event["type"], event["reason"], event["action"]) == ("Normal", "Scheduled", "Binding")
        assert (event["reportingController"], event["reportingInstance"]) == ("dra-scheduler", "dra-scheduler-host")
        assert "series" not in event

    run(test)


def test_repetitions_are_one_series_updated_at_once_and_then_every_minute_at_most() -> None:
    async def test(world: World, writer: EventWriter) -> None:
        for _ in range(100):
            fail(writer)
            await asyncio.sleep(3)
        await asyncio.sleep(60)
        [event] = await events(world)
        assert event["series"]["count"] == 100
        assert event["series"]["lastObservedTime"] == "2030-01-01T00:04:57.000000Z"
        assert len(world.faulty.sent("PATCH")) <= 8

    run(test)


def test_another_note_is_another_event_and_a_series_ends_after_half_an_hour_of_silence() -> None:
    async def test(world: World, writer: EventWriter) -> None:
        fail(writer, "one")
        fail(writer, "two")
        await asyncio.sleep(2000)
        fail(writer, "one")
        await asyncio.sleep(1)
        assert sorted(event["note"] for event in await events(world)) == ["one", "one", "two"]

    run(test)


def test_a_series_whose_event_has_expired_is_begun_anew() -> None:
    async def test(world: World, writer: EventWriter) -> None:
        fail(writer)
        await asyncio.sleep(1)
        [event] = await events(world)
        await world.others.delete(f"{EVENTS}/{event['metadata']['name']}")
        fail(writer)
        await asyncio.sleep(1)
        [event] = await events(world)
        assert event["series"]["count"] == 2

    run(test)


def test_one_pod_gets_twenty_five_different_events_at_once_then_one_every_five_minutes() -> None:
    async def test(world: World, writer: EventWriter) -> None:
        for number in range(40):
            fail(writer, f"note {number}")
        await asyncio.sleep(1)
        assert len(await events(world)) == 25
        assert writer.dropped == 15
        await asyncio.sleep(300)
        fail(writer, "later")
        fail(writer, "too much")
        fail(writer, "another pod's", PodRef("default", "other", "another-uid"))
        await asyncio.sleep(1)
        assert len(await events(world)) == 27

    run(test)


def test_recording_never_blocks_and_drops_are_counted() -> None:
    async def test(world: World, writer: EventWriter) -> None:
        for number in range(WAITING_LIMIT + 5):
            fail(writer, pod=PodRef("default", f"pod-{number}", f"uid-{number}"))
        assert writer.dropped == 5
        assert writer.waiting == WAITING_LIMIT

    run(test)


def test_a_creation_that_got_through_unnoticed_is_not_written_twice() -> None:
    async def test(world: World, writer: EventWriter) -> None:
        world.faulty.fail(f"POST {EVENTS}", executed=True)
        fail(writer)
        await asyncio.sleep(5)
        assert len(await events(world)) == 1
        assert writer.failed == 0

    run(test)


def test_a_refused_event_is_reported_and_counted_and_others_go_on(caplog: pytest.LogCaptureFixture) -> None:
    async def test(world: World, writer: EventWriter) -> None:
        world.faulty.fail(f"POST {EVENTS}", status(403, "Forbidden"))
        fail(writer, "refused")
        await asyncio.sleep(1)
        fail(writer, "taken")
        await asyncio.sleep(1)
        assert [event["note"] for event in await events(world)] == ["taken"]
        assert writer.failed == 1
        assert "event not written pod=default/pod" in caplog.text

    run(test)


def test_events_of_a_namespace_that_goes_away_are_dropped_without_a_word(caplog: pytest.LogCaptureFixture) -> None:
    async def test(world: World, writer: EventWriter) -> None:
        await world.others.create("/api/v1/namespaces", {"metadata": {"name": "gone", "finalizers": ["a.b/c"]}})
        await world.others.delete("/api/v1/namespaces/gone")
        fail(writer, pod=PodRef("gone", "pod", POD.uid))
        await asyncio.sleep(1)
        assert writer.failed == 1
        assert caplog.text == ""

    run(test)


def test_nothing_is_written_without_the_lease() -> None:
    async def test(world: World, writer: EventWriter) -> None:
        world.may_write = False
        fail(writer)
        await asyncio.sleep(1)
        assert await events(world) == []

    run(test)


@given(st.text())
def test_a_note_is_cut_to_1024_bytes_between_characters(text: str) -> None:
    for note in (text, text * 500):
        short = cut(note)
        assert len(short.encode()) <= NOTE_LIMIT
        assert short == note or (short.endswith("...") and note.startswith(short[:-3]))


@given(st.integers(1, 253), st.integers(0, 2**64 - 1))
def test_an_event_s_name_is_a_valid_one_however_long_the_pod_s_is(length: int, number: int) -> None:
    name = event_name(("a-b.c" * 60)[:length].rstrip("-."), number)
    assert len(name) <= 253
    assert ".." not in name
    assert "-." not in name
