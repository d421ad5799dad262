"""Columns and the small texts in them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

Object = dict[str, Any]
Cell = str | int | bool
NONE = "<none>"
UNKNOWN = "<unknown>"


@dataclass(frozen=True, slots=True)
class Column:
    """A column: `cell` makes its text from an object and the time. `wide`: shown with `-o wide` only."""

    name: str
    cell: Callable[[Object, datetime], Cell]
    wide: bool = False
    kind: str = "string"

    def definition(self) -> Object:
        """Its TableColumnDefinition."""
        return {
            "name": self.name,
            "type": self.kind,
            "format": "name" if self.name == "Name" else "",
            "description": self.name,
            "priority": 1 if self.wide else 0,
        }


def name(obj: Object, _now: datetime) -> Cell:
    """The object's name."""
    return str(obj["metadata"].get("name", ""))


def age(obj: Object, now: datetime) -> Cell:
    """How long ago the object was created."""
    return since(obj["metadata"].get("creationTimestamp"), now)


def since(timestamp: str | None, now: datetime) -> str:
    """How long ago a timestamp was, as kubectl writes it: 5s, 3m20s, 2h10m, 4d."""
    if not timestamp:
        return UNKNOWN
    try:
        then = datetime.fromisoformat(timestamp)
    except ValueError:
        return UNKNOWN
    return duration(int((now - then.replace(tzinfo=then.tzinfo or UTC)).total_seconds()))


def duration(seconds: int) -> str:
    """A time span with two units where one would be too coarse (k8s.io/apimachinery, HumanDuration)."""
    if seconds < -1:
        return "<invalid>"
    seconds = max(seconds, 0)
    minutes, hours, days = seconds // 60, seconds // 3600, seconds // 86400
    if seconds < 120:
        return f"{seconds}s"
    if minutes < 10:
        return _two(minutes, "m", seconds % 60, "s")
    if minutes < 180:
        return f"{minutes}m"
    if hours < 8:
        return _two(hours, "h", minutes % 60, "m")
    if hours < 48:
        return f"{hours}h"
    if days < 8:
        return _two(days, "d", hours % 24, "h")
    if days < 730:
        return f"{days}d"
    if days < 365 * 8:
        return _two(days // 365, "y", days % 365, "d")
    return f"{days // 365}y"


def _two(first: int, unit: str, second: int, smaller: str) -> str:
    return f"{first}{unit}{second}{smaller}" if second else f"{first}{unit}"


def field(*path: str, default: str = "") -> Callable[[Object, datetime], Cell]:
    """A column's cell: the text at a path of fields, or the default."""

    def cell(obj: Object, _now: datetime) -> Cell:
        value: Any = obj
        for part in path:
            value = value.get(part) if isinstance(value, dict) else None
        return default if value is None or value == "" else value if isinstance(value, bool | int) else str(value)

    return cell
