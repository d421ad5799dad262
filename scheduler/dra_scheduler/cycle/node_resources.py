"""What a pod's devices take of their node's cpu, memory and hugepages (Kubernetes 1.37, DRANodeAllocatableResources).

Asked after devices were found on a node: containers' requests and what the devices take must fit together. What they
take goes into the pod's status before it is bound, and counts on the node from then on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dra_allocator.device import Device, NodeResource
from dra_allocator.outcome import AllocationResult, DeviceResult
from dra_allocator.table import Table
from dra_cel.quantity import NANO, Quantity
from dra_scheduler.cache.claim_store import Claim
from dra_scheduler.errors import SchedulerError

GATE = "DRANodeAllocatableResources"
Statuses = tuple[Mapping[str, Any], ...]


class NodeResourcesError(SchedulerError):
    """What a claim's devices take cannot be told: a device is gone, or a capacity that it refers to is missing."""


@dataclass(frozen=True, slots=True)
class Used:
    """A claim of the pod (`entries` are its names in `spec.resourceClaims`) with what it is allocated."""

    namespace: str
    name: str
    entries: frozenset[str]
    result: AllocationResult


def is_mapped(table: Table, result: AllocationResult) -> bool:
    """Whether an allocation has a device that stands for resources of the node, so that pods cannot share it."""
    return any(resource.mapped for device in _devices(table, result) for resource in device.node_resources.values())


def takes_any(table: Table, result: AllocationResult) -> bool:
    """Whether a device of an allocation takes anything of its node."""
    return any(device.node_resources for device in _devices(table, result))


def cannot_be_shared(claim: Claim, pod_uid: str, table: Table, is_ours: Callable[[Claim], bool]) -> str:
    """Return why a pod cannot use an allocated claim beside others, or nothing.

    `is_ours` tells whether the claim is reserved for the pod, or for its group.
    """
    result = claim.effective
    if result is None or not is_mapped(table, result):
        return ""
    if (claim.reserved_for and not is_ours(claim)) or claim.sharers - {pod_uid}:
        return f"node allocatable resource claim {claim.name} has a mapped device and cannot be shared across pods"
    return ""


def statuses(spec: Mapping[str, Any], claims: Iterable[Used], table: Table) -> Statuses:
    """Return the entries of `status.nodeAllocatableResourceClaimStatuses` for a pod, by claim name.

    Raises NodeResourcesError.
    """
    found = []
    for claim in claims:
        if takes_any(table, claim.result):
            entry = _status(spec, claim, table)
            if entry is not None:
                found.append(entry)
    return tuple(sorted(found, key=lambda entry: str(entry["resourceClaimName"])))


def _devices(table: Table, result: AllocationResult) -> Iterator[Device]:
    for entry in result.devices:
        device = table.device(entry.device)
        if device is not None:
            yield device


def _status(spec: Mapping[str, Any], claim: Used, table: Table) -> Mapping[str, Any] | None:
    mapped: dict[str, Quantity] = {}
    per_pod: dict[str, Quantity] = {}
    per_container: dict[str, Quantity] = {}
    for entry in claim.result.devices:
        device = table.device(entry.device)
        if device is None:
            driver, pool, name = entry.device
            raise NodeResourcesError(
                f"claim {claim.namespace}/{claim.name}, device {name}, driver {driver}: device {name} not found in "
                f"pool {pool} for driver {driver}"
            )
        for resource, taken in device.node_resources.items():
            _add(mapped, resource, _mapped(claim, resource, taken, entry))
            _add(per_pod, resource, taken.per_pod)
            _add(per_container, resource, taken.per_container)
    if not mapped and not per_pod and not per_container:
        return None
    overhead = [
        {"name": name}
        | ({"perPod": str(per_pod[name])} if name in per_pod else {})
        | ({"perContainer": str(per_container[name])} if name in per_container else {})
        for name in sorted(per_pod.keys() | per_container.keys())
    ]
    parts = {
        "containers": _containers(spec, claim.entries),
        "mapping": [{"name": name, "quantity": str(mapped[name])} for name in sorted(mapped)],
        "overhead": overhead,
    }
    return {"resourceClaimName": claim.name} | {key: value for key, value in parts.items() if value}


def _mapped(claim: Used, resource: str, taken: NodeResource, entry: DeviceResult) -> Quantity | None:
    if not taken.mapped:
        return None
    if not taken.capacity_key:
        return taken.per_device
    if not entry.consumed_capacity:
        raise NodeResourcesError(
            f"claim {claim.namespace}/{claim.name}, device {entry.device.device}: ConsumedCapacity is nil, but "
            f"Capacity key '{taken.capacity_key}' is set in NodeAllocatableResources for resource {resource}"
        )
    consumed = entry.consumed_capacity.get(taken.capacity_key)
    if consumed is None or taken.capacity_multiplier is None:
        return consumed
    product = -(-consumed.nanos * taken.capacity_multiplier.nanos // NANO)
    return Quantity(product, consumed.format, consumed.scale, consumed.compact)


def _add(total: dict[str, Quantity], name: str, more: Quantity | None) -> None:
    if more is not None:
        total[name] = total[name].add(more) if name in total else more


def _containers(spec: Mapping[str, Any], entries: frozenset[str]) -> Sequence[str]:
    """Return the containers that reference the claim, init containers first."""
    return [
        container["name"]
        for container in [*(spec.get("initContainers") or ()), *(spec.get("containers") or ())]
        for used in (container.get("resources") or {}).get("claims") or ()
        if used.get("name") in entries
    ]
