"""Budgets in time, for the allocator's steppers."""

from __future__ import annotations

from dra_api.clock import Clock


class TimeBudget:
    """Exhausted `seconds` after it was made; None: never."""

    __slots__ = ("_clock", "_deadline")

    def __init__(self, clock: Clock, seconds: float | None) -> None:
        self._clock = clock
        self._deadline = None if seconds is None else clock.monotonic() + seconds

    def exhausted(self) -> bool:
        """Whether the time is up."""
        return self._deadline is not None and self._clock.monotonic() >= self._deadline
