"""Allocator cases: a node, slices, classes, allocated state and claims in; results, nothing or an error out."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

from dra_allocator.allocator import Allocator
from dra_allocator.budget import Budget
from dra_allocator.device import DeviceID, ResourceSlice
from dra_allocator.features import GATES, Features
from dra_allocator.ledger import Ledger
from dra_allocator.outcome import Allocation, AllocationResult, DeviceResult, Outcome
from dra_allocator.rejection import Rejection
from dra_allocator.table import Table
from dra_allocator.view import View
from dra_api import decode, encode
from dra_api.decode.allocations import allocation_result
from dra_api.errors import DecodeError
from dra_bench.conformance.case import Actual
from dra_bench.conformance.compare import difference_of_results

JSON = dict[str, Any]
SHARE_ID = "aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa"
# The data's feature names that are not a gate's name without its prefix.
_FEATURES = {"DeviceBindingAndStatus": "binding_conditions", "CompatibilityGroups": "compatibility_groups"}
_NAMED_IN_ERRORS = {
    "claim": re.compile(r"\bclaim (?:[\w.-]+/)?([\w.-]+)"),
    "request": re.compile(r"\brequest ([\w./-]+?)[,:]? "),
    "device": re.compile(r"\bdevice ([\w.-]+/[\w.-]+/[\w.-]+)"),
}


class _Unbounded:
    """A budget without end: cases are small."""

    def exhausted(self) -> bool:
        return False


@dataclass(frozen=True, slots=True)
class AllocatorCase:
    """One case of TestAllocator's form; keys that are not known are ignored."""

    raw: JSON

    @property
    def name(self) -> str:
        """The case's name."""
        return str(self.raw["name"])

    def run(self) -> Actual:
        """Allocate the claims on the case's node."""
        data: JSON = self.raw["input"]
        claims = data.get("claimsToAllocate") or []
        try:
            outcome, uids = allocate(data)
        except DecodeError as error:
            return Actual("error", error=str(error))
        if isinstance(outcome, Rejection):
            return Actual("none")
        if not isinstance(outcome, Allocation):
            return Actual("error", error=str(outcome))
        if not claims:
            return Actual("none")
        by_uid = {c.claim_uid: encode.allocation(c.result) for c in outcome.claims}
        return Actual("results", results=[by_uid[uid] for uid in uids])

    def differences(self, actual: Actual) -> list[str]:
        """Compare outcome, results by resultKinds and, for errors, the objects that they name."""
        expected = self.raw["expected"]
        if actual.outcome != expected["outcome"]:
            detail = actual.error or (f"{actual.results}" if actual.results else "")
            return [f"expected {expected['outcome']}, got {actual.outcome}" + (f": {detail}" if detail else "")]
        if expected["outcome"] == "results":
            return difference_of_results(expected["results"], expected.get("resultKinds"), actual.results)
        if expected["outcome"] == "error":
            return self._error_differences(actual.error or "")
        return []

    def _error_differences(self, error: str) -> list[str]:
        reference = self.raw.get("actual") or {}
        reference = reference.get("jsonRoundTripOutcome") or reference
        text = reference.get("error") or " ".join(self.raw["expected"].get("errorSubstrings") or [])
        found = []
        for what, pattern in _NAMED_IN_ERRORS.items():
            match = pattern.search(text)
            if match and match.group(1) not in error:
                found.append(f"the error does not name the {what} {match.group(1)}: {error}")
        return found


def allocate(data: JSON, limit: Budget | None = None) -> tuple[Outcome, list[str]]:
    """Run the input part of a case; returns the outcome and the claims' uids in order. Raises DecodeError.

    `limit` ends the attempt with OutOfBudget; without one it takes as long as it takes.
    """
    table, ledger = Table(), Ledger()
    node = decode.node(data["node"])
    table.apply_node(node)
    for obj in data.get("classes") or []:
        table.apply_class(decode.device_class(obj))
    for published in _uniquely_named([decode.resource_slice(obj) for obj in data.get("slices") or []]):
        table.apply_slice(published)
    for number, result in enumerate(held_results(data)):
        ledger.observe(f"allocated-{number}", result)
    claims = [
        replace(decode.resource_claim(obj), uid=f"claim-{number}")
        for number, obj in enumerate(data.get("claimsToAllocate") or [])
    ]
    allocator = Allocator(share_ids=lambda: SHARE_ID)
    attempt = allocator.allocate(View(table, ledger, read_features(data)), claims, [node.name], limit=limit)
    outcome = attempt.step(_Unbounded())
    while outcome is None:
        outcome = attempt.step(_Unbounded())
    return outcome, [c.uid for c in claims]


def _uniquely_named(slices: list[ResourceSlice]) -> list[ResourceSlice]:
    """Some cases use a name twice, which no API server allows; the suffix keeps the order of such slices."""
    names = Counter(one.name for one in slices)
    return [
        replace(one, name=f"{one.name}~{number:03}") if names[one.name] > 1 else one
        for number, one in enumerate(slices)
    ]


def read_features(data: JSON) -> Features:
    """The features that are on for a case."""
    fields = {gate.removeprefix("DRA"): field for gate, field in GATES.items()} | _FEATURES
    given: JSON = data.get("features") or {}
    values = {field: bool(given.get(name, False)) for name, field in fields.items() if name in given or given}
    if "DeviceBindingAndStatus" in given:
        values["binding_conditions"] = bool(given["DeviceBindingAndStatus"])
    return Features(**values)


def held_results(data: JSON) -> list[AllocationResult]:
    """The allocated state as results of claims that are not named: whole devices, shares, and what shares consume."""
    consumed: dict[tuple[str, str, str], JSON] = {}
    for entry in data.get("aggregatedCapacity") or []:
        consumed[entry["driver"], entry["pool"], entry["device"]] = entry["consumedCapacity"]
    results = [
        AllocationResult((DeviceResult("request", _device_id(entry)),)) for entry in data.get("allocatedDevices") or []
    ]
    shares = [(e["driver"], e["pool"], e["device"], e["shareID"]) for e in data.get("allocatedSharedDeviceIDs") or []]
    shared = {share[:3] for share in shares}
    shares += [(*key, SHARE_ID) for key in consumed if key not in shared]
    for driver, pool, device, share in shares:
        entry = {"request": "request", "driver": driver, "pool": pool, "device": device, "shareID": share}
        # The sum is stated once a device: its first share carries all of it.
        entry["consumedCapacity"] = consumed.pop((driver, pool, device), {})
        results.append(allocation_result({"devices": {"results": [entry]}}))
    return results


def _device_id(entry: JSON) -> DeviceID:
    return DeviceID(entry["driver"], entry["pool"], entry["device"])
