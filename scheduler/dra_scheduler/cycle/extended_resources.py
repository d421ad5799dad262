"""Extended resources that DeviceClasses stand for (KEP-5004): which nodes serve them by devices, and by which requests.

A pod asks for such a resource as for any other. On a node that has it itself (`allocatable` above zero: a device plugin
serves it) it is served as ever, also when all of it is taken. On the others it comes from devices: all that the
containers ask for goes into one special ResourceClaim, which differs from node to node by what a node has itself.

    container-I-request-J   I counts init containers first, J is the resource's place among the sorted names of all that
                            the container requests
    init containers         run one after the other: one request, as large as the largest, serves them all, and what
                            sidecars and containers after an init container have it uses before they start
    sidecars, containers    have their own requests
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dra_allocator.claim import DeviceRequest, ResourceClaim
from dra_cel.quantity import Quantity
from dra_scheduler.cache.claim_store import EXPECTED_UID
from dra_scheduler.cache.cluster import Cluster
from dra_scheduler.cache.label_columns import BoolArray, IntArray
from dra_scheduler.cache.pod_info import PodInfo

SPECIAL_NAME = "<extended-resources>"
"""What the special claim is called before it exists; no claim can have this name."""
GATE = "DRAExtendedResource"


@dataclass(frozen=True, slots=True)
class RequestMapping:
    """Which request of the special claim serves a container's extended resource (pod status)."""

    container: str
    resource: str
    request: str


@dataclass(frozen=True, slots=True)
class SpecialClaim:
    """The claim for a pod's extended resources, as it would be on some nodes. `spec.uid` is made up."""

    spec: ResourceClaim
    mappings: tuple[RequestMapping, ...]


@dataclass(frozen=True, slots=True)
class Variant:
    """Nodes (rows, best first; `ranks`: their places among all nodes left) on which the pod needs the same claims.

    `special` None: these nodes serve all extended resources of the pod themselves.
    """

    rows: IntArray
    ranks: IntArray
    special: SpecialClaim | None

    def only(self, mask: BoolArray) -> Variant:
        """Return the variant with those of its nodes for which the mask (one entry per rank) is set."""
        kept = mask[self.ranks]
        return Variant(self.rows[kept], self.ranks[kept], self.special)


def backed_resources(pod: PodInfo, cluster: Cluster) -> dict[str, str]:
    """Return the extended resources that the pod asks for and that DeviceClasses stand for, with their classes."""
    if not cluster.gates.enabled(GATE):
        return {}
    classes = cluster.classes
    return {name: found for name in pod.requests if "/" in name and (found := classes.of_resource(name)) is not None}


def only_devices_serve(pod: PodInfo, cluster: Cluster) -> bool:
    """Whether no node has any of the pod's extended resources itself: its special claim is the same everywhere."""
    return not any(cluster.nodes.allocatable(name).any() for name in backed_resources(pod, cluster))


def special_uid(pod: PodInfo) -> str:
    """Return what stands for the uid of the pod's special claim until the API server has given it one."""
    return f"{EXPECTED_UID}{pod.uid}"


def variants(pod: PodInfo, cluster: Cluster, rows: IntArray) -> tuple[Variant, ...]:
    """Part the rows by which of the pod's extended resources devices have to serve there."""
    backed = backed_resources(pod, cluster)
    ranks = np.arange(len(rows))
    if not backed:
        return (Variant(rows, ranks, None),)
    names = sorted(backed)
    code = np.zeros(len(rows), np.int64)
    for bit, name in enumerate(names):
        code |= (cluster.nodes.allocatable(name)[rows] == 0).astype(np.int64) << bit
    found = []
    for number in np.unique(code).tolist():
        these = code == number
        served = {name: backed[name] for bit, name in enumerate(names) if number >> bit & 1}
        found.append(Variant(rows[these], ranks[these], special_claim(pod, served) if served else None))
    return tuple(found)


def special_claim(pod: PodInfo, served: Mapping[str, str]) -> SpecialClaim:
    """Return the claim for these resources of the pod (with their classes)."""
    spec = pod.raw["spec"]
    before, containers = spec.get("initContainers") or [], spec.get("containers") or []
    requests: list[DeviceRequest] = []
    mappings: list[RequestMapping] = []
    for resource in sorted(served):
        more, mapped = _Sharing(resource, served[resource], [*before, *containers], len(before)).requests()
        requests += more
        mappings += mapped
    requests.sort(key=lambda request: request.name)
    claim = ResourceClaim(special_uid(pod), pod.namespace, SPECIAL_NAME, tuple(requests))
    return SpecialClaim(claim, tuple(mappings))


class _Sharing:
    """One resource over all containers of a pod."""

    def __init__(self, resource: str, device_class: str, containers: Sequence[Mapping[str, Any]], inits: int) -> None:
        self._resource = resource
        self._class = device_class
        self._containers = containers
        self._inits = inits

    def requests(self) -> tuple[list[DeviceRequest], list[RequestMapping]]:
        lasting: dict[int, DeviceRequest] = {}
        mappings: list[RequestMapping] = []
        passing = []
        for index, container in enumerate(self._containers):
            if index < self._inits and container.get("restartPolicy") != "Always":
                passing.append(index)
                continue
            request, mapped = self._one(index, [])
            mappings += mapped
            if request is not None:
                lasting[index] = request
        largest: DeviceRequest | None = None
        names: set[str] = set()
        passed: list[RequestMapping] = []
        for index in passing:
            request, mapped = self._one(index, [lasting[later] for later in sorted(lasting) if later >= index])
            passed += mapped
            if request is not None:
                names.add(request.name)
                if largest is None or largest.count < request.count:
                    largest = request
        if largest is not None:
            passed = [
                RequestMapping(m.container, m.resource, largest.name) if m.request in names else m for m in passed
            ]
        return [*([largest] if largest is not None else ()), *lasting.values()], mappings + passed

    def _one(self, index: int, usable: Sequence[DeviceRequest]) -> tuple[DeviceRequest | None, list[RequestMapping]]:
        """Return the container's own request, if those that it can use do not suffice, and what it uses."""
        container = self._containers[index]
        asked = (container.get("resources") or {}).get("requests") or {}
        count = Quantity.parse(str(asked[self._resource])).as_int64() if self._resource in asked else None
        if not count:
            return None, []
        mappings = []
        have = 0
        for request in usable:
            have += request.count
            mappings.append(self._mapping(container, request.name))
            if have >= count:
                return None, mappings
        name = f"container-{index}-request-{sorted(asked).index(self._resource)}"
        mappings.append(self._mapping(container, name))
        return DeviceRequest(name, self._class, count=count - have), mappings

    def _mapping(self, container: Mapping[str, Any], request: str) -> RequestMapping:
        return RequestMapping(container["name"], self._resource, request)
