"""Lint: whatever the objects hold, every finding is one of the rules' and has its place, in bounded time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson

from dra_api.manifests import merge, read_text
from dra_bench.fuzz.damage import JSON, damaged
from dra_bench.fuzz.grow import grown
from dra_bench.fuzz.study import PropertyError, Study, Watch
from dra_bench.oracle.draw import Draw
from dra_bench.oracle.generate_clusters import generate
from dra_scheduler.feature_gates import FeatureGates
from dra_scheduler.lint.finding import Finding
from dra_scheduler.lint.linter import lint
from dra_scheduler.lint.registry import RULES

LINT_MS = 4000.0
"""CPU time for a file of some thirty objects, with as many expressions to compile and to run."""
_KINDS = ("ResourceClaim", "ResourceClaimTemplate", "ResourceSlice", "DeviceClass", "DeviceTaintRule")
_WORKLOADS = ("Deployment", "Job", "CronJob", "StatefulSet", "RayCluster")
_NAMES = ("a", "b", "r", "claim-0", "gpu", "", "x" * 300)
_VERSIONS = ("v1", "v1", "v1", "v1beta2", "v1beta1", "v1alpha3")


def make(seed: int) -> bytes:
    """Return a file: a cluster that fits together and what people name in it, some objects damaged."""
    draw = Draw(f"lint {seed}")
    cluster = generate(seed)
    objects: list[JSON] = [_head(one, kind) for part, kind in _PARTS.items() for one in _listed(cluster.get(part))]
    objects += [grown(draw, draw.one(_KINDS)) for _ in range(draw.number(0, 3))]
    objects += [_pod(draw, n) for n in range(draw.number(0, 4))]
    objects = [damaged(draw, obj, most=2) if draw.chance(0.15) else obj for obj in objects]
    for obj in objects:
        if str(obj.get("apiVersion")).startswith("resource.k8s.io") and draw.chance(0.1):
            obj["apiVersion"] = f"resource.k8s.io/{draw.one(_VERSIONS)}"
    return b"\n".join(filter(None, map(_text, objects)))


_PARTS = {
    "node": "Node",
    "slices": "ResourceSlice",
    "classes": "DeviceClass",
    "claimsToAllocate": "ResourceClaim",
}


def _listed(part: Any) -> list[JSON]:
    return part if isinstance(part, list) else [part] if part else []


def _head(obj: JSON, kind: str) -> JSON:
    version = "v1" if kind == "Node" else "resource.k8s.io/v1"
    return {**obj, "apiVersion": version, "kind": kind}


def _pod(draw: Draw, number: int) -> JSON:
    """Return a pod, or a workload that makes it, whose names fit or nearly fit."""
    entries = [
        {
            "name": draw.one(_NAMES),
            draw.one(("resourceClaimName", "resourceClaimTemplateName", "source")): draw.one(_NAMES),
        }
        for _ in range(draw.number(0, 3))
    ]
    uses = [{"name": draw.one(_NAMES), "request": draw.one(_NAMES)} for _ in range(draw.number(0, 3))]
    spec: Any = {"resourceClaims": entries, "containers": [{"name": "main", "resources": {"claims": uses}}]}
    metadata = {"name": f"pod-{number}"}
    if draw.chance(0.5):
        return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
    kind = draw.one(_WORKLOADS)
    template = {"template": {"spec": spec}}
    inner = {"jobTemplate": {"spec": template}} if kind == "CronJob" else template
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": metadata, "spec": inner}


def _text(obj: JSON) -> bytes:
    try:
        return orjson.dumps(obj)
    except TypeError:  # what JSON cannot say
        return b""


def check(given: bytes, watch: Watch) -> str:
    """Lint the file; the outcome is the kind of what was found."""
    with watch.at_most(LINT_MS, "lint"):
        manifests = merge([read_text(given, "file.json")])
        report = lint(manifests, FeatureGates.of({}, 37), 37)
    for finding in report.findings:
        _check(finding, given.count(b"\n") + 2)
    if report.unreadable:
        return "unreadable"
    return "found" if report.findings else "clean"


def _check(finding: Finding, lines: int) -> None:
    problem = finding.problem
    if finding.name not in RULES or finding.severity != RULES[finding.name].severity:
        raise PropertyError(f"a finding of no rule: {finding!r}")
    if not (problem.problem and problem.file == "file.json" and 1 <= problem.line <= lines):
        raise PropertyError(f"a finding without place: {finding!r}")
    str(finding).encode()


def _smaller(given: bytes) -> Iterator[bytes]:
    objects = given.split(b"\n")
    for i in range(len(objects)):
        yield b"\n".join(objects[:i] + objects[i + 1 :])


STUDY = Study(make, check, _smaller)
