from __future__ import annotations

import asyncio
import random
import time
from datetime import timedelta

import pytest

from dra_embedded.errors import DeadlockError, VirtualTimeError
from dra_embedded.virtual_time import EPOCH, VirtualClock, VirtualTimeLoop, run_virtual


def test_sleeping_for_a_week_takes_no_real_time_and_exactly_a_week_of_virtual_time() -> None:
    async def main(clock: VirtualClock) -> tuple[float, timedelta]:
        await asyncio.sleep(7 * 86400)
        return clock.monotonic(), clock.now() - EPOCH

    started = time.monotonic()
    seconds, passed = run_virtual(main)
    assert seconds == pytest.approx(7 * 86400)
    assert passed == timedelta(days=7)
    assert time.monotonic() - started < 2


def test_timers_fire_in_order_of_time_and_then_of_creation() -> None:
    async def main(clock: VirtualClock) -> list[tuple[str, float]]:
        seen: list[tuple[str, float]] = []
        loop = asyncio.get_running_loop()
        for name, delay in [("c", 2.0), ("a", 1.0), ("b", 1.0), ("d", 2.0)]:
            loop.call_later(delay, lambda name=name: seen.append((name, clock.monotonic())))
        await asyncio.sleep(3)
        return seen

    assert run_virtual(main) == [("a", 1.0), ("b", 1.0), ("c", 2.0), ("d", 2.0)]


def test_time_does_not_move_while_anything_is_ready() -> None:
    async def main(clock: VirtualClock) -> float:
        for _ in range(1000):
            await asyncio.sleep(0)
        return clock.monotonic()

    assert run_virtual(main) == 0.0


def test_timeouts_events_and_task_groups_work_in_virtual_time() -> None:
    async def main(clock: VirtualClock) -> float:
        event = asyncio.Event()

        async def setter() -> None:
            await asyncio.sleep(5)
            event.set()

        async with asyncio.TaskGroup() as group:
            group.create_task(setter())
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(3):
                    await event.wait()
            assert clock.monotonic() == 3.0
            await event.wait()
        return clock.monotonic()

    assert run_virtual(main) == 5.0


def test_waiting_for_ever_is_a_deadlock_that_names_the_tasks_and_where_they_wait() -> None:
    async def never_answered() -> None:
        await asyncio.Event().wait()

    async def main(clock: VirtualClock) -> None:
        task = asyncio.create_task(never_answered(), name="the client")
        await task

    with pytest.raises(DeadlockError) as caught:
        run_virtual(main)
    assert any(line.startswith("the client: waits in Event.wait") for line in caught.value.waiting)
    assert "every task waits and no timer is set" in str(caught.value)


def test_an_exception_of_main_comes_out_and_other_tasks_are_cancelled() -> None:
    cancelled: list[bool] = []

    async def sleeper() -> None:
        try:
            await asyncio.sleep(1e6)
        except asyncio.CancelledError:
            cancelled.append(True)
            raise

    async def main(clock: VirtualClock) -> None:
        task = asyncio.create_task(sleeper())
        await asyncio.sleep(1)
        assert not task.done()
        raise LookupError("main failed")

    with pytest.raises(LookupError, match="main failed"):
        run_virtual(main)
    assert cancelled == [True]


def test_a_timer_never_runs_early_however_its_time_rounds() -> None:
    async def main(clock: VirtualClock) -> None:
        drawn = random.Random(5)
        for _ in range(2000):
            due = clock.monotonic() + drawn.random() * 10 ** drawn.randint(-4, 5)
            asyncio.get_running_loop().call_at(due, lambda due=due: left.append(due - clock.monotonic()))
            await asyncio.sleep(drawn.random())

    left: list[float] = []
    run_virtual(main)
    assert left
    assert max(left) <= 0.0


def test_threads_and_sockets_are_refused() -> None:
    async def thread(clock: VirtualClock) -> None:
        await asyncio.to_thread(time.time)

    async def reader(clock: VirtualClock) -> None:
        asyncio.get_running_loop().add_reader(0, print)

    with pytest.raises(VirtualTimeError, match="no threads"):
        run_virtual(thread)
    with pytest.raises(VirtualTimeError, match="no input or output"):
        run_virtual(reader)


def test_the_same_seed_gives_the_same_interleaving_also_through_sets_of_tasks() -> None:
    def once(ballast: int) -> list[str]:
        keep = [object() for _ in range(ballast)]  # moves addresses about between the runs
        trace: list[str] = []

        async def main(clock: VirtualClock) -> None:
            drawn = random.Random(3)

            async def worker(name: str) -> None:
                try:
                    for _ in range(4):
                        await asyncio.sleep(drawn.choice([0, 0.1, 0.1, 2]))
                        trace.append(f"{name}@{clock.monotonic():.1f}")
                    await asyncio.sleep(1000)
                except asyncio.CancelledError:
                    trace.append(f"{name} cancelled")
                    raise

            tasks = {asyncio.create_task(worker(f"w{number}")) for number in range(20)}
            _, pending = await asyncio.wait(tasks, timeout=50)
            for task in pending:
                task.cancel()
            await asyncio.gather(*pending, return_exceptions=True)

        run_virtual(main)
        assert len(keep) == ballast
        return trace

    assert once(0) == once(1234) == once(77)


def test_a_loop_runs_main_once_and_is_closed() -> None:
    loop = VirtualTimeLoop()

    async def main() -> int:
        return 3

    assert loop.run(main()) == 3
    assert loop.is_closed()


def test_a_timer_that_is_due_a_hair_after_another_sees_its_own_time() -> None:
    async def main(clock: VirtualClock) -> list[bool]:
        loop = asyncio.get_running_loop()
        late = 60.0 + 5e-10
        seen: list[bool] = []
        loop.call_at(60.0, seen.append, True)
        while loop.time() < late:
            woken = loop.create_future()
            loop.call_at(late, woken.set_result, None)
            await woken
            seen.append(loop.time() >= late)
        return seen

    assert run_virtual(main) == [True, True]
