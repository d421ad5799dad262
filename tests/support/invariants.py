"""What must hold in every cluster that our scheduler has worked on."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from support.stage import Stage

Raw = dict[str, Any]


async def check_invariants(stage: Stage) -> None:
    """No device has two users, nothing is bound unreserved, nothing is leaked, nothing beyond what a node has."""
    pods, claims = await stage.pods(), await stage.claims()
    uids = {pod["metadata"]["uid"]: name for name, pod in pods.items()}
    holders: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for name, claim in claims.items():
        status = claim.get("status") or {}
        for result in (status.get("allocation") or {}).get("devices", {}).get("results", []):
            holders[result["driver"], result["pool"], result["device"]].append(name)
        for entry in status.get("reservedFor") or []:
            assert entry["uid"] in uids, f"claim {name} is reserved for a pod that is gone"
            assert pods[uids[entry["uid"]]]["spec"].get("nodeName"), f"claim {name} is reserved for an unbound pod"
    assert all(len(names) == 1 for names in holders.values()), f"devices with two holders: {dict(holders)}"
    for name, pod in pods.items():
        if pod["spec"].get("nodeName"):
            _check_bound(name, pod, claims)


def _check_bound(name: str, pod: Raw, claims: dict[str, Raw]) -> None:
    generated = {s["name"]: s.get("resourceClaimName") for s in pod["status"].get("resourceClaimStatuses") or []}
    for entry in pod["spec"].get("resourceClaims") or []:
        claim_name = entry.get("resourceClaimName") or generated[entry["name"]]
        status = claims[claim_name]["status"]
        assert status.get("allocation"), f"pod {name} is bound with an unallocated claim"
        users = [user["uid"] for user in status.get("reservedFor") or []]
        assert pod["metadata"]["uid"] in users, f"pod {name} is bound with an unreserved claim"
