"""A device of a case file as an expression sees it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dra_api.decode.fields import Unsupported, mapping, wrong_type
from dra_api.decode.values import attribute, check_quantity
from dra_api.errors import DecodeError
from dra_cel.device import AttributeValue, DeviceFields, qualify


class UnreadableDeviceError(Exception):
    """A device has a value of a kind that is not known: every expression fails on it, whatever it reads."""


def device_fields(device: Mapping[str, Any]) -> DeviceFields:
    """Decode driver, attributes, capacity and allowMultipleAllocations.

    Raises DecodeError for a wrong type, UnreadableDeviceError.
    """
    driver = device.get("driver") or ""
    if not isinstance(driver, str):
        raise wrong_type("driver", "a string", driver)
    attributes = {
        qualify(name, driver): _attribute(name, value) for name, value in mapping(device, "attributes").items()
    }
    capacity = {qualify(name, driver): _amount(name, value) for name, value in mapping(device, "capacity").items()}
    return DeviceFields(driver, attributes, capacity, bool(device.get("allowMultipleAllocations")))


def _attribute(name: str, value: object) -> AttributeValue:
    try:
        return attribute(value)
    except Unsupported as error:
        raise UnreadableDeviceError(f"attribute {name}: {error}") from error
    except DecodeError as error:
        raise error.within(f"attributes[{name}]") from error


def _amount(name: str, value: object) -> Any:
    """The capacity's value; the oldest API version has it without an object around it."""
    given = value.get("value") if isinstance(value, dict) else value
    return check_quantity(f"capacity[{name}].value", "0" if given is None and isinstance(value, dict) else given)


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
