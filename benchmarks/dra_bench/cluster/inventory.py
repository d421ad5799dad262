"""What is raced on: nodes, devices, a class, a template, pods. Everything has the form that drivers publish.

With a selector the claim's request asks for model and memory in CEL, and a quarter of the devices does not match.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import orjson

from dra_api.transport import Request, Transport
from dra_bench.cluster.errors import RaceError

JSON = dict[str, Any]

DRIVER = "gpu.example.com"
NAMESPACE = "default"
RESOURCE = "/apis/resource.k8s.io/v1"
PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"
CLAIMS = f"{RESOURCE}/namespaces/{NAMESPACE}/resourceclaims"
SELECTOR = (
    f'device.attributes["{DRIVER}"].model == "A100"'
    f' && device.capacity["{DRIVER}"].memory.compareTo(quantity("40Gi")) >= 0'
)
OTHERS = 4
"""One device of so many is of another model."""
AT_ONCE = 64
"""Requests under way while the cluster is filled."""


@dataclass(frozen=True, slots=True)
class Course:
    """What every scheduler gets: `nodes` nodes with `devices` devices each, `pods` pods with a claim of their own."""

    nodes: int
    devices: int
    pods: int
    selector: bool = False

    def check(self) -> None:
        """Raise RaceError if the devices that match do not suffice."""
        per_node = sum(not self.selector or not is_other(number) for number in range(self.devices))
        if self.pods > self.nodes * per_node:
            raise RaceError(
                f"{self.pods} pods do not fit: {self.nodes} nodes with {per_node} matching devices each;"
                " ask for fewer pods, or more nodes or devices"
            )

    def objects(self) -> Iterator[tuple[str, JSON]]:
        """The path to create at and the object, of all but the pods."""
        for number in range(self.nodes):
            name = f"node-{number}"
            yield "/api/v1/nodes", _node(name)
            yield f"{RESOURCE}/resourceslices", self._slice(name)
        selectors = [{"cel": {"expression": f'device.driver == "{DRIVER}"'}}]
        yield f"{RESOURCE}/deviceclasses", {"metadata": {"name": "gpu"}, "spec": {"selectors": selectors}}
        request: JSON = {"deviceClassName": "gpu"}
        if self.selector:
            request["selectors"] = [{"cel": {"expression": SELECTOR}}]
        spec = {"spec": {"devices": {"requests": [{"name": "gpu", "exactly": request}]}}}
        yield (
            f"{RESOURCE}/namespaces/{NAMESPACE}/resourceclaimtemplates",
            {"metadata": {"name": "gpu"}, "spec": spec},
        )

    def _slice(self, node: str) -> JSON:
        pool = {"name": node, "generation": 1, "resourceSliceCount": 1}
        devices = [_device(number) for number in range(self.devices)]
        return {
            "metadata": {"name": node},
            "spec": {"driver": DRIVER, "nodeName": node, "pool": pool, "devices": devices},
        }


def pod(number: int, scheduler_name: str) -> JSON:
    """A pod of the named scheduler."""
    container = {
        "name": "main",
        "image": "none.invalid/none",
        "resources": {"requests": {"cpu": "10m", "memory": "16Mi"}, "claims": [{"name": "gpu"}]},
    }
    return {
        "metadata": {"name": f"pod-{number}"},
        "spec": {
            "schedulerName": scheduler_name,
            "containers": [container],
            "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "gpu"}],
        },
    }


async def create_all(transport: Transport, objects: Iterable[tuple[str, JSON]]) -> None:
    """Create them, many at a time. Raises RaceError if one is refused."""
    rest = iter(objects)

    async def worker() -> None:
        for path, obj in rest:
            await create(transport, path, obj)

    await asyncio.gather(*(worker() for _ in range(AT_ONCE)))


async def create(transport: Transport, path: str, obj: JSON) -> None:
    """Create one object. Raises RaceError if it is refused."""
    response = await transport.send(Request("POST", path, body=orjson.dumps(obj)))
    if response.status != 201:
        raise RaceError(f"POST {path}: {response.status} {response.body[:300].decode(errors='replace')}")


async def items(transport: Transport, path: str) -> list[JSON]:
    """The objects of a collection. Raises RaceError."""
    response = await transport.send(Request("GET", path))
    if response.status != 200:
        raise RaceError(f"GET {path}: {response.status} {response.body[:300].decode(errors='replace')}")
    found: list[JSON] = orjson.loads(response.body)["items"]
    return found


def is_other(number: int) -> bool:
    """Whether the device with this number is of the other model, in every node."""
    return number % OTHERS == OTHERS - 1


def _device(number: int) -> JSON:
    other = is_other(number)
    return {
        "name": f"gpu-{number}",
        "attributes": {"model": {"string": "A30" if other else "A100"}, "index": {"int": number}},
        "capacity": {"memory": {"value": "24Gi" if other else "80Gi"}},
    }


def _node(name: str) -> JSON:
    allocatable = {"cpu": "64", "memory": "256Gi", "pods": "110"}
    return {
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        "status": {
            "capacity": allocatable,
            "allocatable": allocatable,
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }
