"""Devices of a slice between the shapes: directly (v1, v1beta2) or under `basic` (v1beta1, v1alpha3)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dra_api.decode.devices import UNKNOWN_DEVICE
from dra_api.decode.fields import mapping, sequence, type_name
from dra_api.errors import DecodeError

_NODE_FIELDS = ("nodeName", "allNodes")
_DIRECT = ("attributes", "capacity", "consumesCounters", "taints")


def nested_spec(spec: dict[str, Any], version: str) -> dict[str, Any]:
    """Return a slice's spec of v1beta1 or v1alpha3 in the v1 shape.

    A device of an unknown kind (without `basic`) is marked, so that it is never picked. Raises DecodeError.
    """
    result = {name: value for name, value in spec.items() if name not in _NODE_FIELDS or value not in ("", False)}
    return _with_devices(result, lambda device: _from_basic(device, version))


def basic_spec(spec: dict[str, Any], version: str) -> dict[str, Any]:
    """Return a slice's spec in v1 with its devices under `basic`."""
    return _with_devices(spec, lambda device: _to_basic(device, version))


def checked_spec(spec: dict[str, Any], version: str) -> dict[str, Any]:
    """Return a slice's spec of v1 or v1beta2 as it is. Raises DecodeError for the older shapes of a device."""
    return _with_devices(spec, lambda device: _checked(device, version))


def _with_devices(spec: dict[str, Any], convert: Callable[[dict[str, Any]], dict[str, Any]]) -> dict[str, Any]:
    devices = sequence(spec, "devices")
    if not devices:
        return spec
    converted = []
    for device in devices:
        try:
            converted.append(convert(device) if isinstance(device, dict) else device)
        except DecodeError as error:
            raise error.within(f"devices[{len(converted)}]") from error
    return {**spec, "devices": converted}


def _from_basic(device: dict[str, Any], version: str) -> dict[str, Any]:
    if device.get("basic") is None:
        direct = next((name for name in _DIRECT if device.get(name) is not None), None)
        if direct is not None:
            raise DecodeError(
                direct,
                f"is not a field of a device in {version}",
                "directly in the device it fits apiVersion resource.k8s.io/v1 and v1beta2; here it belongs under basic",
                code="wrong-version",
            )
        others = ", ".join(sorted(name for name in device if name not in ("name", "basic"))) or "nothing"
        return {"name": device.get("name"), UNKNOWN_DEVICE: f"unknown kind of device: instead of basic it has {others}"}
    basic = mapping(device, "basic")
    result = {"name": device.get("name"), **basic}
    if basic.get("capacity") is not None:
        try:
            result["capacity"] = _read_capacity(basic, version)
        except DecodeError as error:
            raise error.within("basic") from error
    return result


def _read_capacity(basic: Any, version: str) -> dict[str, Any]:
    capacity = mapping(basic, "capacity")
    if version != "v1alpha3":
        for name, value in capacity.items():
            _check_capacity(name, value, version)
        return dict(capacity)
    for name, value in capacity.items():
        if isinstance(value, dict):
            raise DecodeError(
                f"capacity[{name}]",
                f"must be a quantity in {version}, not an object",
                "with value it fits apiVersion resource.k8s.io/v1beta1 and newer",
                code="capacity-form",
            )
    return {name: {"value": value} for name, value in capacity.items()}


def _check_capacity(name: str, value: object, version: str) -> None:
    if not isinstance(value, dict):
        raise DecodeError(
            f"capacity[{name}]",
            f"must be an object with value in {version}, not {type_name(value)}",
            f'write {name}: {{value: "..."}}; a plain quantity fits apiVersion resource.k8s.io/v1alpha3 only',
            code="capacity-form",
        )


def _to_basic(device: dict[str, Any], version: str) -> dict[str, Any]:
    name = device.get("name")
    if UNKNOWN_DEVICE in device:
        return {"name": name}
    basic = {key: value for key, value in device.items() if key != "name"}
    if version == "v1alpha3" and basic.get("capacity") is not None:
        basic["capacity"] = {key: mapping({key: value}, key).get("value") for key, value in basic["capacity"].items()}
    return {"name": name, "basic": basic}


def _checked(device: dict[str, Any], version: str) -> dict[str, Any]:
    if device.get("basic") is not None:
        raise DecodeError(
            "basic",
            f"is not a field of {version}",
            "it fits apiVersion resource.k8s.io/v1beta1 and v1alpha3; here its fields stand directly in the device",
            code="wrong-version",
        )
    capacity = device.get("capacity")
    if isinstance(capacity, dict):
        for name, value in capacity.items():
            _check_capacity(name, value, version)
    return device
