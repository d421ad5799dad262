"""Open loop: pods come at a fixed rate, whatever the scheduler does; how long each takes from creation to bound."""

from __future__ import annotations

import asyncio
import time
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import orjson

from dra_api.transport import Request, Transport
from dra_bench.cluster.contestant import Running
from dra_bench.cluster.errors import RaceError
from dra_bench.cluster.finish import Finish
from dra_bench.cluster.inventory import PODS, create, create_all, pod
from dra_bench.cluster.race import Heat
from dra_bench.controlplane.cluster import ControlPlane
from dra_bench.controlplane.flags import SCHEDULER
from dra_scheduler.client.connection import connect
from dra_scheduler.system_clock import SystemClock

WARM_UP = 10
"""Pods before the first one that counts."""


@dataclass(frozen=True, slots=True)
class LatencyRow:
    """One scheduler in one round. Latencies in milliseconds, claim creation by kube-controller-manager included.

    `rate`: pods created per second; `reached`: pods bound per second, less than that if a queue grew.
    """

    scheduler: str
    nodes: int
    devices: int
    selector: bool
    pods: int
    rate: float
    reached: float
    p50_ms: float
    p99_ms: float
    round: int

    def as_json(self) -> dict[str, Any]:
        """Return it with its keys in order."""
        return asdict(self)


def open_loop(heat: Heat, rate: float) -> LatencyRow:
    """Start the scheduler, then create pods at the rate. Raises RaceError; what was started is ended in any case."""
    with ControlPlane(heat.options()) as plane:
        if heat.contestant.is_component:
            plane.kill_component(SCHEDULER)
        return asyncio.run(_open_loop(plane, heat, rate))


async def _open_loop(plane: ControlPlane, heat: Heat, rate: float) -> LatencyRow:
    course, contestant = heat.course, heat.contestant
    async with await connect(str(plane.kubeconfig("admin")), None, SystemClock()) as transport:
        heat.told("filling", 0, course.pods)
        await create_all(transport, course.objects())
        response = await transport.send(Request("GET", PODS))
        version = orjson.loads(response.body)["metadata"]["resourceVersion"]
        async with Finish(transport, version) as finish:
            with Running(contestant, plane, course):
                warm_up = min(WARM_UP, course.pods // 2)
                for each in range(warm_up):
                    await create(transport, PODS, pod(each, contestant.scheduler_name))
                await finish.reached(warm_up)
                created = await _create(transport, heat, warm_up, rate)
                await finish.reached(course.pods)
        return _row(heat, rate, created, finish.bound)


def _row(heat: Heat, rate: float, created: dict[str, float], bound: dict[str, float]) -> LatencyRow:
    latencies = [(bound[name] - when) * 1000 for name, when in created.items()]
    span = max(bound.values()) - min(created.values())
    p50, p99 = (round(float(np.percentile(latencies, part)), 1) for part in (50, 99))
    course = heat.course
    return LatencyRow(
        heat.contestant.name,
        course.nodes,
        course.devices,
        course.selector,
        len(latencies),
        rate,
        round(len(latencies) / span, 1),
        p50,
        p99,
        heat.number,
    )


async def _create(transport: Transport, heat: Heat, first: int, rate: float) -> dict[str, float]:
    """Create the pods, each at its time; returns when, by name. Raises RaceError if creating cannot keep up."""
    created: dict[str, float] = {}
    count = heat.course.pods - first
    begun = time.monotonic()
    async with asyncio.TaskGroup() as group:
        for number in range(first, heat.course.pods):
            await asyncio.sleep(max(0.0, begun + (number - first) / rate - time.monotonic()))
            created[f"pod-{number}"] = time.monotonic()
            group.create_task(create(transport, PODS, pod(number, heat.contestant.scheduler_name)))
            heat.told("created", number + 1, heat.course.pods)
    took = time.monotonic() - begun
    if took > 1.2 * count / rate + 1:
        raise RaceError(f"{count} pods took {took:.1f} s to create: this machine cannot do {rate:g}/s")
    return created
