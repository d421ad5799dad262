"""Two schedulers, one device: who loses.

A double allocation spans two claims, so no resourceVersion excludes it. Between the status write and the binding we
look whether another claim holds a device of ours. The rule is the same on both sides, so exactly one gives way:

1. a claim that a pod with a node uses stays (taking it back would not help its pod any more);
2. else the earlier allocation stays (allocationTimestamp, without one creationTimestamp; a second's resolution);
3. else the smaller uid.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dra_allocator.device import DeviceID
from dra_allocator.outcome import AllocationResult
from dra_scheduler.cache.claim_store import Claim
from dra_scheduler.cache.cluster import Cluster
from dra_scheduler.errors import SchedulerError


class RivalError(SchedulerError):
    """Another scheduler allocated one of our devices first: our allocation has to go.

    Whoever runs both schedulers over the same devices caused it; each driver's devices should have one scheduler.
    """

    def __init__(self, device: DeviceID, same_namespace_claim: str) -> None:
        self.device = device
        who = (
            f"ResourceClaim {same_namespace_claim}" if same_namespace_claim else "a ResourceClaim of another namespace"
        )
        super().__init__(f"device {device} is allocated to {who} as well, by another scheduler, which was first")


def check_rivals(cluster: Cluster, claims: Iterable[Claim]) -> list[DeviceID]:
    """Return the devices that a rival holds too, and has to give up by the rule. Raises RivalError if we have to."""
    ours = {claim.uid: claim for claim in claims}
    contested = []
    for claim in ours.values():
        for device, rival in _rivals(cluster, claim, ours):
            if _stays(cluster, rival) > _stays(cluster, claim):
                raise RivalError(
                    device, f"{rival.namespace}/{rival.name}" if rival.namespace == claim.namespace else ""
                )
            contested.append(device)
    return contested


def _rivals(cluster: Cluster, claim: Claim, ours: dict[str, Claim]) -> Iterator[tuple[DeviceID, Claim]]:
    for device, exclusive in _holds(claim.effective):
        for holder in cluster.ledger.holders_of(device):
            other = cluster.claims.by_uid(holder.claim_uid)
            if other is not None and other.uid not in ours and (exclusive or holder.share_id is None):
                yield device, other


def _holds(allocation: AllocationResult | None) -> Iterator[tuple[DeviceID, bool]]:
    for result in allocation.devices if allocation is not None else ():
        if not result.admin_access:
            yield result.device, result.share_id is None


class _Claimed:
    """The rule as an order: the greater one stays."""

    def __init__(self, in_use: bool, since: str, uid: str) -> None:
        self._in_use, self._age = in_use, (since, uid)

    def __gt__(self, other: _Claimed) -> bool:
        if self._in_use != other._in_use:
            return self._in_use
        return self._age < other._age


def _stays(cluster: Cluster, claim: Claim) -> _Claimed:
    users = [pod for pod in map(cluster.pods.get, claim.reserved_for) if pod is not None]
    for group in claim.reserved_groups:
        users += cluster.groups.bound((claim.namespace, group))
    allocation = (claim.raw.get("status") or {}).get("allocation") or {}
    since = allocation.get("allocationTimestamp") or claim.raw["metadata"].get("creationTimestamp") or ""
    return _Claimed(any(pod.node_name for pod in users), since, claim.uid)
