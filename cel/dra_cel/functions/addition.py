"""Adding values whose types only show at run time."""

from __future__ import annotations

from typing import Any

from dra_cel.errors import EvaluationError
from dra_cel.times import Duration, duration_of
from dra_cel.uint import MAX_INT, MAX_UINT, MIN_INT, UInt
from dra_cel.values import type_name

ZEROS: dict[type, Any] = {int: 0, UInt: UInt(0), float: 0.0, Duration: Duration(0)}
"""The sum of no values, by the class of the values."""


def checked_int(value: int) -> int:
    """Return an int, or raise EvaluationError where it does not fit into 64 bits."""
    if MIN_INT <= value <= MAX_INT:
        return value
    raise EvaluationError("integer overflow")


def checked_uint(value: int) -> UInt:
    """Return a uint, or raise EvaluationError where it does not fit into 64 bits."""
    if 0 <= value <= MAX_UINT:
        return UInt(value)
    raise EvaluationError("unsigned integer overflow")


def add_values(left: Any, right: Any) -> Any:
    """Add two numbers or durations of one type."""
    if type(left) is type(right):
        if type(left) is int:
            return checked_int(left + right)
        if type(left) is UInt:
            return checked_uint(int(left) + int(right))
        if type(left) is float:
            return left + right
        if type(left) is Duration:
            return duration_of(left.nanos + right.nanos)
    raise EvaluationError(f"no such overload: {type_name(left)} + {type_name(right)}")
