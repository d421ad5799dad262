"""The bodies of the writes to a ResourceClaim: merge patches, the same in every version of resource.k8s.io.

A PUT would erase fields newer than we know. A merge patch replaces lists whole, so every list is sent complete and
with the resourceVersion that it was read at.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from dra_api.references import FINALIZER
from dra_scheduler.writes.refs import Consumer


def has_finalizer(claim: Mapping[str, Any]) -> bool:
    """Whether the claim is protected from being deleted while allocated."""
    return FINALIZER in (claim["metadata"].get("finalizers") or ())


def allocation_of(claim: Mapping[str, Any]) -> dict[str, Any] | None:
    """The claim's allocation as it is in its status; None: not allocated."""
    allocation: dict[str, Any] | None = (claim.get("status") or {}).get("allocation")
    return allocation


def reserved_for(claim: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The claim's consumers; do not change the list."""
    return (claim.get("status") or {}).get("reservedFor") or []


def is_reserved(claim: Mapping[str, Any], who: Consumer) -> bool:
    """Whether a pod or PodGroup is among the claim's consumers."""
    return any(who.has(entry) for entry in reserved_for(claim))


def has_entry(claim: Mapping[str, Any], uid: str) -> bool:
    """Whether one of the claim's consumers has this uid."""
    return any(entry.get("uid") == uid for entry in reserved_for(claim))


def finalizer_patch(claim: Mapping[str, Any]) -> dict[str, Any]:
    """Put the finalizer on the main resource: the status subresource ignores it."""
    meta = claim["metadata"]
    finalizers = [*(meta.get("finalizers") or ()), FINALIZER]
    return {"metadata": {"resourceVersion": meta["resourceVersion"], "finalizers": finalizers}}


def status_patch(claim: Mapping[str, Any], status: Mapping[str, Any]) -> dict[str, Any]:
    """Change parts of the status of exactly the claim that was read."""
    meta = claim["metadata"]
    return {"metadata": {"resourceVersion": meta["resourceVersion"]}, "status": status}


def timestamp(now: datetime) -> str:
    """A metav1.Time: whole seconds, UTC."""
    return now.strftime("%Y-%m-%dT%H:%M:%SZ")
