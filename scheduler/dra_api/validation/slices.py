"""The spec of a ResourceSlice."""

from __future__ import annotations

from collections.abc import Sequence

from dra_api.names import subdomain_problems
from dra_api.validation.conditions import skipped_operations
from dra_api.validation.counters import counter_set
from dra_api.validation.devices import device
from dra_api.validation.errors import forbidden, immutable, invalid, required
from dra_api.validation.formats import driver_name, fully_qualified_name, names, pool_name
from dra_api.validation.lists import Errors, Raw, unique_items
from dra_api.validation.node_selectors import node_selector
from dra_api.validation.rules import Rules

MAX_DEVICES = 128
MAX_ADVANCED_DEVICES = 64
"""Where a device of the slice has taints, consumes counters or has attributes that are lists."""

MAX_COUNTER_SETS = 8
_LISTS = ("ints", "bools", "strings", "versions")


def slice_spec(spec: Raw, old: Raw | None, rules: Rules) -> Errors:
    """Check the spec of a new slice, or (`old` given) of a changed one."""
    path = "spec"
    yield from driver_name(f"{path}.driver", spec.get("driver") or "")
    yield from _pool(f"{path}.pool", spec.get("pool") or {})
    if old is not None:
        pool, old_pool = spec.get("pool") or {}, old.get("pool") or {}
        yield from immutable(f"{path}.pool.name", pool.get("name"), old_pool.get("name"))
        yield from immutable(f"{path}.driver", spec.get("driver"), old.get("driver"))
        yield from immutable(f"{path}.nodeName", spec.get("nodeName"), old.get("nodeName"))
    yield from _scope(path, spec)
    yield from _contents(path, spec, old, rules)
    yield from _partition_type(path, spec, rules)
    yield from skipped_operations(f"{path}.skipNodeOperations", spec.get("skipNodeOperations") or ())


def _pool(path: str, pool: Raw) -> Errors:
    yield from pool_name(f"{path}.name", pool.get("name") or "")
    if (count := pool.get("resourceSliceCount") or 0) <= 0:
        yield invalid(f"{path}.resourceSliceCount", count, "must be greater than zero")
    if (generation := pool.get("generation") or 0) < 0:
        yield invalid(f"{path}.generation", generation, "must be greater than or equal to zero")


def _scope(path: str, spec: Raw) -> Errors:
    chosen = []
    node: str | None = spec.get("nodeName")
    if node:
        chosen.append("`nodeName`")
        yield from names(f"{path}.nodeName", node, subdomain_problems)
    elif node is not None:
        yield invalid(f"{path}.nodeName", node, "must be either unset or set to a non-empty string")
    selector: Raw | None = spec.get("nodeSelector")
    if selector is not None:
        chosen.append("`nodeSelector`")
        yield from node_selector(f"{path}.nodeSelector", selector)
        terms = selector.get("nodeSelectorTerms") or []
        if len(terms) != 1:
            yield invalid(f"{path}.nodeSelector.nodeSelectorTerms", terms, "must have exactly one node selector term")
    for name in ("allNodes", "perDeviceNodeSelection"):
        value = spec.get(name)
        if value:
            chosen.append(f"`{name}`")
        elif value is not None:
            yield invalid(f"{path}.{name}", value, "must be either unset or set to true")
    rule = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"
    if not chosen:
        yield required(path, rule)
    elif len(chosen) > 1:
        yield invalid(path, f"{{{', '.join(chosen)}}}", f"{rule}, but multiple fields are set")


def _contents(path: str, spec: Raw, old: Raw | None, rules: Rules) -> Errors:
    devices: Sequence[Raw] = spec.get("devices") or []
    if spec.get("sharedCounters") is not None and spec.get("devices") is not None:
        yield invalid(path, "", "only one of `sharedCounters` or `devices` is allowed")
    before = {entry.get("name"): entry for entry in (old or {}).get("devices") or ()}
    per_device = bool(spec.get("perDeviceNodeSelection"))

    def check(at: str, value: Raw) -> Errors:
        return device(at, value, before.get(value.get("name")), per_device, rules)

    limit = MAX_ADVANCED_DEVICES if any(_is_advanced(entry) for entry in devices) else MAX_DEVICES
    yield from unique_items(f"{path}.devices", devices, limit, check, _name)
    counters = spec.get("sharedCounters") or ()
    yield from unique_items(f"{path}.sharedCounters", counters, MAX_COUNTER_SETS, counter_set, _name)


def _name(value: Raw) -> str:
    return value.get("name") or ""


def _is_advanced(device: Raw) -> bool:
    if device.get("taints") or device.get("consumesCounters"):
        return True
    attributes = (device.get("attributes") or {}).values()
    return any(attribute.get(name) is not None for attribute in attributes for name in _LISTS)


def _partition_type(path: str, spec: Raw, rules: Rules) -> Errors:
    name: str | None = spec.get("partitionTypeAttribute")
    if name is None:
        return
    where = f"{path}.partitionTypeAttribute"
    if not rules.partitionable_devices_type:
        yield forbidden(where, "needs feature gate DRAPartitionableDevicesType")
        return
    consumers = [(i, entry) for i, entry in enumerate(spec.get("devices") or ()) if entry.get("consumesCounters")]
    if not consumers:
        yield invalid(where, name, "may only be set on a slice which declares devices that consume counters")
        return
    malformed = list(fully_qualified_name(where, name))
    yield from malformed
    if malformed:
        return
    bare = name.removeprefix(f"{spec.get('driver')}/")
    for i, entry in consumers:
        attributes = entry.get("attributes") or {}
        attribute = attributes.get(name, attributes.get(bare))
        at = f"{path}.devices[{i}].attributes[{name}]"
        if attribute is None:
            text = "device consumes counters and `partitionTypeAttribute` names this attribute, so it must be set"
            yield required(at, text)
        elif attribute.get("string") is None:
            yield invalid(at, attribute, "must be a string value because `partitionTypeAttribute` names this attribute")
