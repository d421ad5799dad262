from __future__ import annotations

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dra_embedded.virtual_time import VirtualClock, run_virtual
from dra_scheduler.writes.outbox import Outbox


def test_the_newest_value_of_a_key_is_delivered_once_when_it_is_due() -> None:
    async def main(clock: VirtualClock) -> None:
        box: Outbox[str, int] = Outbox(clock, limit=10, concurrency=2)
        seen: list[tuple[str, int, float]] = []

        async def deliver(key: str, value: int) -> None:
            seen.append((key, value, clock.monotonic()))

        task = asyncio.create_task(box.run(deliver))
        box.put("a", 1, 5.0)
        box.put("a", 2, 3.0)
        box.put("b", 3, 4.0)
        box.put("gone", 4, 1.0)
        assert box.get("a") == 2
        box.discard("gone")
        await asyncio.sleep(10)
        task.cancel()
        assert seen == [("a", 2, 3.0), ("b", 3, 4.0)]

    run_virtual(main)


def test_a_key_is_never_delivered_twice_at_the_same_time_and_never_lost() -> None:
    async def main(clock: VirtualClock) -> None:
        box: Outbox[str, int] = Outbox(clock, limit=10, concurrency=5)
        seen: list[int] = []

        async def deliver(key: str, value: int) -> None:
            seen.append(value)
            await asyncio.sleep(10)
            seen.append(-value)

        task = asyncio.create_task(box.run(deliver))
        box.put("a", 1, 0.0)
        await asyncio.sleep(1)
        box.put("a", 2, 1.0)
        box.put("a", 3, 1.0)
        await asyncio.sleep(30)
        task.cancel()
        assert seen == [1, -1, 3, -3]
        assert len(box) == 0

    run_virtual(main)


def test_an_error_of_the_delivery_ends_the_run() -> None:
    async def main(clock: VirtualClock) -> None:
        box: Outbox[str, int] = Outbox(clock, limit=10, concurrency=5)

        async def deliver(key: str, value: int) -> None:
            raise ZeroDivisionError

        box.put("a", 1, 0.0)
        with pytest.raises(ExceptionGroup):
            await box.run(deliver)

    run_virtual(main)


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.floats(0, 5), st.floats(0, 3), st.floats(0, 3)), max_size=20),
    st.integers(1, 3),
)
def test_the_last_value_put_is_the_last_delivered_and_places_are_never_exceeded(
    puts: list[tuple[str, float, float, float]], concurrency: int
) -> None:
    async def main(clock: VirtualClock) -> None:
        box: Outbox[str, int] = Outbox(clock, limit=100, concurrency=concurrency)
        last_put: dict[str, int] = {}
        delivered: dict[str, int] = {}
        active: list[str] = []

        async def deliver(key: str, value: int) -> None:
            active.append(key)
            assert len(active) <= concurrency
            assert active.count(key) == 1
            assert delivered.get(key, -1) < value
            await asyncio.sleep(puts[value][3])
            delivered[key] = value
            active.remove(key)

        task = asyncio.create_task(box.run(deliver))
        for number, (key, pause, due, _) in enumerate(puts):
            await asyncio.sleep(pause)
            box.put(key, number, clock.monotonic() + due)
            last_put[key] = number
        await asyncio.sleep(1000)
        task.cancel()
        assert delivered == last_put

    run_virtual(main)
