"""Small random damage to objects, from a seed: what people and broken clients send."""

from __future__ import annotations

import copy
from random import Random
from typing import Any

from support.dra_objects import UID

TEXTS = (
    "", "a", "A", "-", "a.b", "a/b", "a.example.com/x", "a/b/c", "x" * 40, "x" * 64, "x" * 65, "x" * 254, "r", "q/s0",
    "*", "NodePrepareResources", "NoSchedule", "All", "ExactCount", "FromClass", "1.2.3", "1.2", "n", "_", "Ä",
    "d.example.com/t", "/x", "a/", "k8s.io/x", UID,
)  # fmt: skip
QUANTITIES = ("0", "1", "10", "-1", "500m", "1Gi", "8Gi", "9223372036854775807", "1n", "11")
EXPRESSIONS = (
    "", "true", "1", "device", "device.driver", "device.drivers", "device.attributes['d'].x == 1", "1 +", "'a' == 1",
    "[1, 2]",
    "device.attributes.exists(d, device.attributes.exists(e, device.attributes.exists(f, d == e && e == f)))", "1.5",
    "semver('1.0.0')", "device.capacity['d'].m.compareTo(quantity('1Gi')) > 0", "x" * 10241,
)  # fmt: skip
INTEGERS = (0, 1, -1, 5, 33)
_QUANTITY_FIELDS = frozenset(
    ("value", "default", "min", "max", "step", "capacityMultiplier", "deviceMultiplier", "perPod", "perContainer")
)
_QUANTITY_HOLDERS = frozenset(("validValues", "consumedCapacity"))
_MAPS = frozenset(("attributes", "capacity", "counters", "labels", "annotations"))
_FIXED = frozenset(("lastTransitionTime", "timeAdded"))

Path = tuple[str | int, ...]


def damaged(obj: dict[str, Any], random: Random, part: str) -> dict[str, Any]:
    """Return a copy with one to three values below `part` taken away, replaced, repeated or renamed; types stay."""
    result = copy.deepcopy(obj)
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        places = [path for path in _paths(result[part]) if path]
        if places:
            _damage(result[part], random.choice(places), random)
    return result


def _paths(value: Any, prefix: Path = ()) -> list[Path]:
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [prefix, *(path for key, child in children for path in _paths(child, (*prefix, key)))]


def _damage(root: Any, path: Path, random: Random) -> None:
    holder = root
    for key in path[:-1]:
        holder = holder[key]
    key = path[-1]
    value = holder[key]
    if key in _FIXED:
        return
    if key == "expression":
        holder[key] = random.choice(EXPRESSIONS)
        return
    if key in ("parameters", "data"):
        holder[key] = random.choice(({}, {"a": [1]}, {"x": "y" * 10300}))
    elif random.random() < 0.2:
        del holder[key]
    elif isinstance(value, list):
        _damage_list(holder, key, random)
    elif isinstance(value, dict):
        _damage_map(holder, key, random)
    elif isinstance(value, bool):
        holder[key] = not value
    elif isinstance(value, int):
        holder[key] = random.choice(INTEGERS)
    elif (
        key in _QUANTITY_FIELDS
        or (len(path) > 1 and path[-2] in _QUANTITY_HOLDERS)
        or path[-3:-1] == ("capacity", "requests")
    ):
        holder[key] = random.choice(QUANTITIES)
    else:
        holder[key] = random.choice(TEXTS)


def _damage_list(holder: Any, key: Any, random: Random) -> None:
    value = holder[key]
    chance = random.random()
    if not value or chance > 0.85:
        holder[key] = []
    elif chance < 0.6:
        value.append(copy.deepcopy(random.choice(value)))
    else:
        value.extend(copy.deepcopy(value[0]) for _ in range(random.choice((3, 9, 17, 33))))


def _damage_map(holder: Any, key: Any, random: Random) -> None:
    value = holder[key]
    if value and key in _MAPS:
        value[random.choice(TEXTS)] = value.pop(random.choice(list(value)))
    elif key not in ("pool", "taint") and random.random() < 0.5:
        holder[key] = {}
