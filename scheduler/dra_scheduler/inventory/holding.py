"""Who holds devices: claims, by the pods that use them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dra_allocator.device import DeviceID
from dra_scheduler.cache.claim_store import Claim
from dra_scheduler.cache.cluster import Cluster


@dataclass(frozen=True, slots=True)
class Holding:
    """A claim's hold on a device.

    `claim` is `namespace/name`, `request` the one that it serves, `pods` are `namespace/name` of those that the claim
    is reserved for. `share_id`, `consumed` (amounts by capacity): of a shareable device. `admin`: admin access, which
    keeps nobody else away. `state`: `observed`, or `assumed` where a scheduler in this process has decided it.
    """

    claim: str
    request: str
    pods: tuple[str, ...]
    share_id: str | None = None
    consumed: Mapping[str, str] = field(default_factory=dict)
    admin: bool = False
    state: str = "observed"


def holdings(cluster: Cluster) -> dict[DeviceID, list[Holding]]:
    """Return the holds on each device, in the order of the claims' names."""
    found: dict[DeviceID, list[Holding]] = {}
    for claim in sorted(cluster.claims, key=lambda one: (one.namespace, one.name)):
        result = claim.effective
        pods = reserved_for(claim)
        for entry in result.devices if result is not None else ():
            holding = Holding(
                f"{claim.namespace}/{claim.name}",
                entry.request,
                pods,
                entry.share_id,
                {name: str(amount) for name, amount in sorted(entry.consumed_capacity.items())},
                bool(entry.admin_access),
                "observed" if claim.allocation is not None else "assumed",
            )
            found.setdefault(entry.device, []).append(holding)
    return found


def reserved_for(claim: Claim) -> tuple[str, ...]:
    """Return who the claim is reserved for: `namespace/name` of pods, `resource namespace/name` of others."""
    entries = (claim.raw.get("status") or {}).get("reservedFor") or ()
    return tuple(
        f"{claim.namespace}/{entry.get('name', '')}"
        if entry.get("resource") == "pods"
        else f"{entry.get('resource', '')} {claim.namespace}/{entry.get('name', '')}"
        for entry in entries
    )
