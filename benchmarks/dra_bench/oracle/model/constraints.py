"""matchAttribute and distinctAttribute over the devices of a claim."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

JSON = dict[str, Any]
_LISTS = {"ints": "int", "bools": "bool", "strings": "string", "versions": "version"}
Values = tuple[str, frozenset[Any]]


def covers(constraint: JSON, names: tuple[str, str]) -> bool:
    """Whether a constraint covers a request: `names` are the request's name and that of the picked alternative."""
    requests = constraint.get("requests")
    return not requests or any(name in requests for name in names)


def published(attributes: JSON, driver: str, name: str) -> JSON | None:
    """The attribute that a device has under a qualified name."""
    domain, _, local = name.partition("/")
    if name in attributes:
        found: JSON | None = attributes[name]
        return found
    return attributes.get(local) if domain == driver else None


def holds(constraint: JSON, attributes: Sequence[JSON | None], *, lists: bool) -> bool:
    """Whether devices with these attributes, in the order in which they were picked, satisfy a constraint."""
    if any(attribute is None for attribute in attributes):
        return False
    values = [_values(attribute, lists) for attribute in attributes if attribute is not None]
    if "matchAttribute" in constraint:
        # Without list attributes the first device may have a list, but no other one can be equal to it.
        return _match(values) if lists else all(one == values[0] and _is_scalar(one) for one in values[1:])
    if not lists and any(not _is_scalar(one) for one in values[1:]):
        return False
    pairs = [(a, b) for index, a in enumerate(values) for b in values[:index]]
    return all(not _common(a, b) for a, b in pairs) and all(one[1] for one in values if lists)


def _values(attribute: JSON, lists: bool) -> Values:
    known = [(kind, value) for kind, value in attribute.items() if kind in _LISTS or kind in _LISTS.values()]
    if not known:
        return ("string" if lists else "strings", frozenset())
    (kind, value), *_ = known
    if kind in _LISTS:
        return (_LISTS[kind] if lists else kind, frozenset(value))
    return (kind, frozenset([value]))


def _is_scalar(values: Values) -> bool:
    return values[0] not in _LISTS


def _match(values: list[Values]) -> bool:
    kinds = {kind for kind, _ in values}
    return len(kinds) == 1 and bool(frozenset.intersection(*(found for _, found in values)))


def _common(one: Values, other: Values) -> bool:
    return one[0] == other[0] and one[0] not in _LISTS and bool(one[1] & other[1])
