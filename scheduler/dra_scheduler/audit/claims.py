"""Allocated claims by themselves: their devices, taints, finalizer and timestamp."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from dra_allocator.outcome import DeviceResult
from dra_allocator.pools import PoolRules, PoolState, assess
from dra_allocator.records import PoolID
from dra_allocator.rules.fitness import is_tolerated
from dra_api.references import FINALIZER
from dra_scheduler.audit.finding import Finding
from dra_scheduler.audit.subject import Subject
from dra_scheduler.cache.claim_store import Claim
from dra_scheduler.survey.times import parse_time, touched

TIMESTAMP_SINCE = 34
"""The minor version from which on servers keep allocationTimestamp."""
MINUTE = timedelta(seconds=60)
"""How long a claim may have its finalizer before it is allocated: schedulers write the one before the other."""


def devices(subject: Subject) -> Iterator[Finding]:
    """Find allocated devices that are gone, or have taints that the allocation does not tolerate."""
    for claim in subject.cluster.claims:
        for entry in claim.allocation.devices if claim.allocation is not None else ():
            rows = subject.cluster.devices.rows_of(entry.device)
            if rows:
                yield from _tainted(subject, claim, entry, rows[0])
                continue
            problem = _vanished(subject, entry)
            if problem:
                yield Finding("device-vanished", _object(claim), f"request {entry.request}: {entry.device}: {problem}")


def finalizers(subject: Subject) -> Iterator[Finding]:
    """Find finalizers that nobody needs any more, and those that are missing."""
    for claim in subject.cluster.claims:
        metadata = claim.raw["metadata"]
        has_it = FINALIZER in (metadata.get("finalizers") or ())
        if claim.allocation is not None and not has_it:
            yield Finding("finalizer-missing", _object(claim), f"allocated without the finalizer {FINALIZER}")
        if claim.allocation is not None or claim.problem or not has_it or claim.reserved_for:
            continue
        since = parse_time(metadata.get("deletionTimestamp")) or touched(dict(claim.raw))
        if since is not None and subject.snapshot.taken - since > MINUTE:
            state = "being deleted" if claim.deleting else "not allocated"
            yield Finding("finalizer-leaked", _object(claim), f"{state}, with the finalizer {FINALIZER}")


def timestamps(subject: Subject) -> Iterator[Finding]:
    """Find allocations without allocationTimestamp on servers that keep it."""
    minor = subject.snapshot.minor
    if minor is not None and minor < TIMESTAMP_SINCE:
        return
    for claim in subject.cluster.claims:
        allocation = (claim.raw.get("status") or {}).get("allocation")
        if allocation is not None and not allocation.get("allocationTimestamp"):
            yield Finding("allocation-without-timestamp", _object(claim), "allocated without allocationTimestamp")


def _tainted(subject: Subject, claim: Claim, entry: DeviceResult, row: int) -> Iterator[Finding]:
    for one in subject.taints.get(row, ()):
        if one.taint.effect == "None" or is_tolerated(one.taint, entry.tolerations):
            continue
        where = f"DeviceTaintRule {one.rule}" if one.rule else "its driver"
        users = ", ".join(claim_pods(claim)) or "no pod"
        text = f"request {entry.request}: {entry.device} has the taint {one} by {where}; in use by {users}"
        yield Finding(f"device-tainted-{one.taint.effect.lower()}", _object(claim), text)


def _vanished(subject: Subject, entry: DeviceResult) -> str:
    """Say why a device is not there; nothing while its pool is incomplete: the driver may be about to publish it."""
    table = subject.cluster.devices
    pool = table.pools.get(PoolID(entry.device.driver, entry.device.pool))
    if pool is None:
        return "there is no ResourceSlice of this pool"
    state = assess(pool, PoolRules.of(subject.cluster.features), table.rows).state
    if state is PoolState.INCOMPLETE:
        return ""
    return f"generation {pool.newest_slices()[0].generation} of the pool does not have it"


def claim_pods(claim: Claim) -> list[str]:
    """Return the names of the pods that a claim is reserved for."""
    return [str(entry.get("name")) for entry in (claim.raw.get("status") or {}).get("reservedFor") or ()]


def _object(claim: Claim) -> str:
    return f"ResourceClaim {claim.namespace}/{claim.name}"
