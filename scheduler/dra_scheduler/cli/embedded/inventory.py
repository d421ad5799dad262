"""What demonstrations are made of: nodes, classes, slices, claims and pods as v1 objects."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dra_scheduler.cli.loading import Object

NAMESPACE = "default"
DRA = "resource.k8s.io/v1"
PAUSE = "registry.k8s.io/pause:3.10"
ALLOCATABLE = {"cpu": "64", "memory": "256Gi", "ephemeral-storage": "1Ti", "pods": "250"}


def node(name: str) -> Object:
    """A node that is ready."""
    status = {"allocatable": dict(ALLOCATABLE), "conditions": [{"type": "Ready", "status": "True"}]}
    metadata = {"name": name, "labels": {"kubernetes.io/hostname": name}}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "status": status}


def device_class(name: str, driver: str) -> Object:
    """A class of all devices of a driver."""
    selector = {"cel": {"expression": f'device.driver == "{driver}"'}}
    return {"apiVersion": DRA, "kind": "DeviceClass", "metadata": {"name": name}, "spec": {"selectors": [selector]}}


def slices(node_name: str, driver: str, *parts: Object) -> list[Object]:
    """A node's pool, complete in as many slices as there are parts (`devices` or `sharedCounters`)."""
    pool = {"name": node_name, "generation": 1, "resourceSliceCount": len(parts)}
    names = [f"{node_name}-{driver}" + (f"-{number}" if number else "") for number in range(len(parts))]
    return [
        {
            "apiVersion": DRA,
            "kind": "ResourceSlice",
            "metadata": {"name": name},
            "spec": {"driver": driver, "nodeName": node_name, "pool": pool, **part},
        }
        for name, part in zip(names, parts, strict=True)
    ]


def attributes(**values: str | int) -> Object:
    """A device's attributes, numbers as numbers."""
    return {name: {"int" if isinstance(value, int) else "string": value} for name, value in values.items()}


def request(name: str, device_class_name: str, *expressions: str, count: int = 1) -> Object:
    """A request for devices of a class that all the expressions hold for."""
    exactly: Object = {"deviceClassName": device_class_name}
    if expressions:
        exactly["selectors"] = [{"cel": {"expression": text}} for text in expressions]
    if count != 1:
        exactly["count"] = count
    return {"name": name, "exactly": exactly}


def template(name: str, requests: Sequence[Object], constraints: Sequence[Object] = ()) -> Object:
    """A ResourceClaimTemplate."""
    devices: Object = {"requests": list(requests)}
    if constraints:
        devices["constraints"] = list(constraints)
    return {
        "apiVersion": DRA,
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {"spec": {"devices": devices}},
    }


def pod(name: str, templates: Iterable[str]) -> Object:
    """A pod with one container for each template that its claims are made from, or one without claims."""
    claims = [(f"claim-{number}", wanted) for number, wanted in enumerate(templates)]
    containers = [
        {"name": f"main-{number}", "image": PAUSE, "resources": {"claims": [{"name": claim}]}}
        for number, (claim, _) in enumerate(claims)
    ]
    spec: Object = {
        "schedulerName": "dra-scheduler",
        "containers": containers or [{"name": "main", "image": PAUSE}],
    }
    if claims:
        spec["resourceClaims"] = [{"name": claim, "resourceClaimTemplateName": wanted} for claim, wanted in claims]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": NAMESPACE}, "spec": spec}
