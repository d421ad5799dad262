"""One scheduler on one course, on a control plane of its own."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import orjson

from dra_api.transport import Request, Transport
from dra_bench.cluster.contestant import Contestant, Running
from dra_bench.cluster.errors import RaceError, StuckError
from dra_bench.cluster.finish import Finish
from dra_bench.cluster.inventory import CLAIMS, PODS, Course, create_all, items, pod
from dra_bench.cluster.row import Row
from dra_bench.cluster.writes import count_writes
from dra_bench.controlplane.cluster import ControlPlane, rbac_manifest
from dra_bench.controlplane.flags import SCHEDULER, Options, Profile
from dra_scheduler.client.connection import connect
from dra_scheduler.system_clock import SystemClock

JSON = dict[str, Any]
Told = Callable[[str, int, int], None]
"""Called with what goes on, how much of it is done, and how much there is."""


@dataclass(frozen=True, slots=True)
class Heat:
    """One scheduler's turn: the `number` of the round is counted from 1; `told` hears how it goes."""

    course: Course
    contestant: Contestant
    profile: Profile
    number: int
    told: Told

    def options(self) -> Options:
        """What control plane it runs on."""
        manifests = (rbac_manifest(),)
        return Options(profile=self.profile, manifests=manifests, kube_scheduler=self.contestant.is_component)


PREPARE_SECONDS = 600.0
QUIET_SECONDS = 1.0
QUIET_LIMIT = 20.0


def race(heat: Heat) -> Row:
    """Run a race over a backlog: all pods and claims are there before the scheduler is started.

    Raises RaceError; what was started is ended in any case.
    """
    with ControlPlane(heat.options()) as plane:
        if heat.contestant.is_component:
            plane.kill_component(SCHEDULER)
        return asyncio.run(_backlog(plane, heat))


async def _backlog(plane: ControlPlane, heat: Heat) -> Row:
    course, contestant, told = heat.course, heat.contestant, heat.told
    async with await connect(str(plane.kubeconfig("admin")), None, SystemClock()) as transport:
        told("filling", 0, course.pods)
        await create_all(transport, course.objects())
        await create_all(transport, ((PODS, pod(each, contestant.scheduler_name)) for each in range(course.pods)))
        version = await _prepared(transport, course, told)
        before = await count_writes(transport)
        async with Finish(transport, version) as finish:
            with Running(contestant, plane, course) as running:
                await _reached(finish, running, course.pods, told)
                after = await _when_quiet(transport)
        return Row(
            contestant.name,
            course.nodes,
            course.devices,
            course.selector,
            course.pods,
            round(finish.pods_per_s(), 1),
            round((after - before) / course.pods, 2),
            double_allocations(await items(transport, CLAIMS)),
            heat.number,
        )


async def _prepared(transport: Transport, course: Course, told: Told) -> str:
    """Wait until each pod has its claim; returns the resourceVersion from which pods are to be watched."""
    with_claim = -1
    async with asyncio.timeout(PREPARE_SECONDS):
        while with_claim < course.pods:
            await asyncio.sleep(0 if with_claim < 0 else 1.0)
            response = await transport.send(Request("GET", PODS))
            if response.status != 200:
                raise RaceError(f"GET {PODS}: {response.status}")
            found = orjson.loads(response.body)
            with_claim = sum("resourceClaimStatuses" in one.get("status", {}) for one in found["items"])
            told("claims", with_claim, course.pods)
        version: str = found["metadata"]["resourceVersion"]
        return version


async def _reached(finish: Finish, running: Running, count: int, told: Told) -> None:
    waiting = asyncio.create_task(finish.reached(count))
    try:
        while not waiting.done():
            await asyncio.wait({waiting}, timeout=0.5)
            told("bound", len(finish.bound), count)
            running.check()
        waiting.result()
    except StuckError as error:
        raise StuckError(f"{error}; its log ends with: {running.component.log_tail()[-1000:]}") from error
    finally:
        waiting.cancel()


async def _when_quiet(transport: Transport) -> int:
    """The number of writes once nobody writes any more (events come late), or after a limit."""
    loop = asyncio.get_running_loop()
    end = loop.time() + QUIET_LIMIT
    count = await count_writes(transport)
    while True:
        await asyncio.sleep(QUIET_SECONDS)
        before, count = count, await count_writes(transport)
        if count == before or loop.time() >= end:
            return count


def double_allocations(claims: Iterable[JSON]) -> int:
    """How many devices have more than one claim; nobody shares them on these courses."""
    holders: Counter[tuple[str, str, str]] = Counter()
    for claim in claims:
        allocation = claim.get("status", {}).get("allocation") or {}
        for one in allocation.get("devices", {}).get("results", []):
            holders[one["driver"], one["pool"], one["device"]] += 1
    return sum(count > 1 for count in holders.values())
