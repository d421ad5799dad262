"""Lists: their length, their items, items that must differ."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any

from dra_api.validation.errors import FieldError, duplicate, invalid, too_many

Raw = dict[str, Any]
Errors = Iterator[FieldError]


def items(path: str, values: Sequence[Any], limit: int | None, check: Callable[[str, Any], Errors]) -> Errors:
    """Check the items of a list; one that is too long is not looked into."""
    if limit is not None and len(values) > limit:
        yield too_many(path, len(values), limit)
        return
    for i, value in enumerate(values):
        yield from check(f"{path}[{i}]", value)


def unique_items(
    path: str,
    values: Sequence[Any],
    limit: int | None,
    check: Callable[[str, Any], Errors],
    key: Callable[[Any], Hashable] = lambda value: value,
) -> Errors:
    """Check the items of a list whose keys must differ."""
    yield from items(path, values, limit, check)
    if limit is None or len(values) <= limit:
        yield from duplicates(path, values, key)


def duplicates(path: str, values: Sequence[Any], key: Callable[[Any], Hashable] = lambda value: value) -> Errors:
    """Report each item whose key was there before."""
    seen = set()
    for i, value in enumerate(values):
        if (found := key(value)) in seen:
            yield duplicate(f"{path}[{i}]", found)
        seen.add(found)


def one_of(path: str, value: Raw, members: Sequence[str]) -> Errors:
    """Check that exactly one member of a union is set; an empty list does not count as set."""
    chosen = [name for name in value if name in members and value[name] not in (None, [])]
    if len(chosen) == 1:
        return
    known = ", ".join(f"`{name}`" for name in members)
    if not chosen:
        yield invalid(path, "", f"must specify one of: {known}")
    else:
        chosen.sort(key=members.index)
        yield invalid(path, f"{{{', '.join(chosen)}}}", f"must specify exactly one of: {known}")
