"""Whether the devices of an allocated claim are ready to be used (KEP-5007, DRADeviceBindingConditions).

A device may name binding conditions in the allocation: its driver attaches it and reports them in `status.devices`.
A pod is bound only when all of them are true; one true failure condition voids the allocation.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any


class Readiness(enum.Enum):
    """What the conditions of all devices of a claim say together."""

    READY = "ready"
    WAITING = "waiting"
    FAILED = "failed"


def readiness(claim: Mapping[str, Any]) -> Readiness:
    """Return the state of an allocated claim; one without binding conditions is ready."""
    states = [_device_state(claim, result) for result in _conditional_results(claim)]
    if Readiness.FAILED in states:
        return Readiness.FAILED
    return Readiness.WAITING if Readiness.WAITING in states else Readiness.READY


def failure(claim: Mapping[str, Any]) -> str:
    """Return kube-scheduler's words for a device whose binding failed."""
    name = (claim.get("metadata") or {}).get("name") or ""
    for result in _conditional_results(claim):
        wanted = result.get("bindingFailureConditions") or ()
        for condition in _conditions(claim, result):
            if condition.get("type") in wanted and condition.get("status") == "True":
                reason, message = condition.get("reason") or "", condition.get("message") or ""
                return f'device binding failed: claim={name}, reason={reason}, message="{message}"'
    return f"device binding failed: claim={name}"


def allocated_at(claim: Mapping[str, Any]) -> datetime | None:
    """Return `allocationTimestamp`, None if there is none or it cannot be read."""
    text = ((claim.get("status") or {}).get("allocation") or {}).get("allocationTimestamp")
    try:
        return None if text is None else datetime.fromisoformat(text).astimezone(UTC)
    except (TypeError, ValueError):
        return None


def _conditional_results(claim: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    allocation = (claim.get("status") or {}).get("allocation") or {}
    for result in (allocation.get("devices") or {}).get("results") or ():
        if result.get("bindingConditions"):
            yield result


def _device_state(claim: Mapping[str, Any], result: Mapping[str, Any]) -> Readiness:
    true = _true_conditions(claim, result)
    if any(name in true for name in result.get("bindingFailureConditions") or ()):
        return Readiness.FAILED
    return Readiness.READY if all(name in true for name in result["bindingConditions"]) else Readiness.WAITING


def _true_conditions(claim: Mapping[str, Any], result: Mapping[str, Any]) -> set[str]:
    return {c["type"] for c in _conditions(claim, result) if c.get("status") == "True"}


def _conditions(claim: Mapping[str, Any], result: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return what the driver reports of an allocated device."""
    for device in (claim.get("status") or {}).get("devices") or ():
        if all(device.get(key) == result.get(key) for key in ("driver", "pool", "device", "shareID")):
            return list(device.get("conditions") or ())
    return []
