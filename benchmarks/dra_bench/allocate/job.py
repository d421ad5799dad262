"""One workload measured: ours, then Kubernetes'; in a process of its own, so that memory is only its own."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Literal

from dra_bench.allocate.errors import BenchError, WorkerDiedError
from dra_bench.allocate.loop import measure
from dra_bench.allocate.peer import Plan, peer_times
from dra_bench.allocate.registry import WORKLOADS
from dra_bench.allocate.row import Row, memory_mib, rates, ratio
from dra_bench.allocate.special import SPECIAL
from dra_bench.allocate.world import World

FEW_NODES_SECONDS, MANY_NODES_SECONDS = 2.0, 30.0
"""How long an attempt of Kubernetes' allocator may take before it is ended."""
Progress = Callable[[str, float], None]
"""Told what is being done and which part of it is."""


@dataclass(frozen=True, slots=True)
class Job:
    """What to measure. `nodes` and `devices` None: the workload's own; `seconds` for each of the three measurements."""

    workload: str
    nodes: int | None = None
    devices: int | None = None
    seconds: float = 2.0
    clock: Literal["wall", "cpu"] = "wall"
    peers: bool = True


def run(job: Job, progress: Progress) -> Iterator[Row]:
    """Measure in this process; yield what there is as soon as it is there. Raises BenchError."""
    if job.workload in SPECIAL:
        yield from SPECIAL[job.workload].rows(job.nodes, job.seconds, lambda part: progress("measuring", part))
    else:
        yield _loop(job, progress)


def _loop(job: Job, progress: Progress) -> Row:
    clock = time.perf_counter if job.clock == "wall" else time.process_time
    scenario = WORKLOADS[job.workload].scenario(job.nodes, job.devices)
    progress("loading", 0.0)
    world = World(scenario)
    measured = measure(world, job.seconds, lambda part: progress("deciding", part), clock=clock)
    figures = rates(measured)
    load_s, rss_mib = round(world.load_seconds, 3), memory_mib()
    del world
    peer = None
    if job.peers:
        plan = Plan(
            job.seconds, job.clock == "cpu", FEW_NODES_SECONDS if scenario.size.nodes < 100 else MANY_NODES_SECONDS
        )
        peer = peer_times(scenario, plan, lambda part: progress("Kubernetes", part))
    return Row(
        workload=job.workload,
        nodes=scenario.size.nodes,
        devices=scenario.size.devices,
        **figures,
        load_s=load_s,
        rss_mib=rss_mib,
        peer_all_p50_ms=peer.all_ms if peer else None,
        peer_sample_p50_ms=peer.sample_ms if peer else None,
        ratio_all=ratio(peer.all_ms if peer else None, figures["p50_ms"]),
        ratio_sample=ratio(peer.sample_ms if peer else None, figures["p50_ms"]),
    )


def run_apart(job: Job, progress: Progress) -> Iterator[Row]:
    """Measure in a process of its own; otherwise as `run`."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_child, args=(job, theirs), daemon=True)
    process.start()
    theirs.close()
    try:
        while True:
            message = ours.recv()
            if message is None:
                return
            if isinstance(message, Row):
                yield message
            elif isinstance(message, BenchError):
                raise message
            else:
                progress(*message)
    except EOFError:
        process.join()
        raise WorkerDiedError(f"{job.workload}: its process ended with exit code {process.exitcode}") from None
    finally:
        ours.close()
        process.terminate()
        process.join()


def _child(job: Job, results: Connection) -> None:
    told = 0.0

    def progress(what: str, part: float) -> None:
        nonlocal told
        now = time.monotonic()
        if now - told > 0.1:
            told = now
            results.send((what, part))

    try:
        for row in run(job, progress):
            results.send(row)
        results.send(None)
    except BenchError as error:
        results.send(error)
