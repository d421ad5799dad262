"""A whole cluster in virtual time: manifests in, the pods and claims that come of them out.

The run ends when the scheduler has nothing left to try and the cluster's controllers have nothing left to do. Hours of
back-off pass at once, and the same files give the same result each time.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import orjson

from dra_api.manifests import Document, Problem
from dra_api.transport import Request, Transport
from dra_embedded.cluster import EmbeddedCluster
from dra_embedded.virtual_time import VirtualClock, VirtualTimeLoop
from dra_scheduler.cli.loading import Object, load, plan
from dra_scheduler.report.explanation import NOBODY, Viewer, viewer_of
from dra_scheduler.scheduler import PendingPod, Scheduler
from dra_scheduler.settings import Settings

# Virtual seconds. Back-off ends at 10 s; a pod that is left alone for longer waits for something that cannot come.
_QUIET = 30.0
_LIMIT = 3600.0
_START = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(slots=True)
class Simulated:
    """What came of a simulation. `pods`, `claims`, `nodes`, `slices` are v1 objects sorted by namespace and name.

    `pending` has the reason of each pod without a node by (namespace, name), `notes` the note of its latest
    FailedScheduling event; `viewer` may name all claims. `problems` are objects that the server refused (nothing was
    scheduled then).
    """

    pods: list[Object] = field(default_factory=list)
    claims: list[Object] = field(default_factory=list)
    nodes: list[Object] = field(default_factory=list)
    slices: list[Object] = field(default_factory=list)
    pending: Mapping[tuple[str, str], PendingPod] = field(default_factory=dict)
    notes: Mapping[tuple[str, str], str] = field(default_factory=dict)
    viewer: Viewer = NOBODY
    problems: list[Problem] = field(default_factory=list)
    assumed: list[str] = field(default_factory=list)
    virtual_seconds: float = 0.0


def simulate(documents: Sequence[Document], settings: Settings, seed: int = 0) -> Simulated:
    """Run the documents' cluster until nothing changes any more. Raises nothing for bad objects: see `problems`."""
    loop = VirtualTimeLoop()
    return loop.run(_simulate(documents, settings, seed, VirtualClock(loop, _START)))


async def _simulate(documents: Sequence[Document], settings: Settings, seed: int, clock: VirtualClock) -> Simulated:
    planned = plan(documents)
    result = Simulated(assumed=planned.assumed)
    cluster = EmbeddedCluster(clock, random.Random(seed))
    result.problems = load(cluster.server, planned)
    if result.problems:
        return result
    scheduler = Scheduler(cluster.transport, settings, clock, random.Random(seed))
    stop = asyncio.Event()
    async with cluster:
        running = asyncio.create_task(scheduler.run(stop), name="scheduler")
        await _until_quiet(scheduler, cluster, running)
        result.virtual_seconds = clock.monotonic()
        result.pending = {(p.namespace, p.name): p for p in scheduler.pending()}
        result.viewer = viewer_of(scheduler.cluster.claims, None)
        await _collect(cluster.transport, result)
        stop.set()
        await running
    return result


async def _until_quiet(scheduler: Scheduler, cluster: EmbeddedCluster, running: asyncio.Task[None]) -> None:
    """Wait until nothing is left to try and nothing left to do; an error of the scheduler is raised here."""
    settled = asyncio.create_task(cluster.settle(scheduler.at_rest, quiet=_QUIET, limit=_LIMIT))
    await asyncio.wait({settled, running}, return_when=asyncio.FIRST_COMPLETED)
    if running.done():
        settled.cancel()
        running.result()
        raise RuntimeError("the scheduler stopped before it was told to")
    await settled


async def _collect(transport: Transport, result: Simulated) -> None:
    result.pods = await _items(transport, "/api/v1/pods", "v1", "Pod")
    result.nodes = await _items(transport, "/api/v1/nodes", "v1", "Node")
    group = "resource.k8s.io/v1"
    result.claims = await _items(transport, f"/apis/{group}/resourceclaims", group, "ResourceClaim")
    result.notes = _notes(await _items(transport, "/apis/events.k8s.io/v1/events", "events.k8s.io/v1", "Event"))
    result.slices = await _items(transport, f"/apis/{group}/resourceslices", group, "ResourceSlice")


def _notes(events: Sequence[Object]) -> dict[tuple[str, str], str]:
    """Return the latest note about each pod that could not be scheduled."""
    failed = [event for event in events if event["reason"] == "FailedScheduling"]
    failed.sort(key=lambda event: (event.get("series") or {}).get("lastObservedTime") or event["eventTime"])
    return {(event["regarding"]["namespace"], event["regarding"]["name"]): event["note"] for event in failed}


async def _items(transport: Transport, path: str, version: str, kind: str) -> list[Object]:
    response = await transport.send(Request("GET", path))
    if response.status != 200:
        raise RuntimeError(f"the embedded cluster answered {response.status} to GET {path}: {response.body[:200]!r}")
    items: list[dict[str, Any]] = orjson.loads(response.body)["items"]
    named = [{"apiVersion": version, "kind": kind, **item} for item in items]
    return sorted(named, key=lambda o: (o["metadata"].get("namespace", ""), o["metadata"]["name"]))
