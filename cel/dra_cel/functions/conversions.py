"""Type conversions, `dyn` and `type`."""

from __future__ import annotations

from typing import Any

from dra_cel.errors import EvaluationError
from dra_cel.functions import numerals
from dra_cel.functions.charges import Charge, Estimate, Operand, per_character
from dra_cel.functions.table import overload
from dra_cel.ranges import MAX, STRING_FACTOR, Range
from dra_cel.times import (
    SECOND,
    Duration,
    format_timestamp,
    parse_duration,
    parse_timestamp,
    timestamp_of,
)
from dra_cel.values import TypeValue, type_name

CONVERSIONS = frozenset({"bool", "bytes", "double", "duration", "dyn", "int", "string", "timestamp", "type", "uint"})
"""Functions that are applied to constants when an expression is compiled."""


def identity(value: Any) -> Any:
    """Return the value."""
    return value


def _decode(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError as error:
        raise EvaluationError("invalid UTF-8 in bytes, cannot convert to string") from error


def format_duration(value: Duration) -> str:
    """Return a duration in seconds, as `1.5s`."""
    return f"{numerals.format_plain(value.nanos / SECOND)}s"


def _to_bytes_estimate(target: Operand | None, args: Any) -> Estimate:
    size = args[0].size
    return Estimate(size.scaled(STRING_FACTOR), Range(size.low, (size.high * 4) & MAX))


def _to_text_estimate(target: Operand | None, args: Any) -> Estimate:
    size = args[0].size
    return Estimate(size.scaled(STRING_FACTOR), Range(size.low // 4, size.high))


_TRAVERSE = per_character(0, by_function=False)
_ENCODE = Charge(_TRAVERSE.runtime, _to_bytes_estimate)
_DECODE = Charge(_TRAVERSE.runtime, _to_text_estimate)

OVERLOADS = [
    overload("type", "type(T) -> type(T)", lambda value: TypeValue(type_name(value))),
    overload("to_dyn", "dyn(T) -> dyn", identity),
    overload("bool_to_bool", "bool(bool) -> bool", identity),
    overload("string_to_bool", "bool(string) -> bool", numerals.text_to_bool),
    overload("bytes_to_bytes", "bytes(bytes) -> bytes", identity),
    overload("string_to_bytes", "bytes(string) -> bytes", str.encode, _ENCODE),
    overload("double_to_double", "double(double) -> double", identity),
    overload("int64_to_double", "double(int) -> double", float),
    overload("string_to_double", "double(string) -> double", numerals.text_to_double),
    overload("uint64_to_double", "double(uint) -> double", float),
    overload("duration_to_duration", "duration(duration) -> duration", identity),
    overload("string_to_duration", "duration(string) -> duration", parse_duration),
    overload("int64_to_int64", "int(int) -> int", identity),
    overload("double_to_int64", "int(double) -> int", numerals.double_to_int),
    overload("duration_to_int64", "int(duration) -> int", lambda value: value.nanos),
    overload("string_to_int64", "int(string) -> int", numerals.text_to_int),
    overload("timestamp_to_int64", "int(timestamp) -> int", lambda value: value.nanos // SECOND),
    overload("uint64_to_int64", "int(uint) -> int", numerals.uint_to_int),
    overload("string_to_string", "string(string) -> string", identity),
    overload("bool_to_string", "string(bool) -> string", lambda value: "true" if value else "false"),
    overload("bytes_to_string", "string(bytes) -> string", _decode, _DECODE),
    overload("double_to_string", "string(double) -> string", numerals.format_general),
    overload("duration_to_string", "string(duration) -> string", format_duration),
    overload("int64_to_string", "string(int) -> string", str),
    overload("timestamp_to_string", "string(timestamp) -> string", format_timestamp),
    overload("uint64_to_string", "string(uint) -> string", lambda value: str(int(value))),
    overload("timestamp_to_timestamp", "timestamp(timestamp) -> timestamp", identity),
    overload("int64_to_timestamp", "timestamp(int) -> timestamp", lambda value: timestamp_of(value * SECOND)),
    overload("string_to_timestamp", "timestamp(string) -> timestamp", parse_timestamp),
    overload("uint64_to_uint64", "uint(uint) -> uint", identity),
    overload("double_to_uint64", "uint(double) -> uint", numerals.double_to_uint),
    overload("int64_to_uint64", "uint(int) -> uint", numerals.int_to_uint),
    overload("string_to_uint64", "uint(string) -> uint", numerals.text_to_uint),
]
