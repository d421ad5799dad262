"""What the API server serves: versions, feature gates, its clock."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from dra_api.clock import Clock
from dra_api.transport import Request, Transport
from dra_scheduler.client.discovery import Served
from dra_scheduler.doctor.check import Check, Status
from dra_scheduler.feature_gates import OURS
from dra_scheduler.survey.snapshot import Snapshot

GONE_IN: Mapping[str, int] = {"v1alpha3": 34, "v1beta1": 38, "v1beta2": 39}
"""The minor version that no longer serves a version of resource.k8s.io."""
SKEW_WARNING, SKEW_PROBLEM = 3.0, 30.0
"""Seconds. The server tells whole seconds, and the request takes its time."""


def api(served: Served) -> Check:
    """Which version of resource.k8s.io is used."""
    text = f"{served.git_version} serves resource.k8s.io/{served.resource_version}"
    if served.taint_rule_version is not None:
        text += f", DeviceTaintRule in {served.taint_rule_version}"
    return Check("api", "ok", text)


def gates(snapshot: Snapshot) -> Check:
    """Which feature gates are on, as the server says."""
    if snapshot.gates is None:
        text = "which feature gates are on is not known: the API server's metrics may not be read, or do not tell"
        todo = "allow get on the non-resource URL /metrics, as manifests/rbac-readonly.yaml does"
        return Check("gates", "unknown", text, todo)
    ours = {name: snapshot.gates[name] for name in sorted(OURS) if name in snapshot.gates}
    on, off = ([name for name, value in ours.items() if value is wanted] for wanted in (True, False))
    text = f"on: {', '.join(on) or 'none'}; off: {', '.join(off) or 'none'}"
    if ours.get("DynamicResourceAllocation") is False:
        return Check("gates", "problem", text, "switch DynamicResourceAllocation on in every component")
    return Check("gates", "ok", text)


def old_versions(served: Served, snapshot: Snapshot) -> Check:
    """Whether we, or whoever writes devices and claims, use versions of the API that go away soon."""
    users = _writers(snapshot)
    if served.resource_version in GONE_IN:
        users.setdefault(served.resource_version, set()).add("this scheduler, for want of a newer one")
    said = []
    for version, names in sorted(users.items()):
        said.append(f"resource.k8s.io/{version} (gone in Kubernetes 1.{GONE_IN[version]}): {', '.join(sorted(names))}")
    if not said:
        return Check("api-versions", "ok", "nobody writes devices or claims in a version that goes away")
    return Check("api-versions", "warning", "; ".join(said), "update these before the cluster is updated")


async def clock(transport: Transport, ours: Clock) -> Check:
    """Whether the server's clock and ours agree: waits are counted from the timestamps in objects."""
    before = ours.now()
    response = await transport.send(Request("GET", "/version"))
    after = ours.now()
    try:
        told = parsedate_to_datetime(response.headers["date"])
    except (KeyError, ValueError, TypeError):
        return Check("clock", "unknown", "the API server does not tell its time")
    return compared(told if told.tzinfo else told.replace(tzinfo=UTC), before, after)


def compared(told: datetime, before: datetime, after: datetime) -> Check:
    """Compare the server's time, in whole seconds, with ours before and after the request."""
    ahead, behind = (told - after).total_seconds(), (before - told).total_seconds() - 1
    skew = max(ahead, behind, 0.0)
    text = f"the API server's clock and ours differ by {'less than a second' if skew < 1 else f'{skew:.0f} s'}"
    if skew < SKEW_WARNING:
        return Check("clock", "ok", text)
    status: Status = "problem" if skew >= SKEW_PROBLEM else "warning"
    return Check(
        "clock", "problem" if status == "problem" else "warning", text, "synchronise the clocks of both machines"
    )


def _writers(snapshot: Snapshot) -> dict[str, set[str]]:
    """Return who wrote objects in versions that go away, by version, as their managed fields tell."""
    found: dict[str, set[str]] = {}
    for kind in ("ResourceSlice", "ResourceClaim", "ResourceClaimTemplate", "DeviceClass"):
        for obj in snapshot.objects.get(kind, []):
            for entry in obj["metadata"].get("managedFields") or ():
                group, _, version = str(entry.get("apiVersion", "")).rpartition("/")
                if group == "resource.k8s.io" and version in GONE_IN:
                    found.setdefault(version, set()).add(f"{entry.get('manager', 'somebody')} ({kind})")
    return found
