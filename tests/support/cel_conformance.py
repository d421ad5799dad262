"""Kubernetes' own selector cases, read from the folder that DRA_CONFORMANCE names."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from dra_cel import AttributeValue, DeviceFields, Quantity, Semver, qualify


def load(name: str) -> Any:
    """Return a file of the conformance data, or None where it is not there."""
    folder = os.environ.get("DRA_CONFORMANCE")
    if not folder:
        return None
    return json.loads((Path(folder) / name).read_text())


MISSING = "set DRA_CONFORMANCE to the folder with the conformance data to run these tests"


def attribute_value(attribute: dict[str, Any]) -> AttributeValue:
    """Return the value of a DeviceAttribute as JSON has it."""
    ((kind, value),) = attribute.items()
    if kind == "version":
        return Semver.parse(value)
    if kind == "versions":
        return tuple(Semver.parse(item) for item in value)
    return tuple(value) if isinstance(value, list) else value


def device_fields(data: dict[str, Any]) -> DeviceFields:
    """Return a device of the conformance data."""
    driver = data.get("driver") or ""
    attributes = {
        qualify(name, driver): attribute_value(value) for name, value in (data.get("attributes") or {}).items()
    }
    capacity = {
        qualify(name, driver): Quantity.parse(value["value"]) for name, value in (data.get("capacity") or {}).items()
    }
    return DeviceFields(driver, attributes, capacity, bool(data.get("allowMultipleAllocations")))
