"""The loop that measures: decide, check what came out, let claims go, until the time is over."""

from __future__ import annotations

import gc
import time
from collections import deque
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

from dra_allocator.outcome import Allocation, Outcome
from dra_allocator.rejection import Rejection
from dra_bench.allocate.errors import WrongOutcomeError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dra_bench.allocate.scenario import Scenario
    from dra_bench.allocate.world import World

Clock = Callable[[], float]
_WARM_UP = 3
"""Decisions before the first one that counts: they compile selectors and count for the first time."""
_STRIDE = 7919
"""How far the first node of a decision is from that of the one before: a prime, so that all have their turn."""


@dataclass(frozen=True, slots=True)
class Measured:
    """Durations of the decisions in milliseconds, and the seconds that the loop took in all."""

    durations: list[float]
    seconds: float


class Turnover:
    """Lets claims go as the scenario says."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._kind = world.scenario.turnover
        self._held = list(world.held)
        self._window: deque[list[str]] = deque()
        self._random = Random(1)

    def after(self, uids: list[str]) -> None:
        """Take in the claims of a decision, and let others go."""
        if self._kind == "random":
            self._held += uids
            for _ in uids:
                self._world.release(self._pop_random())
            return
        self._window.append(uids)
        if self._kind == "window" and len(self._window) > self._world.scenario.window:
            for uid in self._window.popleft():
                self._world.release(uid)

    @property
    def can_empty(self) -> bool:
        """Whether claims of the loop are held that may be why another one does not fit."""
        return bool(self._window)

    def empty(self) -> None:
        """Let all claims of the loop go."""
        while self._window:
            for uid in self._window.popleft():
                self._world.release(uid)

    def _pop_random(self) -> str:
        at = self._random.randrange(len(self._held))
        self._held[at], self._held[-1] = self._held[-1], self._held[at]
        return self._held.pop()


def measure(
    world: World, seconds: float, progress: Callable[[float], None], *, clock: Clock = time.perf_counter, least: int = 5
) -> Measured:
    """Decide for so long, and at least so often; `progress` is told the part that is done.

    `clock` measures the decisions, in seconds: of time that passes, or that this process uses.

    Raises WrongOutcomeError if a decision is not what the scenario says.
    """
    turnover = Turnover(world)
    durations: list[float] = []
    with collector_off():
        for number in range(_WARM_UP):
            _decide(world, turnover, number, clock)
        begun = time.perf_counter()
        while (passed := time.perf_counter() - begun) < seconds or len(durations) < least:
            progress(min(1.0, passed / seconds) if seconds else 1.0)
            durations.append(_decide(world, turnover, _WARM_UP + len(durations), clock))
    return Measured(durations, time.perf_counter() - begun)


def _decide(world: World, turnover: Turnover, number: int, clock: Clock) -> float:
    claims = world.claims(number)
    started = clock()
    outcome = world.decide(claims, number * _STRIDE)
    took = (clock() - started) * 1000
    if isinstance(outcome, Rejection) and turnover.can_empty:
        turnover.empty()
        return took
    check(world.scenario, outcome, number)
    if isinstance(outcome, Allocation):
        turnover.after([claim.uid for claim in claims])
    return took


def check(scenario: Scenario, outcome: Outcome, number: int) -> None:
    """Raise WrongOutcomeError if this is not how the scenario's decisions end."""
    if not isinstance(outcome, Allocation if scenario.fits else Rejection):
        raise WrongOutcomeError(f"decision {number} ended with {type(outcome).__name__}: {outcome}")


@contextmanager
def collector_off() -> Iterator[None]:
    """Keep Python's search for cyclic garbage off what is loaded by now, as the scheduler does."""
    gc.collect()
    gc.freeze()
    thresholds = gc.get_threshold()
    gc.set_threshold(50_000, 50, 100)
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
        gc.unfreeze()
