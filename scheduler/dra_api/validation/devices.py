"""One device of a ResourceSlice."""

from __future__ import annotations

import re
from typing import Any

from dra_api.names import byte_length, subdomain_problems
from dra_api.validation.capacity import capacities
from dra_api.validation.conditions import condition_names
from dra_api.validation.counters import consumption
from dra_api.validation.errors import invalid, required, too_long
from dra_api.validation.formats import device_name, names, qualified_name
from dra_api.validation.lists import Errors, Raw, items, one_of, unique_items
from dra_api.validation.node_resources import node_resources
from dra_api.validation.node_selectors import node_selector
from dra_api.validation.rules import Rules
from dra_api.validation.taints import taint

MAX_ENTRIES = 32
"""Attributes and capacities of a device together."""

MAX_VALUES = 48
"""Values of all attributes of a device, items of lists counted one by one."""

MAX_VALUE = 64
"""Bytes of a string or version."""

MAX_TAINTS = 16
MAX_CONSUMPTIONS = 2
ATTRIBUTE_TYPES = ("int", "bool", "string", "version", "ints", "bools", "strings", "versions")
_LISTS = ("bools", "ints", "strings", "versions")
_SCALARS = ("bool", "int", "string", "version")
_SCOPE = ("nodeName", "nodeSelector", "allNodes")
_ONE_SCOPE = (
    "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true "
    "in the ResourceSlice spec"
)
_NUMBER = r"(0|[1-9]\d*)"
_PRERELEASE = r"(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)"
_BUILD = r"[0-9a-zA-Z-]+"
_VERSION = re.compile(
    rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(-{_PRERELEASE}(\.{_PRERELEASE})*)?(\+{_BUILD}(\.{_BUILD})*)?", re.ASCII
)


def device(path: str, value: Raw, old: Raw | None, per_device_selection: bool, rules: Rules) -> Errors:
    """Check a device; `old` is the device of that name before: its capacity and taints are not checked again."""
    yield from device_name(f"{path}.name", value.get("name") or "")
    attributes: Raw = value.get("attributes") or {}
    entries = len(attributes) + len(value.get("capacity") or {})
    if entries > MAX_ENTRIES:
        yield invalid(path, entries, f"the total number of attributes and capacities must not exceed {MAX_ENTRIES}")
    count = sum(map(_values, attributes.values()))
    if count > MAX_VALUES:
        yield invalid(path, count, f"the total number of attribute values must not exceed {MAX_VALUES}")
    for name, attribute in attributes.items():
        yield from qualified_name(f"{path}.attributes", name)
        yield from _attribute(f"{path}.attributes[{name}]", attribute)
    if old is None or old.get("capacity") != value.get("capacity"):
        yield from capacities(f"{path}.capacity", value, rules)
    if old is None or old.get("taints") != value.get("taints"):
        yield from items(f"{path}.taints", value.get("taints") or (), MAX_TAINTS, taint)
    consumed = value.get("consumesCounters") or ()
    yield from unique_items(f"{path}.consumesCounters", consumed, MAX_CONSUMPTIONS, consumption, _counter_set)
    yield from _scope(path, value, per_device_selection)
    yield from condition_names(path, value)
    yield from node_resources(f"{path}.nodeAllocatableResources", value)


def _counter_set(value: Raw) -> str:
    return value.get("counterSet") or ""


def _values(attribute: Raw) -> int:
    return sum(len(content) for content in attribute.values() if isinstance(content, list)) or 1


def _attribute(path: str, attribute: Raw) -> Errors:
    if len(attribute) == 1 and (attribute.get("int") is not None or attribute.get("bool") is not None):
        return  # the common cases, kept short
    for name in _SCALARS:
        content = attribute.get(name)
        if content is not None:
            yield from _text(f"{path}.{name}", name, content)
    for name in _LISTS:
        values = attribute.get(name)
        if values is None:
            continue
        if not values:
            yield invalid(f"{path}.{name}", values, "must not be empty if specified")
        for i, content in enumerate(values):
            yield from _text(f"{path}.{name}[{i}]", name.removesuffix("s"), content)
    yield from one_of(path, attribute, ATTRIBUTE_TYPES)


def _text(path: str, kind: str, value: Any) -> Errors:
    if kind not in ("string", "version"):
        return
    if kind == "version" and not _VERSION.fullmatch(value):
        yield invalid(path, value, "must be a string compatible with semver.org spec 2.0.0")
    if byte_length(value) > MAX_VALUE:
        yield too_long(path, MAX_VALUE)


def _scope(path: str, value: Raw, per_device_selection: bool) -> Errors:
    if not per_device_selection:
        if any(value.get(name) is not None for name in _SCOPE):
            text = (
                "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true"
            )
            yield invalid(path, None, f"{text} in the ResourceSlice spec")
        return
    chosen = []
    node: str | None = value.get("nodeName")
    if node:
        chosen.append("`nodeName`")
        yield from names(f"{path}.nodeName", node, subdomain_problems)
    elif node is not None:
        yield invalid(f"{path}.nodeName", node, "must not be empty")
    if value.get("nodeSelector") is not None:
        chosen.append("`nodeSelector`")
        yield from node_selector(f"{path}.nodeSelector", value["nodeSelector"])
    if value.get("allNodes"):
        chosen.append("`allNodes`")
    elif value.get("allNodes") is not None:
        yield invalid(f"{path}.allNodes", False, "must be either unset or set to true")
    if not chosen:
        yield required(path, _ONE_SCOPE)
    elif len(chosen) > 1:
        yield invalid(path, f"{{{', '.join(chosen)}}}", _ONE_SCOPE)
