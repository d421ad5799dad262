"""Arithmetic and fields of timestamps and durations. Months and days count from 0, except `getDate`."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from dra_cel.functions.table import Overload, member, overload
from dra_cel.times import SECOND, Duration, Timestamp, duration_of, time_zone, timestamp_of

_FIELDS: dict[str, Callable[[datetime], int]] = {
    "getFullYear": lambda moment: moment.year,
    "getMonth": lambda moment: moment.month - 1,
    "getDayOfYear": lambda moment: moment.timetuple().tm_yday - 1,
    "getDayOfMonth": lambda moment: moment.day - 1,
    "getDate": lambda moment: moment.day,
    "getDayOfWeek": lambda moment: moment.isoweekday() % 7,
    "getHours": lambda moment: moment.hour,
    "getMinutes": lambda moment: moment.minute,
    "getSeconds": lambda moment: moment.second,
}
_SPANS = {"getHours": 3600 * SECOND, "getMinutes": 60 * SECOND, "getSeconds": SECOND, "getMilliseconds": 10**6}


def _zoned_field(name: str) -> Callable[[Timestamp, str], int]:
    read = _FIELDS[name]
    counts_years = name == "getFullYear"

    def value(moment: Timestamp, zone: str = "UTC") -> int:
        local, years = moment.at(time_zone(zone))
        return read(local) + (years if counts_years else 0)

    return value


def _shifted(value: Timestamp, nanos: int) -> Timestamp:
    return timestamp_of(value.nanos + nanos, value.offset)


def _milliseconds(value: Timestamp, zone: str = "UTC") -> int:
    time_zone(zone)
    return value.nanos % SECOND // 10**6


def _whole(unit: int) -> Callable[[Duration], int]:
    def read(value: Duration) -> int:
        count = abs(value.nanos) // unit
        return count if value.nanos >= 0 else -count

    return read


def _accessors() -> list[Overload]:
    entries = []
    for name in _FIELDS:
        read = _zoned_field(name)
        entries.append(member(f"timestamp_{name}", f"{name}(timestamp) -> int", read))
        entries.append(member(f"timestamp_{name}_with_tz", f"{name}(timestamp, string) -> int", read))
    for name, unit in _SPANS.items():
        entries.append(member(f"duration_{name}", f"{name}(duration) -> int", _whole(unit)))
    return entries


OVERLOADS = [
    *_accessors(),
    member("timestamp_getMilliseconds", "getMilliseconds(timestamp) -> int", _milliseconds),
    member("timestamp_getMilliseconds_with_tz", "getMilliseconds(timestamp, string) -> int", _milliseconds),
    overload(
        "add_duration_duration", "_+_(duration, duration) -> duration", lambda a, b: duration_of(a.nanos + b.nanos)
    ),
    overload("add_duration_timestamp", "_+_(duration, timestamp) -> timestamp", lambda a, b: _shifted(b, a.nanos)),
    overload("add_timestamp_duration", "_+_(timestamp, duration) -> timestamp", lambda a, b: _shifted(a, b.nanos)),
    overload(
        "subtract_duration_duration", "_-_(duration, duration) -> duration", lambda a, b: duration_of(a.nanos - b.nanos)
    ),
    overload(
        "subtract_timestamp_duration",
        "_-_(timestamp, duration) -> timestamp",
        lambda a, b: _shifted(a, -b.nanos),
    ),
    overload(
        "subtract_timestamp_timestamp",
        "_-_(timestamp, timestamp) -> duration",
        lambda a, b: duration_of(a.nanos - b.nanos),
    ),
]
