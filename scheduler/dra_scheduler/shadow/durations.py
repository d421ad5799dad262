"""Durations in a histogram of fixed size, so that a shadow that runs for weeks needs no more memory."""

from __future__ import annotations

import math

_FIRST = 1e-5
_PER_DECADE = 20
_BUCKETS = 8 * _PER_DECADE
"""From 10 microseconds to 1000 seconds; a quantile is right within 12 %."""


class Durations:
    """Counts durations in seconds."""

    def __init__(self) -> None:
        self._counts = [0] * (_BUCKETS + 1)
        self.count = 0
        self.largest = 0.0

    def add(self, seconds: float) -> None:
        """Count one."""
        position = math.ceil(math.log10(max(seconds, _FIRST) / _FIRST) * _PER_DECADE)
        self._counts[min(position, _BUCKETS)] += 1
        self.count += 1
        self.largest = max(self.largest, seconds)

    def quantile(self, part: float) -> float:
        """Return the duration below which this part of all is (rounded up to its bucket); 0 if there are none."""
        wanted, seen = part * self.count, 0
        for position, count in enumerate(self._counts):
            seen += count
            if count and seen >= wanted:
                bound: float = _FIRST * 10 ** (position / _PER_DECADE)
                return min(bound, self.largest)
        return 0.0
