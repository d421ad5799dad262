"""Resources of the node that a device takes (Kubernetes 1.37, DRANodeAllocatableResources)."""

from __future__ import annotations

from dra_api.decode.values import check_quantity
from dra_api.validation.errors import invalid, not_found, required
from dra_api.validation.lists import Errors, Raw, one_of


def node_resources(path: str, device: Raw) -> Errors:
    """Check `nodeAllocatableResources` of a device."""
    for name, value in (device.get("nodeAllocatableResources") or {}).items():
        where = f"{path}[{name}]"
        if name not in ("cpu", "memory") and not name.startswith("hugepages-"):
            yield invalid(where, name, "must be a node allocatable resource name")
        mapping, overhead = value.get("mapping"), value.get("overhead")
        if mapping is None and overhead is None:
            yield required(where, "at least one of mapping or overhead must be set")
        if mapping is not None:
            yield from _mapping(f"{where}.mapping", mapping, device.get("capacity") or {})
        if overhead is not None:
            yield from _overhead(f"{where}.overhead", overhead)


def _mapping(path: str, mapping: Raw, capacities: Raw) -> Errors:
    yield from one_of(path, mapping, ("capacityKey", "deviceMultiplier"))
    key, multiplier = mapping.get("capacityKey"), mapping.get("capacityMultiplier")
    if key is not None:
        if not key:
            yield invalid(f"{path}.capacityKey", "", "capacityKey must not be an empty string")
        elif key not in capacities:
            yield not_found(f"{path}.capacityKey", key)
        if multiplier is None:
            yield required(f"{path}.capacityMultiplier", "capacityMultiplier is required when capacityKey is set")
        else:
            yield from _sign(f"{path}.capacityMultiplier", multiplier, 1, "must be positive")
    elif multiplier is not None:
        yield required(f"{path}.capacityKey", "capacityKey is required when capacityMultiplier is set")
    if mapping.get("deviceMultiplier") is not None:
        yield from _sign(f"{path}.deviceMultiplier", mapping["deviceMultiplier"], 1, "must be positive")


def _overhead(path: str, overhead: Raw) -> Errors:
    names = [name for name in ("perPod", "perContainer") if overhead.get(name) is not None]
    if not names:
        yield invalid(path, "", "at least one of perPod or perContainer must be set")
    for name in names:
        yield from _sign(f"{path}.{name}", overhead[name], 0, "must be non-negative")


def _sign(path: str, value: object, least: int, text: str) -> Errors:
    quantity = check_quantity(path, value)
    if quantity.sign < least:
        yield invalid(path, str(quantity), text)
