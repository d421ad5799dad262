"""Resource lists of nodes and pods as exact integers: cpu in thousandths, everything else in units, both rounded up.

A pod's request is the rule of KEP-753 (sidecars) and KEP-2837 (pod-level resources): restartable init containers run
beside the containers, other init containers need the maximum of what they and the sidecars started before them need,
the overhead comes on top. While a resize is under way (KEP-1287) the larger of what is wanted, granted and in force
counts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dra_api.decode.fields import Raw, decoded, mapping, optional_mapping, sequence, text, wrong_type
from dra_api.decode.values import check_quantity

CPU = "cpu"
_NANOS = 10**9
_NANOS_PER_MILLI = 10**6

Nanos = dict[str, int]
_Requests = Callable[[Raw, Raw], Nanos]


def resource_list(obj: Mapping[str, Any], field: str) -> dict[str, int]:
    """Return a resource list such as `status.allocatable` in integers (cpu in thousandths).

    `field` is where it stands, for the error. Raises DecodeError.
    """
    return _rounded(_nanos({field: obj}, field))


def pod_requests(pod: object) -> dict[str, int]:
    """Return what a pod needs of its node, in integers (cpu in thousandths). Raises DecodeError."""
    return decoded("Pod", pod, _pod_requests)


def _pod_requests(pod: Raw) -> dict[str, int]:
    spec, status = mapping(pod, "spec"), mapping(pod, "status")
    statuses = {
        text(entry, "name"): entry
        for key in ("initContainerStatuses", "containerStatuses")
        for entry in sequence(status, key)
    }
    total = _aggregate(spec, statuses, _wanted)
    if statuses:
        infeasible = _resize_infeasible(status)
        granted = _aggregate(spec, statuses, _nothing_wanted(_granted) if infeasible else _granted)
        in_force = _aggregate(spec, statuses, _nothing_wanted(_in_force) if infeasible else _in_force)
        total = _maximum(granted, in_force) if infeasible else _maximum(total, _maximum(granted, in_force))
    level = _nanos(mapping(spec, "resources"), "requests")
    total.update({name: value for name, value in level.items() if _pod_level(name)})
    return _rounded(_sum(total, _nanos(spec, "overhead")))


def _pod_level(name: str) -> bool:
    return name in (CPU, "memory") or name.startswith("hugepages-")


def _aggregate(spec: Raw, statuses: Mapping[str, Raw], requests: _Requests) -> Nanos:
    total: Nanos = {}
    for container in sequence(spec, "containers"):
        total = _sum(total, requests(container, statuses.get(text(container, "name"), {})))
    sidecars: Nanos = {}
    peak: Nanos = {}
    for container in sequence(spec, "initContainers"):
        needed = requests(container, statuses.get(text(container, "name"), {}))
        if container.get("restartPolicy") == "Always":
            total, sidecars = _sum(total, needed), _sum(sidecars, needed)
            peak = _maximum(peak, sidecars)
        else:
            peak = _maximum(peak, _sum(sidecars, needed))
    return _maximum(total, peak)


def _wanted(container: Raw, _status: Raw) -> Nanos:
    return _nanos(mapping(container, "resources"), "requests")


def _granted(container: Raw, status: Raw) -> Nanos:
    if optional_mapping(status, "allocatedResources") is not None:
        return _nanos(status, "allocatedResources")
    return _wanted(container, status)


def _in_force(container: Raw, status: Raw) -> Nanos:
    resources = mapping(status, "resources")
    if optional_mapping(resources, "requests") is not None:
        return _nanos(resources, "requests")
    return _granted(container, status)


def _nothing_wanted(requests: _Requests) -> _Requests:
    """While a resize is infeasible, what is wanted does not count where the status has nothing."""
    return lambda _container, status: requests({}, status)


def _resize_infeasible(status: Raw) -> bool:
    return any(
        condition.get("type") == "PodResizePending" and condition.get("reason") == "Infeasible"
        for condition in sequence(status, "conditions")
    )


def _nanos(obj: Raw, key: str) -> Nanos:
    value = obj.get(key)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise wrong_type(key, "an object", value)
    return {name: check_quantity(f"{key}[{name}]", amount).nanos for name, amount in value.items()}


def _sum(left: Nanos, right: Nanos) -> Nanos:
    return {name: left.get(name, 0) + right.get(name, 0) for name in {**left, **right}}


def _maximum(left: Nanos, right: Nanos) -> Nanos:
    return {
        name: max(left.get(name, right.get(name, 0)), right.get(name, left.get(name, 0))) for name in {**left, **right}
    }


def _rounded(amounts: Nanos) -> dict[str, int]:
    return {name: -(-value // (_NANOS_PER_MILLI if name == CPU else _NANOS)) for name, value in amounts.items()}
