"""Allocator cases: a node, slices, classes, allocated state and claims in; results, nothing or an error out."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

from dra_allocator.allocator import Allocator
from dra_allocator.budget import Budget
from dra_allocator.device import ResourceSlice
from dra_allocator.ledger import Ledger
from dra_allocator.outcome import Allocation, Outcome
from dra_allocator.rejection import Rejection
from dra_allocator.table import Table
from dra_allocator.view import View
from dra_api import decode, encode
from dra_api.errors import DecodeError
from dra_api.references import RESOURCE_GROUP
from dra_api.versions import to_v1
from dra_bench.conformance.allocator_input import SHARE_ID, held_results, read_features
from dra_bench.conformance.case import Actual, objects
from dra_bench.conformance.compare import difference_of_results
from dra_bench.conformance.expectation import expectation

JSON = dict[str, Any]
DEFAULT_NODE: JSON = {"metadata": {"name": "node-1", "labels": {"planet": "earth", "region": "region-1"}}}
"""The node of cases without one, which is that of Kubernetes' tests."""
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

    @property
    def key(self) -> str:
        """The case's name."""
        return self.name

    def run(self) -> Actual:
        """Allocate the claims on the case's node. Raises CaseError."""
        try:
            outcome, uids = allocate(self.raw["input"])
        except DecodeError as error:
            return Actual("error", error=str(error))
        if isinstance(outcome, Rejection):
            return Actual("none")
        if not isinstance(outcome, Allocation):
            return Actual("error", error=str(outcome))
        if not uids:
            return Actual("none")
        by_uid = {c.claim_uid: encode.allocation(c.result) for c in outcome.claims}
        return Actual("results", results=[by_uid[uid] for uid in uids])

    def differences(self, actual: Actual) -> list[str]:
        """Compare outcome, results by resultKinds and, for errors, the objects that they name. Raises CaseError."""
        expected = expectation(self.raw)
        if actual.outcome != expected.outcome:
            detail = actual.error or (f"{actual.results}" if actual.results else "")
            return [f"expected {expected.outcome}, got {actual.outcome}" + (f": {detail}" if detail else "")]
        if expected.outcome == "results":
            return difference_of_results(expected.results, expected.kinds, actual.results)
        if expected.outcome == "error":
            return _not_named(expected.error, actual.error or "")
        return []


def _not_named(text: str, error: str) -> list[str]:
    """The objects that Kubernetes' error names and ours does not."""
    found = []
    for what, pattern in _NAMED_IN_ERRORS.items():
        match = pattern.search(text)
        if match and match.group(1) not in error:
            found.append(f"the error does not name the {what} {match.group(1)}: {error}")
    return found


def allocate(data: JSON, limit: Budget | None = None) -> tuple[Outcome, list[str]]:
    """Run the input part of a case; returns the outcome and the claims' uids in order. Raises CaseError, DecodeError.

    `limit` ends the attempt with OutOfBudget; without one it takes as long as it takes.
    """
    table, ledger = Table(), Ledger()
    node = decode.node(data.get("node") or DEFAULT_NODE)
    table.apply_node(node)
    for obj in _in_v1(data, "classes", "DeviceClass"):
        table.apply_class(decode.device_class(obj))
    published = [decode.resource_slice(obj) for obj in _in_v1(data, "slices", "ResourceSlice")]
    for one in _uniquely_named(published):
        table.apply_slice(one)
    for number, result in enumerate(held_results(data)):
        ledger.observe(f"allocated-{number}", result)
    claims = [
        replace(decode.resource_claim(obj), uid=f"claim-{number}")
        for number, obj in enumerate(_in_v1(data, "claimsToAllocate", "ResourceClaim"))
    ]
    allocator = Allocator(share_ids=lambda: SHARE_ID)
    attempt = allocator.allocate(View(table, ledger, read_features(data)), claims, [node.name], limit=limit)
    outcome = attempt.step(_Unbounded())
    while outcome is None:
        outcome = attempt.step(_Unbounded())
    return outcome, [c.uid for c in claims]


def _in_v1(data: JSON, key: str, kind: str) -> list[JSON]:
    """The objects of a list, converted where they say that they have the shape of an older version."""
    return [_converted(obj, kind) for obj in objects(data, key, "input")]


def _converted(obj: JSON, kind: str) -> JSON:
    group, _, version = str(obj.get("apiVersion") or "").partition("/")
    if group != RESOURCE_GROUP or version in ("v1", "v1beta2"):
        return obj
    return to_v1(obj, kind=kind)


def _uniquely_named(slices: list[ResourceSlice]) -> list[ResourceSlice]:
    """Some cases use a name twice, which no API server allows; the suffix keeps the order of such slices."""
    names = Counter(one.name for one in slices)
    return [
        replace(one, name=f"{one.name}~{number:03}") if names[one.name] > 1 else one
        for number, one in enumerate(slices)
    ]
