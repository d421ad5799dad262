"""Devices as plain data: what JSON and YAML output has, and single fields by the names that people type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dra_allocator.device import DeviceTaint
from dra_cel.device import AttributeValue
from dra_cel.semver import Semver
from dra_scheduler.inventory.devices import Listed, sums
from dra_scheduler.inventory.holding import Holding

Data = dict[str, Any]


def inventory(listed: Sequence[Listed]) -> Data:
    """Return all devices and their sums as plain data."""
    totals = {"byDriver": sums(list(listed), "driver"), "byClass": sums(list(listed), "class")}
    return {"devices": [device(one) for one in listed], "totals": totals}


def device(listed: Listed) -> Data:
    """Return one device as plain data; empty fields are left out."""
    published = listed.device
    found = {
        "driver": listed.id.driver,
        "pool": listed.id.pool,
        "device": listed.id.device,
        "node": listed.node,
        "slice": listed.slice,
        "generation": listed.generation,
        "state": listed.state,
        "reason": listed.reason,
        "classes": list(listed.classes),
        "attributes": {name: plain(value) for name, value in sorted(published.attributes.items())},
        "capacity": {name: str(capacity.value) for name, capacity in sorted(published.capacity.items())},
        "taints": [_taint(one.taint) | ({"rule": one.rule} if one.rule else {}) for one in listed.taints],
        "shareable": published.allow_multiple_allocations,
        "heldBy": [holding(one) for one in listed.held_by],
    }
    return {key: value for key, value in found.items() if value not in ("", [], {}, False)}


def holding(one: Holding) -> Data:
    """Return a hold as plain data."""
    found = {
        "claim": one.claim,
        "request": one.request,
        "pods": list(one.pods),
        "shareID": one.share_id,
        "consumed": dict(one.consumed),
        "adminAccess": one.admin,
        "assumed": one.state == "assumed",
    }
    return {key: value for key, value in found.items() if value not in (None, {}, False)}


def plain(value: AttributeValue) -> Any:
    """Return an attribute's value as JSON can have it."""
    if isinstance(value, tuple):
        return [plain(item) for item in value]
    return str(value) if isinstance(value, Semver) else value


def named(listed: Listed, name: str) -> str:
    """Return an attribute or a capacity as text: by its full name, or by the part behind the slash; else nothing."""
    capacity = {key: str(entry.value) for key, entry in listed.device.capacity.items()}
    for values in (listed.device.attributes, capacity):
        for key in (name, f"{listed.id.driver}/{name}", *(k for k in values if k.endswith(f"/{name}"))):
            if key in values:
                return _text(plain(values[key]))
    return ""


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(map(_text, value)) if isinstance(value, list) else str(value)


def _taint(taint: DeviceTaint) -> Data:
    found = {"key": taint.key, "value": taint.value, "effect": taint.effect, "timeAdded": taint.time_added}
    return {key: value for key, value in found.items() if value}
