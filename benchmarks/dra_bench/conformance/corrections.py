"""Cases whose expectation is a defect of Kubernetes: what is right instead, and why.

Those of Kubernetes' own tables are known by name, with what is right in each. Other cases are recognised by what only
the defect gives: the text of an error, or a pool whose newest generation is elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dra_bench.conformance.allocator_input import read_features
from dra_bench.conformance.case import Actual, Case, CaseError
from dra_bench.conformance.compare import difference_of_results
from dra_bench.conformance.expectation import expectation
from dra_cel.quantity import Quantity, QuantityError

JSON = dict[str, Any]
_ALL_UNDER_CONSTRAINT = "mode All under a constraint: a violated constraint is no error, the claim does not fit"
_NEWEST_ELSEWHERE = (
    "the newest generation of the pool serves another node only; an older generation is out of date, as the API says"
)
_INTEGER_RANGE = (
    "a range of integers is counted in whole units also while fractional ranges are on: thousandths overflow above 9Pi"
)
_ADMIN_ACCESS = "admin access takes no capacity, so there is nothing that it has consumed"
_DEVICE_NODE_SELECTOR = "a device's node selector that cannot be used takes out the device, not the attempt"


@dataclass(frozen=True, slots=True)
class Correction:
    """The right outcome, the right results where the outcome does not say all, and why."""

    outcome: str
    reason: str
    results: object = None


CORRECTIONS = {
    "with-constraint-not-matching-int-attribute-all-devices": Correction("none", _ALL_UNDER_CONSTRAINT),
    "partitionable-all-mode-constraint-must-error-with-reserved-counter": Correction("none", _ALL_UNDER_CONSTRAINT),
    "multi-host-resource-pool-complete-update-from-node-1-to-node-2": Correction("none", _NEWEST_ELSEWHERE),
    "multi-host-resource-pool-incomplete-update-from-node-1-to-node-2": Correction("none", _NEWEST_ELSEWHERE),
    "TestConsumableCapacity/use-milli: all integer, fits in milli (no hasFractional gate any more)": Correction(
        "results", _INTEGER_RANGE, results=False
    ),
}
"""By the key of a case."""


def corrected(case: Case, actual: Actual) -> str | None:
    """Why what came out is right although the case expects something else; None where nothing says so."""
    known = CORRECTIONS.get(case.key)
    if known is not None and (actual.outcome, actual.results) == (known.outcome, known.results):
        return known.reason
    raw: JSON = dict(getattr(case, "raw", {}))
    return next((reason for reason, holds in _RULES if holds(raw, actual)), None)


def _error_text(raw: JSON) -> str:
    try:
        expected = expectation(raw)
    except CaseError:
        return ""
    return expected.error if expected.outcome == "error" else ""


def _all_under_constraint(raw: JSON, actual: Actual) -> bool:
    return actual.outcome != "error" and "a claim constraint would not be satisfied" in _error_text(raw)


def _device_node_selector(raw: JSON, actual: Actual) -> bool:
    text = _error_text(raw)
    of_device = "node selection for device" in text or ("nodeSelectorTerms" in text and "for slice" not in text)
    return actual.outcome != "error" and of_device


def _newest_elsewhere(raw: JSON, actual: Actual) -> bool:
    """A result that is expected comes from a pool that other nodes have a newer generation of, and ours does not."""
    given = raw.get("input")
    if not isinstance(given, dict) or actual.outcome == "error":
        return False
    node = ((given.get("node") or {}).get("metadata") or {}).get("name")
    gone = {
        pool for pool, names in _newest(given.get("slices") or []).items() if None not in names and node not in names
    }
    expected = _pools((raw.get("expected") or {}).get("results"))
    return bool(gone & expected) and not gone & _pools(actual.results)


def _newest(slices: list[JSON]) -> dict[tuple[str, str], set[str | None]]:
    """The nodes of each pool's newest generation; None where a slice is not for one node by name."""
    generations: dict[tuple[str, str], int] = {}
    nodes: dict[tuple[str, str], set[str | None]] = {}
    for one in slices:
        spec = one.get("spec") or {}
        pool = spec.get("pool") or {}
        key, generation = (spec.get("driver", ""), pool.get("name", "")), pool.get("generation", 0)
        if generation > generations.get(key, -1):
            generations[key], nodes[key] = generation, set()
        if generation == generations[key]:
            nodes[key].add(spec.get("nodeName") or None)
    return nodes


def _pools(results: object) -> set[tuple[str, str]]:
    found = results if isinstance(results, list) else []
    devices = [entry for one in found for entry in (one.get("devices") or {}).get("results") or ()]
    return {(entry.get("driver", ""), entry.get("pool", "")) for entry in devices}


def _integer_range(raw: JSON, actual: Actual) -> bool:
    """A table of consumable capacity asks whether, or what if, integers are counted in thousandths."""
    if not str(raw.get("test")).startswith("TestConsumableCapacity/") or actual.outcome != "results":
        return False
    fields = raw.get("fields") or {}
    if not any(fields.get(key) for key in ("expectUseMilli", "expectErr", "expectError", "expectResult")):
        return False
    policies = [fields.get("requestPolicy"), *((one or {}).get("requestPolicy") for one in _offered(fields))]
    ranges = [fields.get("validRange"), *((policy or {}).get("validRange") for policy in policies)]
    return bool(fields.get("fractionalCapacityRange")) and any(map(_is_of_integers, ranges))


def _offered(fields: JSON) -> list[JSON]:
    given = fields.get("capacity")
    return list(given.values()) if isinstance(given, dict) else []


def _is_of_integers(limits: object) -> bool:
    if not isinstance(limits, Mapping) or not limits:
        return False
    try:
        bounds = [Quantity.parse(str(value)) for value in limits.values() if value is not None]
    except QuantityError:
        return False
    return all(bound.nanos % 10**9 == 0 for bound in bounds)


def _thousandths_overflow(raw: JSON, actual: Actual) -> bool:
    """What we can compute is no error of arithmetic, and with the gate off Kubernetes says so too."""
    given = raw.get("input")
    if not isinstance(given, dict) or actual.outcome == "error" or not read_features(given).fractional_capacity_range:
        return False
    return "cannot be represented" in _error_text(raw)


def _admin_access(raw: JSON, actual: Actual) -> bool:
    expected = raw.get("expected") or {}
    if expected.get("outcome") != "results" or actual.outcome != "results":
        return False
    results = [_without_consumption(one) for one in expected.get("results") or ()]
    return not difference_of_results(results, expected.get("resultKinds"), actual.results)


def _without_consumption(result: JSON) -> JSON:
    devices = result.get("devices") or {}
    entries = [
        {**entry, "consumedCapacity": None} if entry.get("adminAccess") else entry
        for entry in devices.get("results") or ()
    ]
    return {**result, "devices": {**devices, "results": entries}}


_RULES: Sequence[tuple[str, Callable[[JSON, Actual], bool]]] = (
    (_ALL_UNDER_CONSTRAINT, _all_under_constraint),
    (_DEVICE_NODE_SELECTOR, _device_node_selector),
    (_NEWEST_ELSEWHERE, _newest_elsewhere),
    (_INTEGER_RANGE, _integer_range),
    (_INTEGER_RANGE, _thousandths_overflow),
    (_ADMIN_ACCESS, _admin_access),
)
