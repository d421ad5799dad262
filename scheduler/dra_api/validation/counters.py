"""Counters that the partitions of a pool share, and what a device takes of them (KEP-4815)."""

from __future__ import annotations

from dra_api.names import label_problems
from dra_api.validation.errors import required, too_many
from dra_api.validation.formats import names
from dra_api.validation.lists import Errors, Raw, unique_items

MAX_COUNTERS = 32
MAX_GROUPS = 2


def counter_set(path: str, value: Raw) -> Errors:
    """Check one entry of `sharedCounters`."""
    yield from _name(f"{path}.name", value.get("name") or "")
    yield from _counters(path, value)


def consumption(path: str, value: Raw) -> Errors:
    """Check one entry of `consumesCounters`, its compatibility groups (Kubernetes 1.37) included."""
    yield from _name(f"{path}.counterSet", value.get("counterSet") or "")
    yield from _counters(path, value)
    groups = value.get("compatibilityGroups") or ()

    def group(at: str, name: str) -> Errors:
        return names(at, name, label_problems)

    yield from unique_items(f"{path}.compatibilityGroups", groups, MAX_GROUPS, group)


def _name(path: str, value: str) -> Errors:
    if value:
        yield from names(path, value, label_problems)
    else:
        yield required(path)


def _counters(path: str, value: Raw) -> Errors:
    counters = value.get("counters") or {}
    if not counters:
        yield required(f"{path}.counters")
    elif len(counters) > MAX_COUNTERS:
        yield too_many(f"{path}.counters", len(counters), MAX_COUNTERS)
    else:
        for name in counters:
            yield from names(f"{path}.counters", name, label_problems)
