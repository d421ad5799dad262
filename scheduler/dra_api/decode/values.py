"""Quantities, versions and names: parsed once per distinct text, because slices repeat them thousands of times."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from sys import intern
from typing import Any, cast

from dra_api.decode.fields import INT64_MAX, Raw, Unsupported, wrong_type
from dra_api.errors import DecodeError
from dra_cel.device import AttributeValue, qualify
from dra_cel.quantity import Quantity, QuantityError
from dra_cel.semver import Semver, SemverError

_CACHED = 16384
_QUANTITY_HINT = 'a quantity is a number with an optional suffix, such as "16Gi", "500m" or "1e3"'

_ZERO = Quantity.from_int(0)

parse_quantity = lru_cache(_CACHED)(Quantity.parse)
_parse_version = lru_cache(_CACHED)(Semver.parse)


@lru_cache(_CACHED)
def qualified(name: str, driver: str) -> str:
    """Return the interned fully qualified form of an attribute's or capacity's name."""
    return intern(qualify(name, driver))


def quantity(obj: Raw, key: str) -> Quantity:
    """Return a quantity, zero if it is absent, as the API server reads it. Raises DecodeError."""
    value = obj.get(key)
    return _ZERO if value is None else check_quantity(key, value)


def optional_quantity(obj: Raw, key: str) -> Quantity | None:
    """Return a quantity, or None if it is absent. As in Kubernetes it may also be a JSON number."""
    value = obj.get(key)
    return None if value is None else check_quantity(key, value)


def check_quantity(field: str, value: object) -> Quantity:
    """Return the quantity that a JSON value stands for. Raises DecodeError."""
    if type(value) is int or type(value) is float:
        value = repr(value)
    if type(value) is not str:
        raise wrong_type(field, "a quantity", value)
    try:
        return parse_quantity(value)
    except QuantityError as error:
        shown = value if len(value) <= 40 else value[:37] + "..."
        raise DecodeError(field, f"{shown!r} is not a quantity", _QUANTITY_HINT) from error


def _int(field: str, value: Any) -> int:
    if type(value) is not int:
        raise wrong_type(field, "an integer", value)
    if not -INT64_MAX - 1 <= value <= INT64_MAX:
        raise DecodeError(field, "is out of range", "integers have 64 bits")
    return value


def _bool(field: str, value: Any) -> bool:
    if type(value) is not bool:
        raise wrong_type(field, "a boolean", value)
    return value


def _string(field: str, value: Any) -> str:
    if type(value) is not str:
        raise wrong_type(field, "a string", value)
    return intern(value)


def _version(field: str, value: Any) -> Semver:
    if type(value) is not str:
        raise wrong_type(field, "a string", value)
    try:
        return _parse_version(value)
    except SemverError as error:
        raise Unsupported(f"{field} {value!r} is not a semantic version (semver.org 2.0.0)") from error


_Reader = Callable[[str, Any], Any]
_SCALARS: dict[str, _Reader] = {"string": _string, "int": _int, "bool": _bool, "version": _version}
_LISTS: dict[str, _Reader] = {"strings": _string, "ints": _int, "bools": _bool, "versions": _version}


def attribute(obj: object) -> AttributeValue:
    """Return the one value of a DeviceAttribute.

    Raises DecodeError for a wrong type or several values, Unsupported if no kind of value that we know is set.
    """
    if not isinstance(obj, dict):
        raise wrong_type("", "an object", obj)
    if len(obj) == 1:  # the usual case, kept short: this runs for every attribute of every device
        for key, value in obj.items():
            read = _SCALARS.get(key)
            if read is not None and value is not None:
                return cast("AttributeValue", read(key, value))
    known = [key for key in (*_SCALARS, *_LISTS) if obj.get(key) is not None]
    if not known:
        raise Unsupported(f"unsupported attribute value ({', '.join(sorted(obj)) or 'it is empty'})")
    if len(known) > 1:
        raise DecodeError("", f"has {len(known)} values ({', '.join(known)})", "an attribute has exactly one value")
    key = known[0]
    if key in _SCALARS:
        return cast("AttributeValue", _SCALARS[key](key, obj[key]))
    values = obj[key]
    if not isinstance(values, list):
        raise wrong_type(key, "a list", values)
    read = _LISTS[key]
    return tuple([read(f"{key}[{i}]", value) for i, value in enumerate(values)])
