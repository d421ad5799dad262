"""Damage to objects: wrong types, nulls, huge values, deep nesting, keys that are missing, moved or unknown."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

from dra_bench.fuzz.text import damaged as damaged_text
from dra_bench.oracle.draw import Draw

JSON = dict[str, Any]
Path = tuple[str | int, ...]
_HEAD = ("apiVersion", "kind")


def _deep(levels: int) -> Any:
    value: Any = []
    for _ in range(levels):
        value = [value] if levels % 2 else {"a": value}
    return value


_ODD: tuple[Callable[[], Any], ...] = (
    lambda: None, lambda: True, lambda: False, lambda: 0, lambda: -1, lambda: 1, lambda: 2**63, lambda: -(2**70),
    lambda: 0.5, lambda: 1e300, lambda: 1.0, lambda: "", lambda: "a", lambda: "1", lambda: "true", lambda: [], dict,
    lambda: [None], lambda: [[]], lambda: {"": None}, lambda: "x" * 10_300, lambda: "9" * 5_000,
    lambda: ["a"] * 200, lambda: [{}] * 130, lambda: {f"k{n}": {} for n in range(200)}, lambda: _deep(80),
    lambda: _deep(61), lambda: "\u0000", lambda: "a\nb", lambda: [1], lambda: {"a": 1}, lambda: "1e4096",
)  # fmt: skip


def damaged(draw: Draw, obj: JSON, *, most: int = 3) -> JSON:
    """Return a copy with one to `most` values changed; kind and version stay."""
    changed = copy.deepcopy(obj)
    for _ in range(draw.number(1, most)):
        places = [path for path in paths(changed) if path and path[0] not in _HEAD]
        if places:
            _damage(draw, changed, draw.one(places))
    return changed


def paths(value: Any, prefix: Path = ()) -> Iterator[Path]:
    """Yield the path of every value in an object, itself included."""
    yield prefix
    if isinstance(value, dict):
        for key, child in value.items():
            yield from paths(child, (*prefix, key))
    elif isinstance(value, list):
        for index, child in enumerate(value[:40]):
            yield from paths(child, (*prefix, index))


def _damage(draw: Draw, root: Any, path: Path) -> None:
    holder = _at(root, path[:-1])
    key = path[-1]
    value = holder[key]
    way = draw.weighted({"odd": 6, "gone": 2, "text": 4, "again": 2, "moved": 1, "wrapped": 1, "renamed": 1})
    if way == "gone":
        del holder[key]
    elif way == "text" and isinstance(value, str):
        holder[key] = damaged_text(draw, value, most=2)
    elif way == "again" and isinstance(holder, list):
        holder.extend(copy.deepcopy(value) for _ in range(draw.one((1, 1, 2, 40))))
    elif way == "moved":
        other = draw.one([one for one in paths(root) if one and one[0] not in _HEAD])
        holder[key] = copy.deepcopy(_at(root, other))
    elif way == "wrapped":
        holder[key] = draw.one(([value], {"a": value}))
    elif way == "renamed" and isinstance(key, str):
        holder[damaged_text(draw, key, most=1)] = holder.pop(key)
    else:
        holder[key] = draw.one(_ODD)()


def _at(root: Any, path: Path) -> Any:
    for key in path:
        root = root[key]
    return root


def smaller(obj: JSON) -> Iterator[JSON]:
    """Copies with one value less, those near the root first."""
    for path in sorted(paths(obj), key=len):
        if path and path[0] not in _HEAD:
            less = copy.deepcopy(obj)
            del _at(less, path[:-1])[path[-1]]
            yield less
