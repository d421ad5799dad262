"""Whether requests and limits on the pod's level (KEP-2837) cover its containers and what its devices take.

The API server checks them against the containers only: what devices take is known when they are allocated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dra_scheduler.cache.requests import CPU, MEMORY, Amounts, amounts, containers_requests, devices_requests

_HUGEPAGES = "hugepages-"


def pod_level_problem(spec: Mapping[str, Any], statuses: Sequence[Mapping[str, Any]]) -> str:
    """Return what the pod's level does not cover, or nothing. `statuses` are of its devices."""
    level = spec.get("resources") or {}
    if not statuses or not level:
        return ""
    asked = containers_requests(spec, statuses)
    for name, value in amounts(level.get("requests")).items():
        if _on_pod_level(name) and asked.get(name, 0) > value:
            return (
                f"pod level request for {name} is insufficient to cover the aggregated container and "
                f"node-allocatable DRA requests"
            )
    limits = amounts(level.get("limits"))
    return _hugepages_problem(spec, statuses, limits) or _container_problem(spec, statuses, limits)


def _on_pod_level(name: str) -> bool:
    return name in {CPU, MEMORY} or name.startswith(_HUGEPAGES)


def _hugepages_problem(spec: Mapping[str, Any], statuses: Sequence[Mapping[str, Any]], limits: Amounts) -> str:
    """Hugepages cannot be overcommitted: all limits together count."""
    asked = containers_requests(_with_limits(spec), statuses)
    for name, value in asked.items():
        if name.startswith(_HUGEPAGES) and name in limits and value > limits[name]:
            return (
                f"pod level limit for {name} is insufficient to cover the aggregated container and "
                f"node-allocatable DRA limits"
            )
    return ""


def _container_problem(spec: Mapping[str, Any], statuses: Sequence[Mapping[str, Any]], limits: Amounts) -> str:
    """Of everything else, no container may have a higher limit than its pod."""
    for container in spec.get("containers") or ():
        taken = _taken_by(container["name"], statuses)
        for name, value in amounts((container.get("resources") or {}).get("limits")).items():
            if not name.startswith(_HUGEPAGES) and name in limits and value + taken.get(name, 0) > limits[name]:
                return (
                    f"pod level limit for {name} is insufficient to cover the limit and DRA overhead for container "
                    f"{container['name']}"
                )
    return ""


def _taken_by(container: str, statuses: Sequence[Mapping[str, Any]]) -> Amounts:
    """Return what the devices of a container take: of overhead for each container, its own share."""
    own = [{**s, "containers": [container]} for s in statuses if container in (s.get("containers") or ())]
    return devices_requests(own)


def _with_limits(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return the spec with each container's limits in the place of its requests."""

    def swapped(container: Mapping[str, Any]) -> dict[str, Any]:
        return {**container, "resources": {"requests": (container.get("resources") or {}).get("limits") or {}}}

    return {key: [swapped(each) for each in spec.get(key) or ()] for key in ("initContainers", "containers")}
