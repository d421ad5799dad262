"""Configuration for drivers, opaque to everybody else."""

from __future__ import annotations

import json
from typing import Any

from dra_api.names import byte_length
from dra_api.validation.errors import invalid, required, too_long
from dra_api.validation.formats import driver_name
from dra_api.validation.lists import Errors, Raw

MAX_PARAMETERS = 10 * 1024
"""Bytes of `opaque.parameters` as JSON."""


def configuration(path: str, value: Raw, stored: bool) -> Errors:
    """Check a configuration for drivers; of a stored one the length of the parameters is not looked at again."""
    opaque = value.get("opaque")
    if opaque is None:
        yield required(f"{path}.opaque")
        return
    yield from driver_name(f"{path}.opaque.driver", opaque.get("driver") or "")
    yield from json_object(f"{path}.opaque.parameters", opaque.get("parameters"), None if stored else MAX_PARAMETERS)


def json_object(path: str, value: Any, limit: int | None) -> Errors:
    """Check raw JSON that must be an object of at most `limit` bytes."""
    if value is None:
        yield required(path)
    elif limit is not None and byte_length(json.dumps(value, ensure_ascii=False, separators=(",", ":"))) > limit:
        yield too_long(path, limit)
    elif not isinstance(value, dict):
        yield invalid(path, "<value omitted>", "must be a valid JSON object")
