"""Kubernetes' own allocator cases (conformance/README.md), read from the folder in DRA_CONFORMANCE."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from dra_allocator.device import DeviceID
from dra_allocator.outcome import Allocation, AllocationError
from dra_allocator.rejection import Rejection
from dra_api import encode
from dra_bench.conformance.allocator_case import allocate
from dra_bench.conformance.corrections import CORRECTIONS
from dra_cel.quantity import Quantity
from support.conformance import NO_CONFORMANCE, conformance_cases

CASES = conformance_cases("allocator-cases.json")
pytestmark = pytest.mark.skipif(not CASES, reason=NO_CONFORMANCE)


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
    outcome, _ = allocate(case["input"])
    expected = case["expected"]
    correction = CORRECTIONS.get(case["name"])
    kind = expected["outcome"] if correction is None else correction.outcome
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
