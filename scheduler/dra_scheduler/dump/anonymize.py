"""Other names in the place of those that people gave, the same everywhere in one dump.

A name becomes a number, its rank among all names, so that whatever is decided by the order of names is decided as
before, and a keyed hash, so that names of two dumps cannot be taken for each other. The key is made for one dump and
kept nowhere. Replaced are names of namespaces, nodes, pods, claims, templates, slices, pools and taint rules, wherever
a text is exactly such a name, also as an attribute's value, as a label's, and as a text in a CEL expression. Names of
drivers, classes, requests, devices and attributes stay, because without them nothing could be understood; so do labels
and attributes that are nobody's name. Messages of conditions and events are left out.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from typing import Any

Object = dict[str, Any]

KEPT = frozenset({"default", "kube-system", "kube-public", "kube-node-lease"})
"""Namespaces that every cluster has."""
_KINDS = frozenset(
    {
        "Namespace",
        "Node",
        "Pod",
        "ResourceClaim",
        "ResourceClaimTemplate",
        "ResourceSlice",
        "DeviceTaintRule",
        "PodGroup",
        "Workload",
        "Event",
    }
)
_FREE_TEXT = frozenset({"message", "note"})
_QUOTED = re.compile(r"""(?P<quote>["'])(?P<text>[^"'\\]*)(?P=quote)""")
_NAMED = frozenset(
    {"metadata", "ownerReferences", "reservedFor", "involvedObject", "regarding", "related", "pool", "podGroupRef"}
)
"""What has an object's name under `name`; elsewhere that is a request, a container, a device, ..."""
_STRUCTURAL = frozenset({"apiVersion", "kind", "request", "requests", "device", "driver", "deviceClassName", "effect"})
"""Fields whose values are nobody's names, though they may look like one."""


def anonymized(objects: Iterable[Object], key: bytes) -> list[Object]:
    """Return the objects with other names; `key` makes them this dump's own."""
    given = list(objects)
    names = replacements(_names(given), key)
    return [_object(obj, names) for obj in given]


def replacements(names: Iterable[str], key: bytes) -> Mapping[str, str]:
    """Return the new name of each name; their order stays."""
    ordered = sorted(set(names) - KEPT - {""})
    width = len(str(len(ordered)))
    return {name: f"n{rank:0{width}}-{_digest(name, key)}" for rank, name in enumerate(ordered)}


def _digest(name: str, key: bytes) -> str:
    return hashlib.blake2b(name.encode(), key=key[:64], digest_size=4).hexdigest()


def _names(objects: Iterable[Object]) -> Iterable[str]:
    for obj in objects:
        metadata, spec = obj["metadata"], obj.get("spec") or {}
        if obj["kind"] in _KINDS:
            yield metadata["name"]
        yield metadata.get("namespace") or ""
        if obj["kind"] == "ResourceSlice":
            yield (spec.get("pool") or {}).get("name") or ""
            yield spec.get("nodeName") or ""
        for owner in metadata.get("ownerReferences") or ():
            yield owner.get("name") or ""


def _object(obj: Object, names: Mapping[str, str]) -> Object:
    """Replace in an object; one of a kind whose names stay keeps its own, whatever else is called so."""
    made: Object = _replaced(obj, names)
    if obj["kind"] not in _KINDS:
        made["metadata"]["name"] = obj["metadata"]["name"]
    return made


def _replaced(value: Any, names: Mapping[str, str], field: str = "", inside: str = "") -> Any:
    """Replace in `value`, which is under `field` in what is under `inside`."""
    if isinstance(value, dict):
        return {key: _replaced(item, names, key, field) for key, item in value.items() if key not in _FREE_TEXT}
    if isinstance(value, list):
        return [_replaced(item, names, field, inside) for item in value]
    if not isinstance(value, str) or field in _STRUCTURAL or (field == "name" and inside not in _NAMED):
        return value
    if field == "expression":
        return _QUOTED.sub(lambda m: f"{m['quote']}{names.get(m['text'], m['text'])}{m['quote']}", value)
    return names.get(value, value)
