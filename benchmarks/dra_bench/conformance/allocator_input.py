"""What an allocator case says besides API objects: features, and what is allocated already."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dra_allocator.device import DeviceID
from dra_allocator.features import GATES, Features
from dra_allocator.outcome import AllocationResult, DeviceResult
from dra_api.decode.allocations import allocation_result
from dra_bench.conformance.case import CaseError, objects, required

JSON = dict[str, Any]
SHARE_ID = "aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa"
"""Stands for every share id, as in the data."""
# The data's feature names that are not a gate's name without its prefix.
_FEATURES = {gate.removeprefix("DRA"): field for gate, field in GATES.items()} | {
    "DeviceBindingAndStatus": "binding_conditions",
    "CompatibilityGroups": "compatibility_groups",
}
_BOTH_GATES = frozenset({"DRADeviceBindingConditions", "DRAResourceClaimDeviceStatus"})
"""The feature of binding conditions needs two gates."""


def read_features(data: JSON) -> Features:
    """The features that are on for a case: `features` by name, else `featureGates`, else Kubernetes' defaults.

    What `features` or `featureGates` do not name is off. Raises CaseError.
    """
    given = data.get("features")
    if given is None:
        return _of_gates(data.get("featureGates"))
    if isinstance(given, list):
        given = {str(name).removeprefix("DRA"): True for name in given}
    if not isinstance(given, dict):
        raise CaseError(f"input.features must be an object of names and true or false, not {type(given).__name__}")
    values = dict.fromkeys(_FEATURES.values(), False)
    for name, on in given.items():
        if name in _FEATURES:
            values[_FEATURES[name]] |= bool(on)
    return Features(**values)


def _of_gates(given: object) -> Features:
    if given is None:
        return Features()
    if isinstance(given, Mapping):
        given = [name for name, on in given.items() if on]
    if not isinstance(given, list):
        raise CaseError(f"input.featureGates must be a list of names, not {type(given).__name__}")
    names = {part for name in given for part in str(name).split("+")}
    values = {field: gate in names for gate, field in GATES.items()}
    return Features(**values | {"binding_conditions": names >= _BOTH_GATES})


def held_results(data: JSON) -> list[AllocationResult]:
    """The allocated state as results of claims that are not named: whole devices, shares, and what shares consume.

    Raises CaseError, DecodeError.
    """
    consumed: dict[tuple[str, str, str], list[JSON]] = {}
    for where, entry in _entries(data, "aggregatedCapacity"):
        consumed.setdefault(_identity(entry, where), []).append(entry.get("consumedCapacity") or {})
    results = [
        AllocationResult((DeviceResult("request", DeviceID(*_identity(entry, where))),))
        for where, entry in _entries(data, "allocatedDevices")
    ]
    shares = [
        (_identity(entry, where), str(required(entry, "shareID", where)))
        for where, entry in _entries(data, "allocatedSharedDeviceIDs")
    ]
    # The sum is stated once a device, so its first share carries all of it; sums without a share get one.
    for device, sums in consumed.items():
        shares += [(device, SHARE_ID)] * (len(sums) - sum(device == other for other, _ in shares))
    for device, share in shares:
        left = consumed.get(device)
        entry = {"request": "request", "shareID": share, "consumedCapacity": left.pop(0) if left else {}}
        entry |= dict(zip(("driver", "pool", "device"), device, strict=True))
        results.append(allocation_result({"devices": {"results": [entry]}}))
    return results


def _entries(data: JSON, key: str) -> list[tuple[str, JSON]]:
    return [(f"input.{key}[{number}]", entry) for number, entry in enumerate(objects(data, key, "input"))]


def _identity(entry: JSON, where: str) -> tuple[str, str, str]:
    return (
        str(required(entry, "driver", where)),
        str(required(entry, "pool", where)),
        str(required(entry, "device", where)),
    )
