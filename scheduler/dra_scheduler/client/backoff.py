"""How long to wait before trying again: doubling, capped, with jitter so that many clients do not come at once."""

from __future__ import annotations

from random import Random


class Backoff:
    """Delays in seconds: `first`, doubled each time up to `cap`, each times a random factor of 0.5 to 1."""

    def __init__(self, random: Random, first: float, cap: float) -> None:
        self._random = random
        self._first = first
        self._cap = cap
        self._next = first

    def delay(self) -> float:
        """The next delay."""
        delay = self._next
        self._next = min(self._cap, delay * 2)
        return delay * (0.5 + self._random.random() / 2)

    def reset(self) -> None:
        """Start over: it worked."""
        self._next = self._first
