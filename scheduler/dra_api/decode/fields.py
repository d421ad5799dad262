"""Typed fields of raw objects: absent and null are the same, a wrong type is an error that names the field."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from sys import intern
from typing import Any, TypeVar

from dra_api.errors import DecodeError

T = TypeVar("T")
Raw = Mapping[str, Any]

INT64_MAX = 2**63 - 1
_EMPTY: Raw = {}


class Unsupported(Exception):  # noqa: N818 - no error of the caller's: turned into `unsupported=` one level up
    """A part of a newer API that is not understood; the device or request that has it becomes unsupported."""


def wrong_type(field: str, expected: str, value: object) -> DecodeError:
    """Return the error for a value of the wrong type."""
    hint = "write it without quotes" if isinstance(value, str) and expected in ("an integer", "a boolean") else ""
    if expected == "a string" and isinstance(value, (bool, int, float)):
        hint = f'write it with quotes: "{str(value).lower() if isinstance(value, bool) else value}"'
    return DecodeError(field, f"must be {expected}, not {type_name(value)}", hint)


def type_name(value: object) -> str:
    """Return the JSON name of a value's type, with the value where it is short."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return f"a boolean ({str(value).lower()})"
    if isinstance(value, int):
        return f"an integer ({value})" if abs(value) < 10**20 else "an integer"
    if isinstance(value, float):
        return f"a number with a fraction ({value})"
    if isinstance(value, str):
        return f"a string ({value!r})" if len(value) <= 40 else "a string"
    return "a list" if isinstance(value, (list, tuple)) else "an object"


def text(obj: Raw, key: str, default: str = "") -> str:
    """Return a string field."""
    value = obj.get(key)
    if value is None:
        return default
    if type(value) is not str:
        raise wrong_type(key, "a string", value)
    return value


def optional_text(obj: Raw, key: str) -> str | None:
    """Return a string field, or None if it is absent."""
    value = obj.get(key)
    if value is not None and type(value) is not str:
        raise wrong_type(key, "a string", value)
    return value


def integer(obj: Raw, key: str, default: int = 0) -> int:
    """Return an int64 field."""
    value = obj.get(key)
    return default if value is None else check_integer(key, value)


def check_integer(field: str, value: object) -> int:
    """Return the value if it is an int64, else raise DecodeError."""
    if type(value) is not int:
        raise wrong_type(field, "an integer", value)
    if not -INT64_MAX - 1 <= value <= INT64_MAX:
        raise DecodeError(field, "is out of range", "integers have 64 bits")
    return value


def boolean(obj: Raw, key: str, default: bool = False) -> bool:
    """Return a boolean field."""
    value = obj.get(key)
    if value is None:
        return default
    if type(value) is not bool:
        raise wrong_type(key, "a boolean", value)
    return value


def mapping(obj: Raw, key: str) -> Raw:
    """Return an object field, empty if it is absent."""
    value = obj.get(key)
    if value is None:
        return _EMPTY
    if not isinstance(value, dict):
        raise wrong_type(key, "an object", value)
    return value


def optional_mapping(obj: Raw, key: str) -> Raw | None:
    """Return an object field, or None if it is absent."""
    return None if obj.get(key) is None else mapping(obj, key)


def sequence(obj: Raw, key: str) -> list[Any]:
    """Return a list field, empty if it is absent."""
    value = obj.get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        raise wrong_type(key, "a list", value)
    return value


def texts(obj: Raw, key: str) -> tuple[str, ...]:
    """Return a list of strings, interned."""
    if obj.get(key) is None:
        return ()
    values = sequence(obj, key)
    for i, value in enumerate(values):
        if type(value) is not str:
            raise wrong_type(f"{key}[{i}]", "a string", value)
    return tuple([intern(value) for value in values])


def items(obj: Raw, key: str, read: Callable[[Raw], T]) -> tuple[T, ...]:
    """Read a list of objects; an error in one names it as `key[i]`."""
    if obj.get(key) is None:
        return ()
    values = sequence(obj, key)
    result: list[T] = []
    try:
        for item in values:
            if not isinstance(item, dict):
                raise wrong_type("", "an object", item)
            result.append(read(item))
    except DecodeError as error:
        raise error.within(f"{key}[{len(result)}]") from error
    return tuple(result)


def below(obj: Raw, key: str, read: Callable[[Raw], T]) -> T:
    """Read an object field (empty if absent); errors in it name `key`."""
    value = mapping(obj, key)
    try:
        return read(value)
    except DecodeError as error:
        raise error.within(key) from error


def string_map(obj: Raw, key: str) -> dict[str, str]:
    """Return a map of strings to strings (labels), interned."""
    result = {}
    for name, value in mapping(obj, key).items():
        if type(value) is not str:
            raise wrong_type(f"{key}[{name}]", "a string", value)
        result[intern(name)] = intern(value)
    return result


def decoded(kind: str, obj: object, read: Callable[[Raw], T]) -> T:
    """Read a whole object; errors name it by kind, namespace and name."""
    if not isinstance(obj, dict):
        raise DecodeError("", f"a {kind} must be an object, not {type_name(obj)}", kind=kind)
    try:
        return read(obj)
    except DecodeError as error:
        metadata = obj.get("metadata")
        labels = metadata if isinstance(metadata, dict) else {}
        raise error.of(kind, str(labels.get("namespace") or ""), str(labels.get("name") or "")) from error
