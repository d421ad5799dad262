"""Kubernetes' own allocator cases (conformance/README.md), read from the folder in DRA_CONFORMANCE."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from dra_allocator.allocator import Allocator
from dra_allocator.device import DeviceID, ResourceSlice
from dra_allocator.features import Features
from dra_allocator.ledger import Ledger
from dra_allocator.outcome import Allocation, AllocationError, AllocationResult, DeviceResult, Outcome
from dra_allocator.rejection import Rejection
from dra_allocator.table import Table
from dra_allocator.view import View
from dra_api import decode, encode
from dra_cel.quantity import Quantity
from support.conformance import NO_CONFORMANCE, conformance_cases
from support.devices import Calls

SHARE = "aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa"
FEATURES = {
    "AdminAccess": "admin_access",
    "CompatibilityGroups": "compatibility_groups",
    "ConsumableCapacity": "consumable_capacity",
    "DerivedAttributes": "derived_attributes",
    "DeviceBindingAndStatus": "binding_conditions",
    "DeviceTaints": "device_taints",
    "FractionalCapacityRange": "fractional_capacity_range",
    "ListTypeAttributes": "list_type_attributes",
    "OptionalNodeOperations": "optional_node_operations",
    "PartitionableDevices": "partitionable_devices",
    "PrioritizedList": "prioritized_list",
}

CORRECTED = {
    # Kubernetes makes the first violated constraint of mode All a fatal error. It is no error: the claim does not fit.
    "with-constraint-not-matching-int-attribute-all-devices": "none",
    "partitionable-all-mode-constraint-must-error-with-reserved-counter": "none",
    # The newest generation of the pool serves another node only; Kubernetes then takes devices of the older one.
    "multi-host-resource-pool-complete-update-from-node-1-to-node-2": "none",
    "multi-host-resource-pool-incomplete-update-from-node-1-to-node-2": "none",
}


CASES = conformance_cases("allocator-cases.json")
pytestmark = pytest.mark.skipif(not CASES, reason=NO_CONFORMANCE)


def run(case: Mapping[str, Any]) -> Outcome:
    data = case["input"]
    table, ledger = Table(), Ledger()
    for device_class in data["classes"]:
        table.apply_class(decode.device_class(device_class))
    table.apply_node(decode.node(data["node"]))
    for one in uniquely_named([decode.resource_slice(one) for one in data["slices"]]):
        table.apply_slice(one)
    hold(ledger, data)
    features = Features(**{name: bool(data["features"].get(key)) for key, name in FEATURES.items()})
    claims = [decode.resource_claim(one) for one in data["claimsToAllocate"]]
    allocator = Allocator(share_ids=lambda: SHARE)
    attempt = allocator.allocate(View(table, ledger, features), claims, [data["node"]["metadata"]["name"]])
    outcome = attempt.step(Calls())
    assert outcome is not None
    return outcome


def uniquely_named(slices: list[ResourceSlice]) -> list[ResourceSlice]:
    """Some cases use a name twice, which no API server allows; the suffix keeps the order of such slices."""
    names = [one.name for one in slices]
    return [
        replace(one, name=f"{one.name}~{number:03}") if names.count(one.name) > 1 else one
        for number, one in enumerate(slices)
    ]


def hold(ledger: Ledger, data: Mapping[str, Any]) -> None:
    consumed = {identify(one): one["consumedCapacity"] for one in data["aggregatedCapacity"]}
    entries = [DeviceResult("r", identify(one)) for one in data["allocatedDevices"]]
    shared = [(identify(one), one["shareID"]) for one in data["allocatedSharedDeviceIDs"]]
    shared += [(device, SHARE) for device in consumed if device not in {one for one, _ in shared}]
    for device, share_id in shared:
        amounts = {name: Quantity.parse(value) for name, value in consumed.pop(device, {}).items()}
        entries.append(DeviceResult("r", device, share_id=share_id, consumed_capacity=amounts))
    for number, entry in enumerate(entries):
        ledger.observe(f"holder-{number}", AllocationResult((entry,)))


def identify(one: Mapping[str, str]) -> DeviceID:
    return DeviceID(one["driver"], one["pool"], one["device"])


def canonical(result: Mapping[str, Any], exact: bool) -> Any:
    """The result, without the order that its kind of comparison leaves open."""
    devices = [dict(one) for one in result.get("devices", {}).get("results", [])]
    for one in devices:
        one["tolerations"] = one.get("tolerations", [])
        one["consumedCapacity"] = {
            name: str(Quantity.parse(value)) for name, value in one.get("consumedCapacity", {}).items()
        }
    selector = result.get("nodeSelector")
    if not exact:
        devices.sort(key=lambda one: json.dumps(one, sort_keys=True))
        selector = json.loads(json.dumps(selector), object_hook=_sorted_requirements)
    return devices, result.get("devices", {}).get("config", []), selector


def _sorted_requirements(value: dict[str, Any]) -> dict[str, Any]:
    return {
        key: sorted(entry, key=lambda one: json.dumps(one, sort_keys=True)) if isinstance(entry, list) else entry
        for key, entry in value.items()
    }


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_the_outcome_is_that_of_the_reference(case: Mapping[str, Any]) -> None:
    outcome = run(case)
    expected = case["expected"]
    kind = CORRECTED.get(case["name"], expected["outcome"])
    if kind == "error":
        assert isinstance(outcome, AllocationError), outcome
        for text in expected["errorSubstrings"]:
            assert text in str(outcome)
        assert (outcome.scope == "node") == case["actual"]["errorIsNodeLocal"]
    elif kind == "none":
        empty = isinstance(outcome, Allocation) and not outcome.claims
        assert empty or isinstance(outcome, Rejection), outcome
    else:
        assert isinstance(outcome, Allocation), getattr(outcome, "explain", lambda: outcome)()
        exact = [one == "exact" for one in expected["resultKinds"]]
        got = [encode.allocation(one.result) for one in outcome.claims]
        assert len(got) == len(expected["results"])
        for one, wanted, is_exact in zip(got, expected["results"], exact, strict=True):
            assert canonical(one, is_exact) == canonical(wanted, is_exact)
        actual = [one["devices"]["results"] for one in case["actual"]["results"]]
        order = [[identify(device) for device in devices] for devices in actual]
        assert [[device.device for device in one.result.devices] for one in outcome.claims] == order
