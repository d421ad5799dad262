from __future__ import annotations

import asyncio

import pytest

from dra_embedded.virtual_time import VirtualClock, run_virtual
from dra_scheduler.loop_watch import INTERVAL, STALLED, LoopWatch


class Held:
    """A clock that somebody's work moves on while the loop stands still."""

    def __init__(self, clock: VirtualClock) -> None:
        self._clock = clock
        self.held = 0.0

    def monotonic(self) -> float:
        return self._clock.monotonic() + self.held

    def now(self) -> None:
        raise AssertionError


def test_what_holds_the_loop_is_measured_and_a_stall_is_a_problem_until_it_ends() -> None:
    async def main(virtual: VirtualClock) -> None:
        clock = Held(virtual)
        watch = LoopWatch(clock)  # type: ignore[arg-type]
        task = asyncio.create_task(watch.run())
        await asyncio.sleep(10 * INTERVAL)
        assert (watch.late, watch.take_worst()) == (0, 0.0)
        clock.held += 0.5
        await asyncio.sleep(2 * INTERVAL)
        assert watch.late == 1
        assert watch.late_seconds == pytest.approx(0.5)
        assert watch.take_worst() == pytest.approx(0.5)
        assert watch.take_worst() == pytest.approx(0)
        assert watch.problem() is None
        clock.held += STALLED + 1
        assert "has been held for" in (watch.problem() or "")
        await asyncio.sleep(2 * INTERVAL)
        assert watch.problem() is None
        task.cancel()

    run_virtual(main)
