"""What lint calls impossible is impossible: the allocator is asked, on random clusters in which nothing is in use."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import orjson
import pytest

from dra_allocator.outcome import Allocation
from dra_api import decode
from dra_api.manifests import merge, read_text
from dra_bench.conformance.allocator_case import allocate
from dra_bench.oracle.generate_clusters import generate
from dra_scheduler.feature_gates import NEWEST_MINOR, FeatureGates
from dra_scheduler.lint.finding import Finding
from dra_scheduler.lint.linter import lint

SEEDS = 300
OF_CLAIMS = frozenset(
    (
        "class-missing",
        "too-many-devices",
        "too-few-devices",
        "capacity-unsatisfiable",
        "constraint-unknown-attribute",
        "selector-matches-nothing",
        "subrequest-unreachable",
    )
)
"""Findings about a request after which it cannot be allocated, or, of an alternative, is not what is picked."""
OF_POOLS = frozenset(("pool-slice-count", "device-twice", "counter-undefined"))
"""Findings after which nothing is taken from the pool; the node of a random cluster need not see all of its slices."""
OF_DEVICES = frozenset(("counter-exceeded",))
"""Findings after which the device is not taken."""

_REQUEST = re.compile(r"spec\.devices\.requests\[(\d+)\](?:\.firstAvailable\[(\d+)\])?")
_DEVICE = re.compile(r"spec\.devices\[(\d+)\]")

_SCOPE = ("nodeName", "nodeSelector", "allNodes")

Raw = dict[str, Any]


def findings_of(objects: list[Raw]) -> list[Finding]:
    text = b"\n".join(orjson.dumps(obj) for obj in objects)
    gates = FeatureGates.of({"AllAlpha": True, "AllBeta": True}, NEWEST_MINOR)
    return list(lint(merge([read_text(text, "c.json")]), gates, NEWEST_MINOR).findings)


@pytest.fixture(scope="module")
def cases() -> list[tuple[int, Raw, list[Finding]]]:
    """Seed, input for the allocator with one claim and an empty cluster, what lint finds there."""
    found = []
    for seed in range(SEEDS):
        cluster = generate(seed)
        shared = [cluster["node"], *cluster["classes"], *cluster["slices"]]
        for claim in cluster["claimsToAllocate"]:
            input_ = {"node": cluster["node"], "classes": cluster["classes"], "slices": cluster["slices"]}
            input_ |= {"claimsToAllocate": [claim], "features": dict.fromkeys(cluster["features"], True)}
            heads = [{**obj, "apiVersion": obj.get("apiVersion") or "resource.k8s.io/v1"} for obj in [*shared, claim]]
            found.append((seed, input_, findings_of(heads)))
    return found


def picked(input_: Raw) -> set[str] | None:
    """The requests, alternatives included, of what the allocator gives; None: it gives nothing."""
    outcome, _ = allocate(input_)
    if not isinstance(outcome, Allocation):
        return None
    return {device.request for claim in outcome.claims for device in claim.result.devices}


def test_what_is_called_impossible_is_never_allocated(cases: list[tuple[int, Raw, list[Finding]]]) -> None:
    seen: Counter[str] = Counter()
    for seed, input_, findings in cases:
        claim = input_["claimsToAllocate"][0]
        found = [one for one in findings if one.name in OF_CLAIMS and "ResourceClaim" in one.problem.object]
        if not found:
            continue
        allocated = picked(input_)
        for one in found:
            seen[one.name] += 1
            assert allocated is None or not allocated & excluded(claim, one), (seed, str(one), allocated)
    assert set(seen) >= OF_CLAIMS - {"too-many-devices", "class-missing"}, seen


def excluded(claim: Raw, finding: Finding) -> set[str]:
    """The requests and alternatives that the finding rules out."""
    requests = decode.resource_claim(claim).requests
    match = _REQUEST.match(finding.problem.field)
    if match is None or match[2] is None:
        chosen = requests if match is None else [requests[int(match[1])]]
        return {one.name for one in chosen}
    request = requests[int(match[1])]
    return {f"{request.name}/{request.first_available[int(match[2])].name}"}


def test_nothing_is_taken_from_what_is_called_broken(cases: list[tuple[int, Raw, list[Finding]]]) -> None:
    seen: Counter[str] = Counter()
    for seed, input_, findings in cases:
        found = [one for one in findings if one.name in OF_POOLS | OF_DEVICES]
        if not found:
            continue
        outcome, _ = allocate(input_)
        if not isinstance(outcome, Allocation):
            continue
        for one in found:
            seen[one.name] += 1
            taken = [device for claim in outcome.claims for device in claim.result.devices if not device.admin_access]
            assert not [device for device in taken if is_about(input_, one, device)], (seed, str(one), taken)
    assert sum(seen.values()) > 10, seen


def _is_of_one_scope(input_: Raw, spec: Raw) -> bool:
    """Whether the same nodes see all slices of a pool: a node that sees one of two like devices can have it."""
    specs = [obj["spec"] for obj in input_["slices"]]
    of_pool = [one for one in specs if (one["driver"], one["pool"]["name"]) == (spec["driver"], spec["pool"]["name"])]
    scopes = {orjson.dumps([one.get(name) for name in _SCOPE]) for one in of_pool}
    return len(scopes) == 1 and "perDeviceNodeSelection" not in spec


def is_about(input_: Raw, finding: Finding, device: Any) -> bool:
    """Whether a finding in a slice concerns the device, or its pool."""
    name = finding.problem.object.removeprefix("ResourceSlice ")
    spec = next(obj["spec"] for obj in input_["slices"] if obj["metadata"]["name"] == name)
    if (spec["driver"], spec["pool"]["name"]) != (device.device.driver, device.device.pool):
        return False
    if finding.name in OF_POOLS:
        return finding.name != "device-twice" or _is_of_one_scope(input_, spec)
    match = _DEVICE.match(finding.problem.field)
    return match is not None and spec["devices"][int(match[1])]["name"] == device.device.device
