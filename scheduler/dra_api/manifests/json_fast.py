"""One JSON document without line numbers, fast; whatever is odd in it is left to the slow reader, which can name it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from dra_api.manifests.lines import MAX_DEPTH

UNREAD: Any = object()
"""Returned for a text that the slow reader has to look at."""

_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")


def read_fast(text: str) -> Any:
    """Return the value of a text that is one flawless JSON document, else `UNREAD`."""
    if _SURROGATE_ESCAPE.search(text):
        return UNREAD
    try:
        value = _DECODER.decode(text)
    except (ValueError, RecursionError):  # malformed, a key twice, several documents, a number out of range, too deep
        return UNREAD
    return UNREAD if _is_too_deep(value) else value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("a key is there twice")
    return value


def _float(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ValueError("out of range")
    return number


def _constant(text: str) -> float:
    raise ValueError(f"{text} is not JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_float=_float, parse_constant=_constant)


def _is_too_deep(value: Any) -> bool:
    level = _containers([value])
    for _ in range(MAX_DEPTH + 1):
        if not level:
            return False
        level = [
            child for holder in level for child in _containers(holder.values() if isinstance(holder, dict) else holder)
        ]
    return bool(level)


def _containers(values: Iterable[Any]) -> list[Any]:
    return [value for value in values if isinstance(value, (dict, list))]
