"""Pods that are being resized where they are (KEP-1287): the node has to hold what they have until they have less.

A pod counts with the most of what it asks for, what its kubelet has granted (`allocatedResources` of its containers'
status) and what its containers have (`resources`); with the last two only if what it asks for is found infeasible. For
requests on the pod's level both are in the pod's own status.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

Raw = Mapping[str, Any]


def counted_specs(spec: Raw, status: Raw) -> list[Raw]:
    """Return the specs of which a pod takes the most; `spec` alone unless it is being resized."""
    told = {one["name"]: one for key in _STATUSES for one in status.get(key) or ()}
    levels = _levels(spec, status)
    if levels is None and not any(_differs(container, told.get(container["name"])) for container in _containers(spec)):
        return [spec]
    infeasible = any(
        one.get("type") == "PodResizePending" and one.get("reason") == "Infeasible"
        for one in status.get("conditions") or ()
    )
    granted, actual = levels or ({}, {})
    others: list[Raw] = [{**_with(spec, told, _granted), **granted}, {**_with(spec, told, _actual), **actual}]
    return others if infeasible else [spec, *others]


_STATUSES = ("containerStatuses", "initContainerStatuses")


def _levels(spec: Raw, status: Raw) -> tuple[Raw, Raw] | None:
    """Return what the pod's level was granted and what it has, each as a part of a spec; None: nothing is said."""
    has = status.get("resources")
    if has is None or not (spec.get("resources") or {}).get("requests"):
        return None
    granted: Raw | None = status.get("allocatedResources")
    actual: Raw | None = has.get("requests")
    return (
        # What a kubelet grants has the overhead in it.
        {} if granted is None else {"resources": {"requests": granted}, "overhead": {}},
        {} if actual is None else {"resources": {"requests": actual}},
    )


def _containers(spec: Raw) -> Iterable[Raw]:
    for key in ("containers", "initContainers"):
        yield from spec.get(key) or ()


def _differs(container: Raw, told: Raw | None) -> bool:
    if told is None:
        return False
    return any(has is not None and has != _asked(container) for has in (_granted(told), _actual(told)))


def _asked(container: Raw) -> Raw:
    return (container.get("resources") or {}).get("requests") or {}


def _granted(told: Raw) -> Raw | None:
    return told.get("allocatedResources")


def _actual(told: Raw) -> Raw | None:
    actual: Raw | None = (told.get("resources") or {}).get("requests")
    return _granted(told) if actual is None else actual


def _with(spec: Raw, told: Mapping[str, Raw], has: Callable[[Raw], Raw | None]) -> Raw:
    """Return the spec with what the containers' statuses say in the place of their requests."""

    def changed(container: Raw) -> Raw:
        found = has(told.get(container["name"], {}))
        return container if found is None else {**container, "resources": {"requests": found}}

    parts = {key: [changed(one) for one in spec[key]] for key in ("containers", "initContainers") if spec.get(key)}
    return {**spec, **parts}
