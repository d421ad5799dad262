"""What a pod needs of a node, in exact integers.

Beside what it requests, a pod takes what its devices take of the node (DRANodeAllocatableResources): its status says
so, in `nodeAllocatableResourceClaimStatuses`.

Rules: init containers run one after the other, each beside the sidecars started before it (KEP-753); a request on the
pod's level replaces the sum of its containers for cpu, memory and hugepages (KEP-2837); overhead comes on top.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from dra_cel.quantity import Quantity

CPU = "cpu"
MEMORY = "memory"
EPHEMERAL_STORAGE = "ephemeral-storage"
PODS = "pods"

SCORED_CPU_DEFAULT = 100
"""Milli-cpu that scoring counts for a container without a request (kube-scheduler's value)."""
SCORED_MEMORY_DEFAULT = 200 * 1024 * 1024
"""Bytes that scoring counts for a container without a request (kube-scheduler's value)."""

LARGEST = 2**55
"""Amounts are cut off here, so that sums over a node's pods stay exact in 64 bits. No machine has that much."""

Amounts = dict[str, int]
"""Resource name to amount: cpu in milli-units, everything else in units."""


@lru_cache(maxsize=4096)
def amount(resource: str, text: str) -> int:
    """Return a quantity in the unit of `resource`, rounded up. Raises QuantityError."""
    return in_units(resource, Quantity.parse(text))


def amounts(resources: Mapping[str, Any] | None) -> Amounts:
    """Return a resource list as integers, none larger than LARGEST. Raises QuantityError."""
    return {name: min(amount(name, str(value)), LARGEST) for name, value in (resources or {}).items()}


Statuses = Sequence[Mapping[str, Any]]
"""Entries of a pod's `status.nodeAllocatableResourceClaimStatuses`."""


def pod_requests(spec: Mapping[str, Any], statuses: Statuses = ()) -> Amounts:
    """Return what the pod asks of its node; zero amounts are left out. Raises QuantityError.

    What is more than LARGEST comes out as LARGEST + 1: it fits nowhere.
    """
    total = _with_pod_level(spec, containers_requests(spec, statuses))
    return {name: min(value, LARGEST + 1) for name, value in total.items()}


def scored_requests(spec: Mapping[str, Any], statuses: Statuses = ()) -> tuple[int, int]:
    """Return (milli-cpu, bytes of memory) as scoring counts them: containers without a request count a default."""
    defaults = {CPU: SCORED_CPU_DEFAULT, MEMORY: SCORED_MEMORY_DEFAULT}
    total = _with_pod_level(spec, containers_requests(spec, statuses, defaults))
    return min(total.get(CPU, 0), LARGEST), min(total.get(MEMORY, 0), LARGEST)


def most(several: Iterable[Amounts]) -> Amounts:
    """Return the most of each resource."""
    total: Amounts = {}
    for one in several:
        _raise_to(total, one)
    return total


def devices_requests(statuses: Statuses) -> Amounts:
    """Return what the pod's devices take of its node. Raises QuantityError."""
    exact: dict[str, Quantity] = {}
    for status in statuses:
        for mapped in status.get("mapping") or ():
            _add_exact(exact, mapped["name"], mapped.get("quantity"), 1)
        for overhead in status.get("overhead") or ():
            _add_exact(exact, overhead["name"], overhead.get("perPod"), 1)
            _add_exact(exact, overhead["name"], overhead.get("perContainer"), len(status.get("containers") or ()))
    return {name: in_units(name, quantity) for name, quantity in exact.items()}


def in_units(resource: str, quantity: Quantity) -> int:
    """Return a quantity in the unit of `resource`, rounded up."""
    return quantity.milli_value() if resource == CPU else quantity.value()


def _add_exact(total: dict[str, Quantity], name: str, text: object, times: int) -> None:
    for _ in range(times if text is not None else 0):
        more = Quantity.parse(str(text))
        total[name] = total[name].add(more) if name in total else more


def containers_requests(spec: Mapping[str, Any], statuses: Statuses = (), defaults: Amounts | None = None) -> Amounts:
    """Return what the pod's containers and devices ask for, whatever the pod's own level says.

    `defaults` is what a container without a request counts. Raises QuantityError.
    """
    total = _containers_requests(spec, defaults or {})
    _add(total, devices_requests(statuses))
    return total


def _containers_requests(spec: Mapping[str, Any], defaults: Amounts) -> Amounts:
    total: Amounts = {}
    for container in spec.get("containers") or ():
        _add(total, _container_requests(container, defaults))
    sidecars: Amounts = {}
    initializing: Amounts = {}
    for container in spec.get("initContainers") or ():
        asked = _container_requests(container, defaults)
        if container.get("restartPolicy") == "Always":
            _add(total, asked)
            _add(sidecars, asked)
            _raise_to(initializing, sidecars)
        else:
            _add(asked, sidecars)
            _raise_to(initializing, asked)
    _raise_to(total, initializing)
    return total


def _container_requests(container: Mapping[str, Any], defaults: Amounts) -> Amounts:
    asked = (container.get("resources") or {}).get("requests") or {}
    return defaults | {name: amount(name, str(value)) for name, value in asked.items()}


def _with_pod_level(spec: Mapping[str, Any], total: Amounts) -> Amounts:
    for name, value in amounts((spec.get("resources") or {}).get("requests")).items():
        if name in {CPU, MEMORY} or name.startswith("hugepages-"):
            total[name] = value
    _add(total, amounts(spec.get("overhead")))
    return {name: value for name, value in total.items() if value}


def _add(total: Amounts, more: Amounts) -> None:
    for name, value in more.items():
        total[name] = total.get(name, 0) + value


def _raise_to(total: Amounts, least: Amounts) -> None:
    for name, value in least.items():
        if value > total.get(name, 0):
            total[name] = value
