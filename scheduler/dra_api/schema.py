"""Types of the fields that are read, as data, and the check of an object against them.

A schema is a name of a type ("string", "integer", "boolean", "quantity", "time", "any"), `Fields` (an object), a list
of one schema (a list) or `Map` (an object with any keys). An open object may have fields that are not listed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from difflib import get_close_matches
from typing import Any, Union

from dra_api.decode.fields import check_integer, wrong_type
from dra_api.decode.values import check_quantity
from dra_api.errors import DecodeError

_RFC3339 = re.compile(r"(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})([.,]\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)", re.ASCII)

Schema = Union[str, "Map", "Fields", list[Any]]


@dataclass(frozen=True, slots=True)
class Map:
    """An object with any keys whose values have one schema."""

    values: Schema


@dataclass(frozen=True, slots=True)
class Fields:
    """An object with known fields; `open_`: others may be there and are not looked at."""

    fields: dict[str, Schema] = field(default_factory=dict)
    open_: bool = False


def check_types(value: Any, schema: Schema, path: str = "", *, unknown_fields: bool = True) -> Iterator[DecodeError]:
    """Yield an error for every field of the wrong type and, in closed objects, for every unknown one.

    `unknown_fields` false: unknown fields are passed over, as an API server does unless it is asked to be strict.
    """
    for error, is_unknown in _check(value, schema, path):
        if unknown_fields or not is_unknown:
            yield error


_Found = Iterator[tuple[DecodeError, bool]]


def _check(value: Any, schema: Schema, path: str) -> _Found:
    if value is None or schema == "any":
        return
    if isinstance(schema, str):
        try:
            _SCALARS[schema](path, value)
        except DecodeError as error:
            yield error, False
    elif isinstance(schema, list):
        if not isinstance(value, list):
            yield wrong_type(path, "a list", value), False
            return
        for i, item in enumerate(value):
            yield from _check_inner(item, schema[0], f"{path}[{i}]")
    elif not isinstance(value, dict):
        yield wrong_type(path, "an object", value), False
    elif isinstance(schema, Map):
        for key, item in value.items():
            yield from _check_inner(item, schema.values, f"{path}[{key}]")
    else:
        yield from _check_fields(value, schema, path)


def _check_inner(value: Any, schema: Schema, path: str) -> _Found:
    """Check an item of a list or a value of a map: it cannot be left out, so it cannot be null either."""
    if value is None and schema != "any":
        yield DecodeError(path, "must not be null", "leave it out"), False
    else:
        yield from _check(value, schema, path)


def _check_fields(value: dict[str, Any], schema: Fields, path: str) -> _Found:
    for key, item in value.items():
        where = f"{path}.{key}" if path else key
        expected = schema.fields.get(key)
        if expected is not None:
            yield from _check(item, expected, where)
        elif not schema.open_:
            close = get_close_matches(key, schema.fields, 1)
            hint = f"did you mean {close[0]}?" if close else ""
            yield DecodeError(where, "unknown field", hint, code="unknown-field"), True


def _string(path: str, value: Any) -> None:
    if not isinstance(value, str):
        raise wrong_type(path, "a string", value)


def _boolean(path: str, value: Any) -> None:
    if not isinstance(value, bool):
        raise wrong_type(path, "a boolean", value)


def _time(path: str, value: Any) -> None:
    _string(path, value)
    match = _RFC3339.fullmatch(value)
    try:
        if match is None:
            raise ValueError(value)
        datetime.fromisoformat(match.group(1))
    except ValueError as error:
        hint = "write it as 2026-01-31T12:00:00Z (RFC 3339)"
        raise DecodeError(path, f"{value[:40]!r} is not a time", hint) from error


_SCALARS: dict[str, Callable[[str, Any], object]] = {
    "string": _string,
    "integer": check_integer,
    "boolean": _boolean,
    "quantity": check_quantity,
    "time": _time,
}
