"""A writer that decides nothing: what the API server can take, and so what no scheduler can exceed.

`python -m dra_bench.cluster.ceiling --kubeconfig F --port P` watches pods and claims and sends for each pod what a
scheduler has to send (finalizer, claim status, binding, event), with the next device in a row, 64 pods at a time.
"""

from __future__ import annotations

import argparse
import asyncio
import signal
from collections.abc import Iterator
from typing import Any

import orjson

from dra_api.transport import JSON as JSON_TYPE
from dra_api.transport import MERGE_PATCH, Request, Transport
from dra_bench.cluster.errors import RaceError
from dra_bench.cluster.inventory import CLAIMS, DRIVER, NAMESPACE, PODS, is_other
from dra_scheduler.client.connection import connect
from dra_scheduler.system_clock import SystemClock

JSON = dict[str, Any]

SCHEDULER_NAME = "ceiling"
AT_ONCE = 64
FINALIZER = "resource.kubernetes.io/delete-protection"
EVENTS = f"/apis/events.k8s.io/v1/namespaces/{NAMESPACE}/events"


class Writer:
    """Pairs pods with their claims and with devices, and writes."""

    def __init__(self, transport: Transport, devices: Iterator[tuple[str, str]]) -> None:
        self._transport = transport
        self._devices = devices
        self._claims: dict[str, JSON] = {}
        self._waiting: dict[str, JSON] = {}
        self._taken: set[str] = set()
        self._jobs: asyncio.Queue[tuple[JSON, JSON]] = asyncio.Queue()

    async def run(self) -> None:
        """Write until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._follow(CLAIMS, self._claim))
            group.create_task(self._follow(PODS, self._pod))
            for _ in range(AT_ONCE):
                group.create_task(self._work())

    def _claim(self, claim: JSON) -> None:
        self._claims[claim["metadata"]["name"]] = claim
        self._pair(claim["metadata"]["name"])

    def _pod(self, pod: JSON) -> None:
        uid = pod["metadata"]["uid"]
        if pod["spec"].get("nodeName") or pod["spec"]["schedulerName"] != SCHEDULER_NAME or uid in self._taken:
            return
        for status in pod.get("status", {}).get("resourceClaimStatuses") or ():
            self._waiting[status["resourceClaimName"]] = pod
            self._pair(status["resourceClaimName"])

    def _pair(self, name: str) -> None:
        if name in self._claims and name in self._waiting:
            pod = self._waiting.pop(name)
            self._taken.add(pod["metadata"]["uid"])
            self._jobs.put_nowait((pod, self._claims[name]))

    async def _work(self) -> None:
        while True:
            pod, claim = await self._jobs.get()
            node, device = next(self._devices)
            claim = await self._finalizer(claim)
            await self._status(pod, claim, node, device)
            await self._bind(pod, node)
            await self._event(pod, node)

    async def _finalizer(self, claim: JSON) -> JSON:
        meta = claim["metadata"]
        finalizers = [*meta.get("finalizers", []), FINALIZER]
        body = {"metadata": {"resourceVersion": meta["resourceVersion"], "finalizers": finalizers}}
        return await self._send("PATCH", f"{CLAIMS}/{meta['name']}", body, MERGE_PATCH)

    async def _status(self, pod: JSON, claim: JSON, node: str, device: str) -> None:
        meta = claim["metadata"]
        term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}
        allocation = {
            "devices": {"results": [{"request": "gpu", "driver": DRIVER, "pool": node, "device": device}]},
            "nodeSelector": {"nodeSelectorTerms": [term]},
            "allocationTimestamp": SystemClock().now().strftime("%Y-%m-%dT%H:%M:%SZ"),
        }
        user = {"resource": "pods", "name": pod["metadata"]["name"], "uid": pod["metadata"]["uid"]}
        body = {
            "metadata": {"resourceVersion": meta["resourceVersion"]},
            "status": {"allocation": allocation, "reservedFor": [user]},
        }
        await self._send("PATCH", f"{CLAIMS}/{meta['name']}/status", body, MERGE_PATCH)

    async def _bind(self, pod: JSON, node: str) -> None:
        meta = pod["metadata"]
        target = {"apiVersion": "v1", "kind": "Node", "name": node}
        body = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {"name": meta["name"], "namespace": NAMESPACE, "uid": meta["uid"]},
            "target": target,
        }
        await self._send("POST", f"{PODS}/{meta['name']}/binding", body)

    async def _event(self, pod: JSON, node: str) -> None:
        meta = pod["metadata"]
        regarding = {
            "apiVersion": "v1",
            "kind": "Pod",
            "namespace": NAMESPACE,
            "name": meta["name"],
            "uid": meta["uid"],
        }
        body = {
            "metadata": {"name": f"{meta['name']}.{meta['uid'][:13]}", "namespace": NAMESPACE},
            "eventTime": SystemClock().now().strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
            "reportingController": SCHEDULER_NAME,
            "reportingInstance": SCHEDULER_NAME,
            "action": "Binding",
            "reason": "Scheduled",
            "type": "Normal",
            "regarding": regarding,
            "note": f"Successfully assigned {NAMESPACE}/{meta['name']} to {node}",
        }
        await self._send("POST", EVENTS, body)

    async def _send(self, method: str, path: str, body: JSON, content_type: str = JSON_TYPE) -> JSON:
        response = await self._transport.send(Request(method, path, {}, orjson.dumps(body), content_type))
        if response.status >= 300:
            raise RaceError(f"{method} {path}: {response.status} {response.body[:300].decode(errors='replace')}")
        answer: JSON = orjson.loads(response.body)
        return answer

    async def _follow(self, path: str, see: Any) -> None:
        """List, then watch; a watch that is cut goes on where it was. Deletions do not matter here."""
        answer = await self._transport.send(Request("GET", path))
        found = orjson.loads(answer.body)
        for item in found["items"]:
            see(item)
        version = found["metadata"]["resourceVersion"]
        while True:
            query = {"watch": "true", "resourceVersion": version, "allowWatchBookmarks": "true"}
            async with self._transport.watch(Request("GET", path, query)) as lines:
                async for line in lines:
                    event = orjson.loads(line)
                    if event["type"] == "ERROR":
                        raise RaceError(f"watch of {path}: {event['object'].get('message')}")
                    version = event["object"]["metadata"]["resourceVersion"]
                    if event["type"] in ("ADDED", "MODIFIED"):
                        see(event["object"])


def devices(nodes: int, per_node: int, *, selector: bool) -> Iterator[tuple[str, str]]:
    """Node and device, one after another, of those that the claims may have."""
    for number in range(per_node):
        if not (selector and is_other(number)):
            yield from ((f"node-{node}", f"gpu-{number}") for node in range(nodes))


async def _serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok")
    await writer.drain()
    writer.close()


async def _main(arguments: argparse.Namespace) -> None:
    loop = asyncio.get_running_loop()
    async with await connect(arguments.kubeconfig, None, SystemClock()) as transport:
        found = devices(arguments.nodes, arguments.devices, selector=arguments.selector)
        writing = asyncio.create_task(Writer(transport, found).run())
        loop.add_signal_handler(signal.SIGTERM, writing.cancel)
        server = await asyncio.start_server(_serve, "127.0.0.1", arguments.port)
        async with server:
            try:
                await writing
            except asyncio.CancelledError:
                return


def main() -> None:
    """Run it as a process."""
    parser = argparse.ArgumentParser(prog="ceiling", description=__doc__)
    parser.add_argument("--kubeconfig", required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--nodes", type=int, required=True)
    parser.add_argument("--devices", type=int, required=True)
    parser.add_argument("--selector", action="store_true")
    asyncio.run(_main(parser.parse_args()))


if __name__ == "__main__":
    main()
