"""A cluster in virtual time with our scheduler in it: what tests of the whole do, in few words."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import orjson

from dra_api.references import Resource, find_resource
from dra_api.transport import JSON, MERGE_PATCH, Request, Transport
from dra_embedded.cluster import EmbeddedCluster
from dra_embedded.virtual_time import VirtualClock, VirtualTimeLoop
from dra_scheduler.scheduler import Scheduler
from dra_scheduler.settings import Settings
from support.fake_clock import START

Raw = dict[str, Any]
T = TypeVar("T")
GROUP = "resource.k8s.io/v1"


class Stage:
    """A running cluster. Objects are created and read as v1; `scheduler` is the one that runs now."""

    def __init__(self, cluster: EmbeddedCluster, clock: VirtualClock, settings: Settings, seed: int) -> None:
        self.cluster = cluster
        self.clock = clock
        self.settings = settings
        self.random = random.Random(seed)
        self.transport: Transport = cluster.transport
        self.scheduler: Scheduler | None = None
        self._running: asyncio.Task[None] | None = None
        self._stop = asyncio.Event()

    async def start(self, transport: Transport | None = None) -> None:
        """Start a scheduler, over `transport` if given."""
        self._stop = asyncio.Event()
        source = random.Random(self.random.getrandbits(32))
        self.scheduler = Scheduler(transport or self.transport, self.settings, self.clock, source)
        self._running = asyncio.create_task(self.scheduler.run(self._stop), name="scheduler under test")

    async def stop(self) -> None:
        """Stop it in an orderly way; what it raised is raised here."""
        self._stop.set()
        running, self._running = self._running, None
        if running is not None:
            await running

    async def kill(self) -> None:
        """End it as a crash does: nothing more is written."""
        if self._running is not None:
            self._running.cancel()
            await asyncio.gather(self._running, return_exceptions=True)
            self._running = None

    async def settle(self, seconds: float = 0.0) -> None:
        """Wait `seconds`, and then until scheduler and cluster have nothing left to do."""
        await asyncio.sleep(seconds)
        scheduler = self.scheduler
        assert scheduler is not None
        await self.cluster.settle(lambda: self._failed() or scheduler.idle())
        if self._failed() and self._running is not None:
            self._running.result()

    def _failed(self) -> bool:
        return self._running is not None and self._running.done()

    async def create(self, *objects: Raw) -> None:
        for obj in objects:
            resource, version = _resource(obj)
            path = resource.path(namespace=_namespace(resource, obj), version=version)
            await self.send("POST", path, obj)

    async def delete(self, obj: Raw) -> None:
        resource, version = _resource(obj)
        path = resource.path(namespace=_namespace(resource, obj), name=obj["metadata"]["name"], version=version)
        await self.send("DELETE", path)

    async def patch(self, obj: Raw, change: Raw, subresource: str = "") -> None:
        resource, version = _resource(obj)
        name = obj["metadata"]["name"]
        path = resource.path(namespace=_namespace(resource, obj), name=name, version=version, subresource=subresource)
        await self.send("PATCH", path, change, MERGE_PATCH)

    async def send(self, method: str, path: str, body: Raw | None = None, content_type: str = JSON) -> Raw:
        content = None if body is None else orjson.dumps(body)
        response = await self.transport.send(Request(method, path, {}, content, content_type))
        assert response.status < 300, (method, path, response.status, response.body)
        answer: Raw = orjson.loads(response.body)
        return answer

    async def pod(self, name: str, namespace: str = "default") -> Raw:
        return await self.send("GET", f"/api/v1/namespaces/{namespace}/pods/{name}")

    async def pods(self) -> dict[str, Raw]:
        items = (await self.send("GET", "/api/v1/pods"))["items"]
        return {item["metadata"]["name"]: item for item in items}

    async def claims(self) -> dict[str, Raw]:
        items = (await self.send("GET", f"/apis/{GROUP}/resourceclaims"))["items"]
        return {item["metadata"]["name"]: item for item in items}

    async def nodes_of_pods(self) -> dict[str, str]:
        return {name: pod["spec"].get("nodeName", "") for name, pod in (await self.pods()).items()}

    async def events(self, reason: str) -> list[Raw]:
        items = (await self.send("GET", "/apis/events.k8s.io/v1/events"))["items"]
        return [item for item in items if item["reason"] == reason]

    async def condition(self, name: str) -> tuple[str, str, str]:
        """Status, reason and message of PodScheduled."""
        for condition in (await self.pod(name))["status"].get("conditions", []):
            if condition["type"] == "PodScheduled":
                return condition["status"], condition.get("reason", ""), condition.get("message", "")
        return "", "", ""


def on_stage(
    play: Callable[[Stage], Awaitable[T]], settings: Settings | None = None, *, seed: int = 0, start: bool = True
) -> T:
    """Play on a fresh cluster in virtual time and return what the play returns."""
    loop = VirtualTimeLoop()
    clock = VirtualClock(loop, START)

    async def main() -> T:
        async with EmbeddedCluster(clock, random.Random(seed)) as cluster:
            stage = Stage(cluster, clock, settings or Settings(), seed)
            if start:
                await stage.start()
            result = await play(stage)
            await stage.stop()
            return result

    return loop.run(main())


def node(name: str, **amounts: str) -> Raw:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        "status": {"allocatable": {"cpu": "8", "memory": "16Gi", "pods": "110"} | amounts},
    }


def resource_slice(node_name: str, devices: int, *, generation: int = 1, slices: int = 1, number: int = 0) -> Raw:
    return {
        "apiVersion": GROUP,
        "kind": "ResourceSlice",
        "metadata": {"name": f"slice-{node_name}-{number}"},
        "spec": {
            "driver": "gpu.example.com",
            "nodeName": node_name,
            "pool": {"name": node_name, "generation": generation, "resourceSliceCount": slices},
            "devices": [{"name": f"gpu-{number}-{i}"} for i in range(devices)],
        },
    }


def device_class(name: str = "gpu", selector: str = 'device.driver == "gpu.example.com"') -> Raw:
    spec = {"selectors": [{"cel": {"expression": selector}}]} if selector else {}
    return {"apiVersion": GROUP, "kind": "DeviceClass", "metadata": {"name": name}, "spec": spec}


def _claim_spec(count: int, name: str) -> Raw:
    return {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": name, "count": count}}]}}


def claim(name: str, count: int = 1, *, of: str = "gpu") -> Raw:
    meta = {"name": name, "namespace": "default"}
    return {"apiVersion": GROUP, "kind": "ResourceClaim", "metadata": meta, "spec": _claim_spec(count, of)}


def template(name: str = "gpu", count: int = 1, *, of: str = "gpu") -> Raw:
    meta = {"name": name, "namespace": "default"}
    spec = {"spec": _claim_spec(count, of)}
    return {"apiVersion": GROUP, "kind": "ResourceClaimTemplate", "metadata": meta, "spec": spec}


def pod(name: str, *, template: str = "", claim: str = "", cpu: str = "100m", **spec: Any) -> Raw:
    entries: list[Raw] = []
    if template:
        entries.append({"name": "gpu", "resourceClaimTemplateName": template})
    if claim:
        entries.append({"name": "shared", "resourceClaimName": claim})
    used = [{"name": entry["name"]} for entry in entries]
    resources = {"requests": {"cpu": cpu}, "claims": used}
    container = {"name": "main", "image": "example.com/app:1", "resources": resources}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"schedulerName": "dra-scheduler", "containers": [container], "resourceClaims": entries, **spec},
    }


def _resource(obj: Raw) -> tuple[Resource, str]:
    resource = find_resource(obj["apiVersion"], obj["kind"])
    assert resource is not None
    return resource, obj["apiVersion"].rpartition("/")[2]


def _namespace(resource: Resource, obj: Raw) -> str:
    return str(obj["metadata"].get("namespace", "default")) if resource.namespaced else ""
