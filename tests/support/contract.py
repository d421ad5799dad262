"""Tests that are written once and hold for the embedded API server and for the real one.

    @contract
    async def test_something(server: Server) -> None: ...

becomes one test against the embedded cluster in virtual time, one against the same over HTTPS, and one (marker
`cluster`) against a real control plane.
Where the two differ the embedded one is wrong.
"""

from __future__ import annotations

import asyncio
import itertools
import random
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import pytest

from dra_api.transport import JSON, MERGE_PATCH, Request, Transport
from dra_bench.controlplane.cluster import ControlPlane
from dra_embedded.cluster import EmbeddedCluster
from dra_embedded.http.listener import Place, serving
from dra_embedded.virtual_time import VirtualClock, run_virtual
from dra_scheduler.client.connection import connect
from support.wall_clock import WallClock

Object = dict[str, Any]
DRA = "/apis/resource.k8s.io/v1"

_PATIENCE = {"embedded": 600.0, "https": 30.0, "real": 30.0}
_PAUSE = {"embedded": 0.1, "https": 0.02, "real": 0.05}


@dataclass(frozen=True)
class Answer:
    """Status and decoded body of an answer; `text` is the body as it came, `warning` the header of that name."""

    status: int
    body: Object
    text: bytes
    warning: str = ""

    @property
    def reason(self) -> str:
        return str(self.body.get("reason", ""))

    @property
    def causes(self) -> list[tuple[str, str]]:
        """(reason, field) of each cause."""
        found = (self.body.get("details") or {}).get("causes") or []
        return [(each.get("reason", ""), each.get("field", "")) for each in found]

    def expect(self, status: int) -> Object:
        assert self.status == status, f"expected {status}, got {self.status}: {self.text[:600]!r}"
        return self.body

    def refused(self, status: int, reason: str, *causes: tuple[str, str]) -> Object:
        self.expect(status)
        assert self.reason == reason, self.body
        assert self.body["kind"] == "Status"
        assert self.body["status"] == "Failure"
        assert self.body["code"] == status
        if causes:
            assert sorted(self.causes) == sorted(causes), self.body
        return self.body


class Events:
    """The events of a watch, read one by one."""

    def __init__(self, lines: AsyncIterator[bytes], server: Server) -> None:
        self._lines = lines
        self._server = server

    async def next(self, *, bookmarks: bool = False) -> tuple[str, Object]:
        """Type and object of the next event."""
        while True:
            async with asyncio.timeout(_PATIENCE[self._server.variant]):
                event = orjson.loads(await anext(self._lines))
            if event["type"] != "BOOKMARK" or bookmarks:
                return event["type"], event["object"]

    async def names(self, count: int) -> list[str]:
        """The next events as `TYPE name`."""
        events = [await self.next() for _ in range(count)]
        return [f"{kind} {obj['metadata']['name']}" for kind, obj in events]

    async def nothing_more(self) -> None:
        """Nothing comes in a while, which is short in real time."""
        try:
            async with asyncio.timeout(0.5):
                event = await anext(self._lines)
        except TimeoutError:
            return
        raise AssertionError(f"unexpected event {event[:300]!r}")


class Server:
    """An API server and a fresh namespace in it."""

    def __init__(self, transport: Transport, variant: str, prefix: str) -> None:
        self.transport = transport
        self.variant = variant
        self.prefix = prefix
        self.namespace = prefix
        self._numbers = itertools.count(1)

    def unique(self, stem: str) -> str:
        """A name for an object outside namespaces."""
        return f"{self.prefix}-{stem}{next(self._numbers)}"

    @property
    def pods(self) -> str:
        return f"/api/v1/namespaces/{self.namespace}/pods"

    @property
    def claims(self) -> str:
        return f"{DRA}/namespaces/{self.namespace}/resourceclaims"

    @property
    def templates(self) -> str:
        return f"{DRA}/namespaces/{self.namespace}/resourceclaimtemplates"

    async def call(self, method: str, path: str, body: Any = None, *, content_type: str = JSON, **query: str) -> Answer:
        encoded = body if body is None or isinstance(body, bytes) else orjson.dumps(body)
        response = await self.transport.send(Request(method, path, query, encoded, content_type))
        is_json = response.headers.get("content-type", JSON).startswith(JSON)
        decoded = orjson.loads(response.body) if response.body and is_json else {}
        body = decoded if isinstance(decoded, dict) else {}
        return Answer(response.status, body, response.body, response.headers.get("warning", ""))

    async def get(self, path: str, **query: str) -> Object:
        return (await self.call("GET", path, **query)).expect(200)

    async def create(self, path: str, body: Object) -> Object:
        return (await self.call("POST", path, body)).expect(201)

    async def put(self, path: str, body: Object) -> Object:
        return (await self.call("PUT", path, body)).expect(200)

    async def merge(self, path: str, body: Object) -> Object:
        return (await self.call("PATCH", path, body, content_type=MERGE_PATCH)).expect(200)

    async def delete(self, path: str, options: Object | None = None) -> Object:
        return (await self.call("DELETE", path, options)).expect(200)

    async def version(self) -> str:
        """The newest resourceVersion."""
        return str((await self.get(self.pods))["metadata"]["resourceVersion"])

    @asynccontextmanager
    async def watch(self, path: str, **query: str) -> AsyncIterator[Events]:
        async with self.transport.watch(Request("GET", path, {"watch": "true", **query})) as lines:
            yield Events(lines, self)

    async def eventually(self, probe: Callable[[], Awaitable[Any]], what: str) -> Any:
        """The first true answer of a probe; the only waiting there is for what controllers do."""
        loop = asyncio.get_running_loop()
        end = loop.time() + _PATIENCE[self.variant]
        while True:
            answer = await probe()
            if answer:
                return answer
            if loop.time() > end:
                raise AssertionError(f"never came: {what}; last answer {answer!r}")
            await asyncio.sleep(_PAUSE[self.variant])

    async def wait_collector(self) -> None:
        """Give the garbage collector the time to learn about new objects: a real one has to see them first."""
        await asyncio.sleep(1.0)

    async def gone(self, path: str) -> None:
        """Wait until there is nothing at a path."""

        async def probe() -> bool:
            return (await self.call("GET", path)).status == 404

        await self.eventually(probe, f"the end of {path}")


