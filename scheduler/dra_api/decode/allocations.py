"""`status.allocation` of a claim to an AllocationResult. Lenient: a device in use must never be lost from sight."""

from __future__ import annotations

from collections.abc import Mapping
from sys import intern
from typing import Literal

from dra_allocator.claim import OpaqueConfig
from dra_allocator.device import DeviceID
from dra_allocator.node import NodeSelector
from dra_allocator.outcome import AllocationResult, ConfigResult, DeviceResult
from dra_api.decode.fields import (
    Raw,
    Unsupported,
    below,
    boolean,
    items,
    mapping,
    optional_mapping,
    optional_text,
    text,
    texts,
    wrong_type,
)
from dra_api.decode.nodes import node_selector
from dra_api.decode.requests import config, toleration
from dra_api.decode.values import check_quantity
from dra_api.errors import DecodeError
from dra_cel.quantity import Quantity


def allocation_result(obj: object) -> AllocationResult:
    """Return what `status.allocation` says. Raises DecodeError for wrong types.

    Names in `consumed_capacity` are spelled as in the object. A configuration of an unknown kind is kept with an empty
    driver and no parameters, and a node selector that cannot be used matches nothing, because what counts here is which
    devices are taken.
    """
    if not isinstance(obj, dict):
        raise wrong_type("allocation", "an object", obj)
    devices, configuration = below(obj, "devices", _devices)
    selector = optional_mapping(obj, "nodeSelector")
    return AllocationResult(
        devices=devices,
        config=configuration,
        node_selector=None if selector is None else _selector(selector),
    )


def _selector(obj: Raw) -> NodeSelector:
    try:
        return node_selector(obj, "nodeSelector")
    except DecodeError:
        return NodeSelector(terms=())


def _devices(obj: Raw) -> tuple[tuple[DeviceResult, ...], tuple[ConfigResult, ...]]:
    return items(obj, "results", _result), items(obj, "config", _config)


def _result(obj: Raw) -> DeviceResult:
    return DeviceResult(
        request=text(obj, "request"),
        device=DeviceID(intern(text(obj, "driver")), intern(text(obj, "pool")), intern(text(obj, "device"))),
        admin_access=None if obj.get("adminAccess") is None else boolean(obj, "adminAccess"),
        tolerations=items(obj, "tolerations", toleration),
        share_id=optional_text(obj, "shareID"),
        consumed_capacity=_consumed(obj),
        binding_conditions=texts(obj, "bindingConditions"),
        binding_failure_conditions=texts(obj, "bindingFailureConditions"),
        skip_node_operations=texts(obj, "skipNodeOperations"),
    )


def _consumed(obj: Raw) -> Mapping[str, Quantity]:
    values = mapping(obj, "consumedCapacity")
    return {intern(name): check_quantity(f"consumedCapacity[{name}]", value) for name, value in values.items()}


def _config(obj: Raw) -> ConfigResult:
    source: Literal["FromClass", "FromClaim"] = "FromClass" if text(obj, "source") == "FromClass" else "FromClaim"
    try:
        return ConfigResult(source, config(obj))
    except Unsupported:
        return ConfigResult(source, OpaqueConfig("", None, texts(obj, "requests")))
