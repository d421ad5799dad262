"""A scheduler in a process of its own, beside an embedded API server over HTTPS in this one."""

from __future__ import annotations

import asyncio
import random
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from dra_bench.cluster.inventory import PODS, Course, create_all, pod
from dra_bench.controlplane.ports import LOOPBACK, pick_ports
from dra_bench.memory.errors import MemoryRunError
from dra_bench.memory.process_status import peak_and_now
from dra_bench.memory.row import Row
from dra_embedded.cluster import EmbeddedCluster
from dra_embedded.http.listener import Place, serving
from dra_scheduler.system_clock import SystemClock

NAME = "dra-scheduler"
LOOK_SECONDS = 0.5
REST_SECONDS = 3.0
"""Seconds of rest before the last look: events are written after the last pod was bound."""
STOP_SECONDS = 10.0
SETTLE_SECONDS = 300.0

Told = Callable[[str, int, int], None]
"""Called with what goes on, how much of it is done, and how much there is."""


async def measure(course: Course, limit: float, told: Told, command: Sequence[str] = ()) -> Row:
    """Fill a cluster, start the scheduler, and watch it until all pods are bound, at most `limit` seconds.

    `command`: what is started in the place of `dra-scheduler run`. Raises MemoryRunError.
    """
    clock = SystemClock()
    async with EmbeddedCluster(clock, random.Random(1), kubelet=False) as cluster:
        told("filling", 0, course.pods)
        await create_all(cluster.transport, course.objects())
        await create_all(cluster.transport, ((PODS, pod(number, NAME)) for number in range(course.pods)))
        await cluster.settle(limit=SETTLE_SECONDS)
        with tempfile.TemporaryDirectory() as folder:
            kubeconfig = Path(folder) / "kubeconfig"
            async with serving(cluster.server, clock, Place(), kubeconfig):
                return await _watched(cluster, course, kubeconfig, limit=limit, told=told, command=command)


async def _watched(
    cluster: EmbeddedCluster, course: Course, kubeconfig: Path, *, limit: float, told: Told, command: Sequence[str]
) -> Row:
    started = time.monotonic()
    (port,) = pick_ports(1)
    program = command or (str(Path(sys.executable).with_name(NAME)), "run")
    options = ["--kubeconfig", str(kubeconfig), "--http", f"{LOOPBACK}:{port}", "--log-level", "warning"]
    process = await asyncio.create_subprocess_exec(*program, *options)
    try:
        await _ready(port, process, limit)
        _, ready = peak_and_now(process.pid)
        bound = 0
        while bound < course.pods and time.monotonic() - started < limit:
            await asyncio.sleep(LOOK_SECONDS)
            bound = _bound(cluster)
            told("bound", bound, course.pods)
            _check(process)
        seconds = time.monotonic() - started
        await asyncio.sleep(REST_SECONDS)
        peak, end = peak_and_now(process.pid)
    finally:
        await _stopped(process)
    return Row(
        course.nodes, course.devices, course.pods, bound, round(seconds, 1), round(ready), round(peak), round(end)
    )


async def _ready(port: int, process: asyncio.subprocess.Process, limit: float) -> None:
    """Wait until it says that its caches are filled."""
    try:
        async with asyncio.timeout(limit):
            while not await _says_ready(port):
                _check(process)
                await asyncio.sleep(0.1)
    except TimeoutError:
        raise MemoryRunError(f"the scheduler was not ready after {limit:.0f} s") from None


async def _says_ready(port: int) -> bool:
    try:
        reader, writer = await asyncio.open_connection(LOOPBACK, port)
    except OSError:
        return False
    try:
        writer.write(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        return b" 200 " in await reader.readline()
    except OSError:
        return False
    finally:
        writer.close()


def _bound(cluster: EmbeddedCluster) -> int:
    return sum(1 for item in cluster.server.store.bucket("pods").items(None) if item.object["spec"].get("nodeName"))


def _check(process: asyncio.subprocess.Process) -> None:
    if process.returncode is not None:
        raise MemoryRunError(f"the scheduler ended with exit code {process.returncode}")


async def _stopped(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        process.terminate()
        try:
            async with asyncio.timeout(STOP_SECONDS):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()
