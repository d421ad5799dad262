"""Raw v1 objects as an API server would show them, small and with sensible rest."""

from __future__ import annotations

import itertools
from typing import Any

Raw = dict[str, Any]
_versions = itertools.count(1)


def meta(name: str, namespace: str | None = "default", **more: Any) -> Raw:
    version = str(next(_versions))
    where = {} if namespace is None else {"namespace": namespace}
    return {"name": name, **where, "uid": f"uid-{name}", "resourceVersion": version} | more


def make_node(
    name: str,
    *,
    labels: Raw | None = None,
    taints: list[Raw] | None = None,
    unschedulable: bool = False,
    **amounts: str,
) -> Raw:
    allocatable = {"cpu": "4", "memory": "8Gi", "pods": "110"} | {k.replace("_", "-"): v for k, v in amounts.items()}
    return {
        "metadata": meta(name, None, labels={"kubernetes.io/hostname": name} | (labels or {})),
        "spec": {"taints": taints or [], "unschedulable": unschedulable},
        "status": {"allocatable": allocatable},
    }


def make_pod(
    name: str,
    *,
    namespace: str = "default",
    node: str = "",
    requests: Raw | None = None,
    claims: list[Raw] | None = None,
    statuses: Raw | None = None,
    priority: int = 0,
    scheduler: str = "dra-scheduler",
    phase: str = "Pending",
    **spec: Any,
) -> Raw:
    named = {"resourceClaims": claims} if claims else {}
    at = {"nodeName": node} if node else {}
    known = [{"name": key, "resourceClaimName": value} for key, value in (statuses or {}).items()]
    return {
        "metadata": meta(name, namespace),
        "spec": {
            "schedulerName": scheduler,
            "priority": priority,
            "containers": [{"name": "main", "resources": {"requests": requests or {}}}],
            **named,
            **at,
            **spec,
        },
        "status": {"phase": phase, **({"resourceClaimStatuses": known} if known else {})},
    }


def make_claim(
    name: str,
    *,
    namespace: str = "default",
    device_class: str = "gpu",
    owner: str = "",
    allocation: Raw | None = None,
    reserved: list[str] | None = None,
    count: int = 1,
) -> Raw:
    owners = [{"kind": "Pod", "name": owner, "uid": f"uid-{owner}", "controller": True}] if owner else []
    exactly = {"deviceClassName": device_class, "allocationMode": "ExactCount", "count": count}
    status: Raw = {}
    if allocation is not None:
        status["allocation"] = allocation
    if reserved:
        status["reservedFor"] = [{"resource": "pods", "name": pod, "uid": f"uid-{pod}"} for pod in reserved]
    return {
        "metadata": meta(name, namespace, ownerReferences=owners),
        "spec": {"devices": {"requests": [{"name": "gpu", "exactly": exactly}]}},
        "status": status,
    }


def make_allocation(device: str, *, node: str = "", driver: str = "gpu.example.com", pool: str = "") -> Raw:
    result = {"request": "gpu", "driver": driver, "pool": pool or node or "pool", "device": device}
    allocation: Raw = {"devices": {"results": [result]}}
    if node:
        term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}
        allocation["nodeSelector"] = {"nodeSelectorTerms": [term]}
    return allocation


def make_slice(node: str, devices: int = 1, *, driver: str = "gpu.example.com", name: str = "") -> Raw:
    return {
        "metadata": meta(name or f"slice-{node}", None),
        "spec": {
            "driver": driver,
            "nodeName": node,
            "pool": {"name": node, "generation": 1, "resourceSliceCount": 1},
            "devices": [{"name": f"gpu-{i}"} for i in range(devices)],
        },
    }


def make_class(name: str = "gpu") -> Raw:
    return {"metadata": meta(name, None), "spec": {}}


def newer(raw: Raw, **status: Any) -> Raw:
    """The same object a version later, with other status fields."""
    version = str(next(_versions))
    return raw | {
        "metadata": raw["metadata"] | {"resourceVersion": version},
        "status": raw.get("status", {}) | status,
    }
