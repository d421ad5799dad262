"""The cluster at rest: its objects, and who holds which device."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from dra_bench.simulation.objects import RESOURCE
from dra_embedded.clients.api import Api

JSON = dict[str, Any]
DeviceKey = tuple[str, str, str]

_PATHS = {
    "nodes": "/api/v1/nodes",
    "pods": "/api/v1/pods",
    "claims": "/apis/resource.k8s.io/v1/resourceclaims",
    "slices": "/apis/resource.k8s.io/v1/resourceslices",
    "classes": "/apis/resource.k8s.io/v1/deviceclasses",
    "groups": "/apis/scheduling.k8s.io/v1beta1/podgroups",
    "rules": "/apis/resource.k8s.io/v1/devicetaintrules",
}


@dataclass(frozen=True, slots=True)
class Hold:
    """A result of a claim's allocation."""

    claim: str
    result: JSON

    @property
    def key(self) -> DeviceKey:
        """The device."""
        return self.result["driver"], self.result["pool"], self.result["device"]

    @property
    def shared(self) -> bool:
        """Whether others may hold the device too, each a part of it."""
        return "shareID" in self.result

    @property
    def watching(self) -> bool:
        """Whether it is admin access, which takes nothing of the device."""
        return bool(self.result.get("adminAccess"))


@dataclass(frozen=True, slots=True)
class State:
    """Objects by name."""

    nodes: Mapping[str, JSON]
    pods: Mapping[str, JSON]
    claims: Mapping[str, JSON]
    slices: Mapping[str, JSON]
    classes: Mapping[str, JSON]
    groups: Mapping[str, JSON]
    rules: Mapping[str, JSON] = field(default_factory=dict)

    def members(self, group: str) -> list[JSON]:
        """The pods of a PodGroup."""
        return [pod for pod in self.pods.values() if group_of(pod) == group]

    def holds(self) -> Iterator[Hold]:
        """Everything that is allocated."""
        for name, claim in self.claims.items():
            for result in allocation(claim):
                yield Hold(name, result)

    def claims_of(self, pod: JSON) -> list[str | None]:
        """The names of a pod's claims, once it has a node that for its extended resources too; None: not created."""
        status = pod.get("status", {})
        made = {s["name"]: s.get("resourceClaimName") for s in status.get("resourceClaimStatuses") or ()}
        entries = pod["spec"].get("resourceClaims") or ()
        names = [entry.get("resourceClaimName") or made.get(entry["name"]) for entry in entries]
        if extended(pod) and pod["spec"].get("nodeName"):
            names.append((status.get("extendedResourceClaimStatus") or {}).get("resourceClaimName"))
        return names

    def published(self) -> dict[DeviceKey, JSON]:
        """The devices of each pool's newest generation."""
        newest: dict[tuple[str, str], int] = {}
        for one in self.slices.values():
            pool = _pool(one)
            newest[pool] = max(newest.get(pool, 0), one["spec"]["pool"]["generation"])
        return {
            (*_pool(one), device["name"]): device
            for one in self.slices.values()
            if one["spec"]["pool"]["generation"] == newest[_pool(one)]
            for device in one["spec"].get("devices") or ()
        }


def ended(pod: JSON) -> bool:
    """Whether a pod has ended."""
    return pod.get("status", {}).get("phase") in ("Succeeded", "Failed")


def extended(pod: JSON) -> int:
    """How many gpus a pod asks for as an extended resource."""
    resources = (each.get("resources") or {} for each in pod["spec"].get("containers") or ())
    return sum(int((one.get("requests") or {}).get(RESOURCE, 0)) for one in resources)


def allocation(claim: JSON) -> list[JSON]:
    """The results in a claim's status; none: it is not allocated."""
    found = (claim.get("status") or {}).get("allocation") or {}
    results: list[JSON] = found.get("devices", {}).get("results", [])
    return results


def reserved_for(claim: JSON) -> list[str]:
    """The uids of its users."""
    return [entry["uid"] for entry in (claim.get("status") or {}).get("reservedFor") or ()]


def reserved_groups(claim: JSON) -> list[str]:
    """The names of the PodGroups that it is reserved for."""
    entries = (claim.get("status") or {}).get("reservedFor") or ()
    return [entry["name"] for entry in entries if entry.get("resource") == "podgroups"]


def group_of(pod: JSON) -> str:
    """The PodGroup of a pod; empty: none."""
    return str((pod["spec"].get("schedulingGroup") or {}).get("podGroupName") or "")


async def read_state(api: Api) -> State:
    """Read all of it."""
    found = {}
    for kind, path in _PATHS.items():
        items = (await api.request("GET", path))["items"]
        found[kind] = {item["metadata"]["name"]: item for item in items}
    return State(**found)


def _pool(one: JSON) -> tuple[str, str]:
    return one["spec"]["driver"], one["spec"]["pool"]["name"]
