"""Making a case smaller while what it shows remains."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

JSON = dict[str, Any]
Path = tuple[str | int, ...]

# Lists whose elements, and objects whose keys, can go without making the API object malformed.
_ELEMENTS = frozenset(
    {
        "claimsToAllocate",
        "classes",
        "slices",
        "devices",
        "requests",
        "firstAvailable",
        "constraints",
        "config",
        "selectors",
        "tolerations",
        "taints",
        "consumesCounters",
        "compatibilityGroups",
        "derivedAttributes",
        "allocatedDevices",
        "allocatedSharedDeviceIDs",
        "aggregatedCapacity",
        "sharedCounters",
        "matchExpressions",
        "declaredFeatures",
        "ints",
        "strings",
        "skipNodeOperations",
    }
)
_ENTRIES = frozenset({"attributes", "capacity", "counters", "consumedCapacity", "labels"})
_KEYS = frozenset(
    {
        "selectors",
        "tolerations",
        "constraints",
        "config",
        "attributes",
        "capacity",
        "taints",
        "consumesCounters",
        "bindingConditions",
        "bindingFailureConditions",
        "bindsToNode",
        "requestPolicy",
        "adminAccess",
        "compatibilityGroups",
        "skipNodeOperations",
        "derivedAttributes",
        "allowMultipleAllocations",
        "declaredFeatures",
    }
)
_NOT_EMPTY = frozenset(
    {"claimsToAllocate", "requests", "firstAvailable", "nodeSelectorTerms", "matchExpressions", "ints", "strings"}
)


Edit = Callable[[JSON], JSON]


def shrink(case: JSON, still: Callable[[JSON], bool], *, most: int = 2000) -> JSON:
    """Return a smaller case for which `still` is true; it is asked at most `most` times."""
    asked = position = 0
    progress = False
    while asked < most:
        edits = list(_edits(case))
        if position >= len(edits):
            if not progress:
                break
            position, progress = 0, False
            continue
        smaller = edits[position](case)
        asked += 1
        if still(smaller):
            case, progress = smaller, True  # the next edit is at this position now
        else:
            position += 1
    return case


def _edits(case: JSON) -> Iterator[Edit]:
    """What can be taken away or simplified, the largest parts first."""
    for index in range(len(case["slices"])):
        yield partial(_without_slice, index)
    for path in sorted(_removable(case, ()), key=len):
        yield partial(_removed, path)
    for path, value in _simpler(case, ()):
        yield partial(_replaced, path, value)


def _without_slice(index: int, case: JSON) -> JSON:
    """Take a slice away; the others of its generation count one less."""
    spec = case["slices"][index]["spec"]
    smaller = _removed(("slices", index), case)
    for other in smaller["slices"]:
        if other["spec"]["driver"] == spec["driver"] and other["spec"]["pool"] == spec["pool"]:
            other["spec"]["pool"]["resourceSliceCount"] -= 1
    return smaller


def _removable(value: Any, path: Path) -> Iterator[Path]:
    name = _name(path)
    if isinstance(value, list):
        if name in _ELEMENTS and len(value) > (1 if name in _NOT_EMPTY else 0):
            yield from ((*path, index) for index in range(len(value)))
        for index, entry in enumerate(value):
            yield from _removable(entry, (*path, index))
    elif isinstance(value, dict):
        for key, entry in value.items():
            if name in _ENTRIES or key in _KEYS or (key == "requests" and _is_scope(entry)):
                yield (*path, key)
            yield from _removable(entry, (*path, key))


def _is_scope(entry: Any) -> bool:
    """`requests` of a constraint, a config or a capacity may go, those of a claim not."""
    return isinstance(entry, dict) or (isinstance(entry, list) and all(isinstance(one, str) for one in entry))


def _simpler(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    """Smaller counts, features off, devices for all nodes, subrequests as plain requests."""
    if isinstance(value, list):
        for index, entry in enumerate(value):
            yield from _simpler(entry, (*path, index))
        return
    if not isinstance(value, dict):
        return
    if _name(path) == "features":
        yield from (((*path, key), False) for key, on in value.items() if on)
    for key, entry in value.items():
        if key == "count" and entry > 1:
            yield from (((*path, key), smaller) for smaller in (1, entry - 1))
        if key == "firstAvailable" and len(entry) == 1:
            body = {k: v for k, v in entry[0].items() if k != "name"}
            yield path, {"name": value["name"], "exactly": body}
        if key == "deviceClassName" and entry != "any":
            yield (*path, key), "any"
        yield from _simpler(entry, (*path, key))


def _name(path: Path) -> str:
    return path[-1] if path and isinstance(path[-1], str) else ""


def _removed(path: Path, case: JSON) -> JSON:
    smaller = copy.deepcopy(case)
    parent = _at(smaller, path[:-1])
    del parent[path[-1]]
    return smaller


def _replaced(path: Path, value: Any, case: JSON) -> JSON:
    changed = copy.deepcopy(case)
    _at(changed, path[:-1])[path[-1]] = value
    return changed


def _at(value: Any, path: Path) -> Any:
    for step in path:
        value = value[step]
    return value
