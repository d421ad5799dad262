"""JSON patch, RFC 6902."""

from __future__ import annotations

import copy
from typing import Any

from dra_embedded.errors import EmbeddedError

MAX_OPERATIONS = 10_000
_NEEDS_VALUE = ("add", "replace", "test")


class JsonPatchError(EmbeddedError):
    """The patch does not apply to the object (422). Caused by the client; the message names operation and path."""


class MalformedPatchError(JsonPatchError):
    """The patch is not a JSON patch at all (400). Caused by the client."""


def json_patch(target: Any, operations: Any) -> Any:
    """The patched value; `target` does not change. Raises MalformedPatchError, JsonPatchError."""
    if not isinstance(operations, list) or not all(isinstance(each, dict) for each in operations):
        raise MalformedPatchError("a JSON patch is a list of operations, each an object with op and path")
    result = copy.deepcopy(target)
    for number, operation in enumerate(operations):
        try:
            result = _apply(result, operation)
        except (KeyError, IndexError, ValueError, TypeError) as error:
            where = f"operation {number} ({operation.get('op')} {operation.get('path')})"
            raise JsonPatchError(f"{where} does not apply: {error}") from error
    return result


def _apply(document: Any, operation: dict[str, Any]) -> Any:
    op, path = operation.get("op"), operation.get("path")
    if not isinstance(path, str) or (path and not path.startswith("/")):
        raise ValueError("path must be empty or start with a slash")
    if op in _NEEDS_VALUE and "value" not in operation and op != "add":
        raise ValueError("value is missing")
    if op in ("move", "copy"):
        source = _pointer(operation.get("from") or "")
        value = copy.deepcopy(_read(document, source))
        if op == "move":
            document = _remove(document, source)
        return _add(document, _pointer(path), value)
    if op == "add":
        return _add(document, _pointer(path), operation.get("value"))
    if op == "remove":
        return _remove(document, _pointer(path))
    if op == "replace":
        _read(document, _pointer(path))
        return _replace(document, _pointer(path), operation["value"])
    if op == "test":
        if _read(document, _pointer(path)) != operation["value"]:
            raise ValueError("the tested value differs")
        return document
    raise ValueError("op must be add, remove, replace, move, copy or test")


def _pointer(path: str) -> list[str]:
    return [step.replace("~1", "/").replace("~0", "~") for step in path.split("/")[1:]]


def _index(container: list[Any], step: str, *, end: bool = False) -> int:
    if step == "-" and end:
        return len(container)
    index = int(step)
    if not 0 <= index < len(container) + end:
        raise IndexError(f"index {index} is out of range")
    return index


def _read(document: Any, steps: list[str]) -> Any:
    for step in steps:
        document = document[_index(document, step)] if isinstance(document, list) else document[step]
    return document


def _add(document: Any, steps: list[str], value: Any) -> Any:
    if not steps:
        return value
    parent = _read(document, steps[:-1])
    if isinstance(parent, list):
        parent.insert(_index(parent, steps[-1], end=True), value)
    else:
        parent[steps[-1]] = value
    return document


def _replace(document: Any, steps: list[str], value: Any) -> Any:
    if not steps:
        return value
    parent = _read(document, steps[:-1])
    if isinstance(parent, list):
        parent[_index(parent, steps[-1])] = value
    else:
        parent[steps[-1]] = value
    return document


def _remove(document: Any, steps: list[str]) -> Any:
    if not steps:
        return None
    parent = _read(document, steps[:-1])
    if isinstance(parent, list):
        del parent[_index(parent, steps[-1])]
    else:
        del parent[steps[-1]]
    return document