ContractTest = Callable[[Server], Awaitable[None]]


def contract(test: ContractTest) -> Callable[..., None]:
    """Make one test of an async function for each server."""

    def run(variant: str, request: pytest.FixtureRequest) -> None:
        if variant == "embedded":
            run_virtual(lambda clock: _embedded(test, clock))
        elif variant == "https":
            asyncio.run(_https(test, request.getfixturevalue("tmp_path")))
        else:
            asyncio.run(_real(test, request.getfixturevalue("control_plane")))

    run.__name__ = test.__name__
    run.__doc__ = test.__doc__
    run.__module__ = test.__module__
    variants = ["embedded", "https", pytest.param("real", marks=pytest.mark.cluster)]
    marked: Callable[..., None] = pytest.mark.parametrize("variant", variants)(run)
    return marked


async def _embedded(test: ContractTest, clock: VirtualClock) -> None:
    async with EmbeddedCluster(clock, random.Random(7), kubelet=False) as cluster:
        await _in_namespace(test, Server(cluster.transport, "embedded", "contract"))


async def _https(test: ContractTest, folder: Path) -> None:
    clock, file = WallClock(), folder / "kubeconfig"
    async with (
        EmbeddedCluster(clock, random.Random(7), kubelet=False) as cluster,
        serving(cluster.server, clock, Place(), file),
        await connect(str(file), None, clock) as transport,
    ):
        await _in_namespace(test, Server(transport, "https", "contract"))


async def _real(test: ContractTest, plane: ControlPlane) -> None:
    async with await connect(str(plane.kubeconfig("admin")), None, WallClock()) as transport:
        server = Server(transport, "real", f"contract-{uuid.uuid4().hex[:8]}")
        try:
            await _in_namespace(test, server)
        finally:
            await server.call("DELETE", f"/api/v1/namespaces/{server.namespace}")


async def _in_namespace(test: ContractTest, server: Server) -> None:
    await server.create("/api/v1/namespaces", {"metadata": {"name": server.namespace}})
    await test(server)


def pod(name: str = "pod", *, claims: list[Object] | None = None, **spec: Any) -> Object:
    """A pod that no scheduler knows."""
    container: Object = {"name": "main", "image": "registry.example/app:1"}
    if claims:
        container["resources"] = {"claims": [{"name": each["name"]} for each in claims]}
        spec["resourceClaims"] = claims
    return {"metadata": {"name": name}, "spec": {"schedulerName": "nobody", "containers": [container], **spec}}


def claim(name: str = "claim", *requests: Object) -> Object:
    """A claim of one device, or with the requests given."""
    wanted = list(requests) or [{"name": "gpu", "exactly": {"deviceClassName": "gpu"}}]
    return {"metadata": {"name": name}, "spec": {"devices": {"requests": wanted}}}


def template(name: str = "template") -> Object:
    """A template of a claim of one device."""
    return {"metadata": {"name": name}, "spec": {"spec": claim()["spec"]}}


def allocation(device: str = "gpu-0", request: str = "gpu") -> Object:
    """status.allocation with one device."""
    result = {"request": request, "driver": "gpu.example.com", "pool": "pool", "device": device}
    return {"devices": {"results": [result]}}


def reservation(pod_object: Mapping[str, Any]) -> Object:
    """An entry of reservedFor."""
    return {"resource": "pods", "name": pod_object["metadata"]["name"], "uid": pod_object["metadata"]["uid"]}
