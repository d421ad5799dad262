"""The status of a claim: allocation, reservations, what drivers say of the devices."""

from __future__ import annotations

import ipaddress
from collections.abc import Hashable

from dra_api.names import byte_length, label_problems
from dra_api.validation.claims import MAX_CONFIG, RequestNames, request_names, request_reference, request_references
from dra_api.validation.conditions import condition_names, conditions, skipped_operations
from dra_api.validation.configuration import configuration, json_object
from dra_api.validation.errors import forbidden, immutable, invalid, not_supported, required, too_long
from dra_api.validation.formats import device_name, driver_name, names, pool_name, uid
from dra_api.validation.lists import Errors, Raw, items, unique_items
from dra_api.validation.node_selectors import node_selector
from dra_api.validation.taints import tolerations

MAX_RESULTS = 32
MAX_RESERVED_FOR = 256
MAX_DATA = 10 * 1024
SOURCES = ("FromClaim", "FromClass")


def claim_status(new: Raw, old: Raw) -> Errors:
    """Check a claim whose status has changed; the spec is the old one."""
    status, before = new.get("status") or {}, old.get("status") or {}
    reserved = status.get("reservedFor") or []
    allocation: Raw | None = status.get("allocation")
    yield from unique_items(
        "status.reservedFor", reserved, MAX_RESERVED_FOR, _consumer, lambda user: user.get("uid") or ""
    )
    allocated = {_device_key(result) for result in ((allocation or {}).get("devices") or {}).get("results") or ()}

    def device(path: str, value: Raw) -> Errors:
        return _device_status(path, value, allocated)

    yield from unique_items("status.devices", status.get("devices") or [], None, device, _device_key)
    if reserved and allocation is None:
        yield forbidden("status.reservedFor", "may not be specified when `allocated` is not set")
    elif (new.get("metadata") or {}).get("deletionTimestamp") is not None and any(
        user not in (before.get("reservedFor") or ()) for user in reserved
    ):
        text = "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set"
        yield forbidden("status.reservedFor", text)
    if allocation is not None and before.get("allocation") is not None:
        yield from immutable("status.allocation", allocation, before["allocation"])
    elif allocation is not None:
        yield from _allocation(
            "status.allocation", allocation, request_names((new.get("spec") or {}).get("devices") or {})
        )


def _consumer(path: str, value: Raw) -> Errors:
    for name in ("resource", "name", "uid"):
        if not value.get(name):
            yield required(f"{path}.{name}")


def _device_key(value: Raw) -> Hashable:
    return "/".join(str(value.get(name) or "") for name in ("driver", "pool", "device")) + (
        f"/{value['shareID']}" if value.get("shareID") else ""
    )


def _allocation(path: str, value: Raw, known: RequestNames) -> Errors:
    devices: Raw = value.get("devices") or {}

    def result(at: str, entry: Raw) -> Errors:
        return _result(at, entry, known)

    def config(at: str, entry: Raw) -> Errors:
        source = entry.get("source") or ""
        if not source:
            yield required(f"{at}.source")
        elif source not in SOURCES:
            yield not_supported(f"{at}.source", source, SOURCES)
        yield from request_references(f"{at}.requests", entry.get("requests") or (), known)
        yield from configuration(at, entry, stored=False)

    yield from items(f"{path}.devices.results", devices.get("results") or (), MAX_RESULTS, result)
    yield from items(f"{path}.devices.config", devices.get("config") or (), 2 * MAX_CONFIG, config)
    if value.get("nodeSelector") is not None:
        yield from node_selector(f"{path}.nodeSelector", value["nodeSelector"])


def _result(path: str, value: Raw, known: RequestNames) -> Errors:
    yield from request_reference(f"{path}.request", value.get("request") or "", known)
    yield from driver_name(f"{path}.driver", value.get("driver") or "")
    yield from pool_name(f"{path}.pool", value.get("pool") or "")
    yield from device_name(f"{path}.device", value.get("device") or "")
    yield from condition_names(path, value)
    yield from tolerations(path, value)
    if value.get("shareID") is not None:
        yield from uid(f"{path}.shareID", value["shareID"])
    yield from skipped_operations(f"{path}.skipNodeOperations", value.get("skipNodeOperations") or ())


def _device_status(path: str, value: Raw, allocated: set[Hashable]) -> Errors:
    yield from driver_name(f"{path}.driver", value.get("driver") or "")
    yield from pool_name(f"{path}.pool", value.get("pool") or "")
    yield from names(f"{path}.device", value.get("device") or "", label_problems)
    if value.get("shareID") is not None:
        yield from uid(f"{path}.shareID", value["shareID"])
    if _device_key(value) not in allocated:
        yield invalid(path, _device_key(value), "must be an allocated device in the claim")
    yield from conditions(f"{path}.conditions", value.get("conditions") or (), 8)
    if value.get("data") is not None:
        yield from json_object(f"{path}.data", value["data"], MAX_DATA)
    if value.get("networkData") is not None:
        yield from _network(f"{path}.networkData", value["networkData"])


def _network(path: str, value: Raw) -> Errors:
    for name, limit in (("interfaceName", 256), ("hardwareAddress", 128)):
        if byte_length(value.get(name) or "") > limit:
            yield too_long(f"{path}.{name}", limit)
    yield from unique_items(f"{path}.ips", value.get("ips") or (), 16, _address)


def _address(path: str, value: str) -> Errors:
    try:
        address = ipaddress.ip_interface(value) if "/" in value else None
    except ValueError:
        address = None
    if address is None:
        yield invalid(path, value, "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)")
    elif str(address) != value:
        yield invalid(path, value, f'must be in canonical form ("{address}")')
