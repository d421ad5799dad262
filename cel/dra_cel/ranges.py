"""Ranges of sizes and costs, in the saturating 64-bit arithmetic of CEL's cost estimator."""

from __future__ import annotations

import math
from typing import NamedTuple

MAX = 2**64 - 1
_MAX_FLOAT = float(2**64)

STRING_FACTOR = 0.1
"""Cost of traversing one character."""
REGEX_FACTOR = 0.25
"""Cost of one character of a regular expression, per character of the text."""

_new = tuple.__new__  # what a NamedTuple does, without the function around it


class Range(NamedTuple):
    """An inclusive range of sizes or costs."""

    low: int
    high: int

    def plus(self, other: Range) -> Range:
        """Add, saturating."""
        low, high = self[0] + other[0], self[1] + other[1]
        return _new(Range, (low if low < MAX else MAX, high if high < MAX else MAX))

    def times(self, other: Range) -> Range:
        """Multiply, saturating."""
        return Range(min(self.low * other.low, MAX), min(self.high * other.high, MAX))

    def scaled(self, factor: float) -> Range:
        """Multiply by a factor and round up, saturating."""
        return Range(scale(self.low, factor), scale(self.high, factor))

    def union(self, other: Range) -> Range:
        """Return the smallest range that has both."""
        low, high = self
        return _new(Range, (low if low < other[0] else other[0], high if high > other[1] else other[1]))


def fixed(value: int) -> Range:
    """Return the range with one value."""
    return _new(Range, (value, value))


def scale(value: int, factor: float) -> int:
    """Multiply by a factor and round up, saturating."""
    product = math.ceil(float(value) * factor)
    return MAX if product >= _MAX_FLOAT else product


UNKNOWN = Range(0, MAX)
NOTHING = Range(0, 0)
UNIT = Range(1, 1)
EMPTY_UNION = Range(MAX, 0)
"""The neutral element of `union`."""
