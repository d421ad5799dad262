"""The API objects that workloads are made of, as JSON values (resource.k8s.io/v1)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

JSON = dict[str, Any]
DRIVER = "gpu.example.com"
CLASS = "gpu.example.com"
MODELS = ("A100", "H100", "L40S", "T4")
MEMORIES = ("80Gi", "80Gi", "48Gi", "16Gi")
"""Memory of a device of each model."""


def node_name(number: int) -> str:
    """Return the name of a node; names sort as numbers do."""
    return f"node-{number:06}"


def node(number: int) -> JSON:
    """Return a node; its UID comes with it because Kubernetes' types want one."""
    name = node_name(number)
    return {"metadata": {"name": name, "uid": f"uid-{name}", "labels": {"kubernetes.io/hostname": name}}}


def gpu(number: int, *, model: int = 0, **more: Any) -> JSON:
    """Return a device with the attributes that a GPU driver publishes; `more` are further fields of it."""
    attributes = {
        "model": {"string": MODELS[model]},
        "index": {"int": number},
        "numa": {"int": number % 4},
        "pciRoot": {"string": f"pci{number // 5:04x}"},
        "driverVersion": {"version": "570.86.15"},
        "healthy": {"bool": True},
        **more.pop("attributes", {}),
    }
    capacity = {"memory": {"value": MEMORIES[model]}, **more.pop("capacity", {})}
    return {"name": f"gpu-{number}", "attributes": attributes, "capacity": capacity, **more}


def resource_slice(number: int, devices: Sequence[JSON], *, part: int = 0, parts: int = 1, **more: Any) -> JSON:
    """Return one of the `parts` slices of a node's pool."""
    name = node_name(number)
    spec = {
        "driver": DRIVER,
        "nodeName": name,
        "pool": {"name": name, "generation": 1, "resourceSliceCount": parts},
        **({"devices": list(devices)} if devices else {}),
        **more,
    }
    return {"metadata": {"name": f"{name}-{part}", "resourceVersion": "1"}, "spec": spec}


def selectors(*expressions: str) -> list[JSON]:
    """Return CEL selectors."""
    return [{"cel": {"expression": one}} for one in expressions]


def device_class(*expressions: str, name: str = CLASS) -> JSON:
    """Return a DeviceClass; it selects by driver and by the expressions."""
    driver = f'device.driver == "{DRIVER}"'
    return {"metadata": {"name": name}, "spec": {"selectors": selectors(driver, *expressions)}}


def request(*expressions: str, name: str = "gpu", **more: Any) -> JSON:
    """Return a request for devices of the class as the API server stores it; `more` are fields of it."""
    exactly = {"deviceClassName": CLASS, "allocationMode": "ExactCount", **more}
    if expressions:
        exactly["selectors"] = selectors(*expressions)
    if exactly["allocationMode"] == "ExactCount":
        exactly.setdefault("count", 1)
    return {"name": name, "exactly": exactly}


def alternatives(*subrequests: JSON, name: str = "gpu") -> JSON:
    """Return a request with a prioritized list; each subrequest is made by `request`."""
    return {"name": name, "firstAvailable": [{"name": one["name"], **one["exactly"]} for one in subrequests]}


def claim(*requests: JSON, constraints: Iterable[JSON] = ()) -> JSON:
    """Return a ResourceClaim without an identity."""
    devices: JSON = {"requests": list(requests)}
    found = list(constraints)
    if found:
        devices["constraints"] = found
    return {"metadata": {"name": "claim", "namespace": "bench", "uid": "claim"}, "spec": {"devices": devices}}


def match(attribute: str) -> JSON:
    """Return the constraint that all devices have the same value."""
    return {"matchAttribute": f"{DRIVER}/{attribute}"}


def distinct(attribute: str) -> JSON:
    """Return the constraint that no two devices have the same value."""
    return {"distinctAttribute": f"{DRIVER}/{attribute}"}
