"""Formats of names, as errors of fields."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from dra_api.names import (
    byte_length,
    c_identifier_problems,
    is_uid,
    label_problems,
    label_value_problems,
    qualified_name_problems,
    subdomain_problems,
)
from dra_api.validation.errors import invalid, required, too_long
from dra_api.validation.lists import Errors

MAX_DRIVER = 63
MAX_POOL = 253
MAX_IDENTIFIER = 32

_UID_TEXT = "must be a UUID in its normal form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` in lower case"


def names(path: str, value: str, check: Callable[[str], Iterable[str]]) -> Errors:
    """Check a name against a format."""
    return (invalid(path, value, problem) for problem in check(value))


def driver_name(path: str, value: str) -> Errors:
    """Check a driver's name: a subdomain of at most 63 bytes, upper case allowed."""
    if not value:
        yield required(path)
        return
    if byte_length(value) > MAX_DRIVER:
        yield too_long(path, MAX_DRIVER)
    for problem in subdomain_problems(value.lower()):
        yield invalid(path, value, problem)


def pool_name(path: str, value: str) -> Errors:
    """Check a pool's name: subdomains separated by slashes."""
    if not value:
        yield required(path)
        return
    if byte_length(value) > MAX_POOL:
        yield too_long(path, MAX_POOL)
    for part in value.split("/"):
        yield from names(path, part, subdomain_problems)


def qualified_name(path: str, value: str) -> Errors:
    """Check the name of an attribute or capacity: `identifier` or `domain/identifier`."""
    parts = value.split("/")
    if len(parts) > 2:
        # Kubernetes does not look at names with more slashes and says that it has to stay so.
        return
    if len(parts) == 2:
        if parts[0]:
            yield from driver_name(path, parts[0])
        else:
            yield invalid(path, "", "the domain must not be empty")
        if not parts[1]:
            yield invalid(path, "", "the name must not be empty")
            return
    if byte_length(parts[-1]) > MAX_IDENTIFIER:
        yield too_long(path, MAX_IDENTIFIER)
    yield from names(path, parts[-1], c_identifier_problems)


def fully_qualified_name(path: str, value: str) -> Errors:
    """Check an attribute's name with its domain."""
    yield from qualified_name(path, value)
    if "/" not in value:
        yield invalid(path, value, "a fully qualified name must be a domain and a name separated by a slash")


def uid(path: str, value: str) -> Errors:
    """Check a share's id."""
    if not is_uid(value):
        yield invalid(path, value, _UID_TEXT)


def device_name(path: str, value: str) -> Errors:
    """Check a device's name."""
    return names(path, value, label_problems)


def label_key(path: str, value: str) -> Errors:
    """Check the key of a label, taint or condition."""
    return names(path, value, qualified_name_problems)


def label_value(path: str, value: str) -> Errors:
    """Check the value of a label or taint."""
    return names(path, value, label_value_problems)
