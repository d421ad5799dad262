"""A device of a case file as an expression sees it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dra_api.decode.values import attribute, check_quantity
from dra_cel.device import AttributeValue, DeviceFields, qualify


def device_fields(device: Mapping[str, Any]) -> DeviceFields:
    """Decode driver, attributes, capacity and allowMultipleAllocations. Raises DecodeError."""
    driver = device.get("driver") or ""
    attributes = {qualify(name, driver): attribute(value) for name, value in (device.get("attributes") or {}).items()}
    capacity = {
        qualify(name, driver): check_quantity("capacity", value["value"])
        for name, value in (device.get("capacity") or {}).items()
    }
    return DeviceFields(driver, attributes, capacity, bool(device.get("allowMultipleAllocations")))


def plain_attribute(value: AttributeValue) -> dict[str, Any]:
    """The DeviceAttribute of a value, as JSON has it."""
    if isinstance(value, tuple):
        kind = next(iter(plain_attribute(value[0]))) if value else "string"
        return {f"{kind}s": [next(iter(plain_attribute(entry).values())) for entry in value]}
    if isinstance(value, bool):
        return {"bool": value}
    if isinstance(value, int):
        return {"int": value}
    return {"string": value} if isinstance(value, str) else {"version": str(value)}
