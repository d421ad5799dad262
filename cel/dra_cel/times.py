"""Timestamps and durations, in nanoseconds."""

from __future__ import annotations

import functools
import re
import zoneinfo
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone, tzinfo

from dra_cel.errors import EvaluationError
from dra_cel.uint import MAX_INT, MIN_INT
from dra_cel.values import register_type_name

SECOND = 10**9
MIN_SECONDS = -62135596800
"""0001-01-01T00:00:00Z."""
MAX_SECONDS = 253402300799
"""9999-12-31T23:59:59Z."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_CYCLE = timedelta(days=146097)
"""400 years."""
_TIMESTAMP = re.compile(r"(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(?:[.,](\d+))?(?:Z|([+-])(\d{2}):(\d{2}))", re.ASCII)
_UNITS = {
    "ns": 1,
    "us": 1000,
    "\u00b5s": 1000,
    "\u03bcs": 1000,
    "ms": 10**6,
    "s": SECOND,
    "m": 60 * SECOND,
    "h": 3600 * SECOND,
}
_PART = re.compile(r"(\d*)(?:\.(\d*))?(ns|us|\u00b5s|\u03bcs|ms|s|m|h)", re.ASCII)
_OFFSET = re.compile(r"([+-]?)(\d{1,2}):(\d{1,2})", re.ASCII)


@dataclass(frozen=True, slots=True, order=True)
class Duration:
    """A span of time in nanoseconds, within 64 bits."""

    nanos: int


@dataclass(frozen=True, slots=True, order=True)
class Timestamp:
    """A point in time within the years 1 to 9999.

    Attributes:
        nanos: nanoseconds since 1970.
        offset: of the zone it was written in, in seconds east of UTC; shown when it is turned into text again.

    """

    nanos: int
    offset: int = field(default=0, compare=False)

    def at(self, zone: tzinfo) -> tuple[datetime, int]:
        """Return it as a date and time, and how many years to add; microseconds are cut off.

        A zone may lead into the years 0 and 10000, which `datetime` does not have: then it is 400 years nearer, after
        which calendars and rules of zones repeat.
        """
        moment = _EPOCH + timedelta(seconds=self.nanos // SECOND)
        try:
            return moment.astimezone(zone), 0
        except (OverflowError, ValueError):
            years = -400 if moment.year < _EPOCH.year else 400
            return (moment - years // 400 * _CYCLE).astimezone(zone), years


register_type_name(Duration, "google.protobuf.Duration")
register_type_name(Timestamp, "google.protobuf.Timestamp")


def duration_of(nanos: int) -> Duration:
    """Return a duration, or raise EvaluationError where it does not fit."""
    if not MIN_INT <= nanos <= MAX_INT:
        raise EvaluationError("duration overflow")
    return Duration(nanos)


def timestamp_of(nanos: int, offset: int = 0) -> Timestamp:
    """Return a timestamp, or raise EvaluationError outside the years 1 to 9999."""
    if not MIN_SECONDS <= nanos // SECOND <= MAX_SECONDS:
        raise EvaluationError("timestamp overflow")
    return Timestamp(nanos, offset)


def parse_timestamp(text: str) -> Timestamp:
    """Parse RFC 3339."""
    match = _TIMESTAMP.fullmatch(text)
    error = EvaluationError(f"type conversion error from 'string' to 'google.protobuf.Timestamp': {text[:80]!r}")
    if match is None:
        raise error
    moment, fraction, sign, hours, minutes = match.groups()
    early = moment.startswith("0000")  # UTC may be in the year 1 all the same
    try:
        date = datetime.fromisoformat(f"0400{moment[4:]}" if early else moment).replace(tzinfo=UTC)
        seconds = (date - _EPOCH - (_CYCLE if early else timedelta())) // timedelta(seconds=1)
    except ValueError as cause:
        raise error from cause
    offset = 0
    if sign:
        if int(hours) > 24 or int(minutes) >= 60:
            raise error
        offset = (int(hours) * 3600 + int(minutes) * 60) * (1 if sign == "+" else -1)
    return timestamp_of((seconds - offset) * SECOND + int(((fraction or "") + "0" * 9)[:9]), offset)


def parse_duration(text: str) -> Duration:
    """Parse Go's notation: `1h30m`, `-1.5s`, `300ms`, `0`."""
    sign, rest = (-1, text[1:]) if text[:1] == "-" else (1, text[1:] if text[:1] == "+" else text)
    total = position = 0
    error = EvaluationError(f"type conversion error from 'string' to 'google.protobuf.Duration': {text[:80]!r}")
    if rest == "0":
        return Duration(0)
    if not rest or len(rest) > 1000:
        raise error
    while position < len(rest):
        match = _PART.match(rest, position)
        if match is None or not (match.group(1) or match.group(2)):
            raise error
        unit = _UNITS[match.group(3)]
        fraction = match.group(2) or ""
        total += int(match.group(1) or 0) * unit + (int(fraction) * unit // 10 ** len(fraction) if fraction else 0)
        position = match.end()
    if not MIN_INT <= sign * total <= MAX_INT:
        raise error
    return Duration(sign * total)


def format_timestamp(value: Timestamp) -> str:
    """Return RFC 3339 in the zone it was written in, with as many digits as needed."""
    moment, years = value.at(timezone(timedelta(seconds=value.offset)))
    fraction = f"{value.nanos % SECOND:09d}".rstrip("0")
    minutes = abs(value.offset) // 60
    zone = f"{'-' if value.offset < 0 else '+'}{minutes // 60:02d}:{minutes % 60:02d}" if value.offset else "Z"
    return f"{moment.year + years:04d}-{moment:%m-%dT%H:%M:%S}{'.' + fraction if fraction else ''}{zone}"


@functools.lru_cache(maxsize=64)
def time_zone(name: str) -> tzinfo:
    """Return a zone by its IANA name, or by an offset such as `-08:00`.

    Raises:
        EvaluationError: there is no such zone.

    """
    if name in ("", "Local"):  # Local is the zone of the process that evaluates: in a container that is UTC
        return UTC
    if ":" not in name:
        try:
            return zoneinfo.ZoneInfo(name)
        except (KeyError, OSError, ValueError) as error:
            raise EvaluationError(f"unknown time zone {name[:80]}") from error
    match = _OFFSET.fullmatch(name)
    if match is None or int(match.group(2)) > 23 or int(match.group(3)) > 59:
        raise EvaluationError(f"unknown time zone {name[:80]}")
    offset = timedelta(hours=int(match.group(2)), minutes=int(match.group(3)))
    return timezone(-offset if match.group(1) == "-" else offset)
