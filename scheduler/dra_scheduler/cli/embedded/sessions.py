"""From the start of an embedded cluster to its end: shown until it is done, or kept until a signal."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from rich.console import Console

from dra_api.manifests import Document
from dra_embedded.errors import EmbeddedError
from dra_embedded.http.listener import BeyondLoopbackError, Place
from dra_scheduler.cli.embedded.access import Open, opened
from dra_scheduler.cli.embedded.live import Screen, stop_on_signals, watching
from dra_scheduler.cli.embedded.running import RefusedDocumentsError, Running, StoppedError, running
from dra_scheduler.cli.embedded.scenarios import Scenario
from dra_scheduler.cli.exit_codes import BAD_INPUT, INTERRUPTED, OK, PENDING
from dra_scheduler.cli.simulate import report_problems, settings_for
from dra_scheduler.settings import Settings
from dra_scheduler.system_clock import SystemClock

END = "Ctrl-C ends it and leaves nothing behind."


@dataclass(frozen=True, slots=True)
class Stage:
    """What there is at the start, and what comes after, one object every `pause` seconds.

    `settings` None: no scheduler of ours. `seed` None: another choice among equals each time.
    """

    present: Sequence[Document]
    coming: Sequence[Document]
    settings: Settings | None
    pause: float = 0.0
    seed: int | None = None


def live_settings(documents: Sequence[Document]) -> Settings:
    """As `settings_for`, under our own name: it is what events are signed with."""
    settings = settings_for(documents)
    names = dict.fromkeys(("dra-scheduler", *settings.scheduler_names))
    return settings.model_copy(update={"scheduler_names": tuple(names)})


def guarded(work: Callable[[], int]) -> int:
    """Do the work; what stands in its way becomes a message and an exit code."""
    try:
        return work()
    except RefusedDocumentsError as error:
        report_problems(error.problems)
        return BAD_INPUT
    except BeyondLoopbackError as error:
        print(f"error: {error}; --beyond-loopback allows it", file=sys.stderr)
        return BAD_INPUT
    except EmbeddedError as error:
        print(f"error: {error}", file=sys.stderr)
        return BAD_INPUT
    except StoppedError as error:
        print(f"error: {error}: {error.__cause__}", file=sys.stderr)
        return PENDING


async def shown(stage: Stage, pending: int, screen: Console) -> int:
    """Show the cluster on the terminal until nothing is left to do; `pending`: how many pods are to be so."""
    clock = SystemClock()
    with stop_on_signals() as stop:
        async with AsyncExitStack() as stack:
            cluster = await stack.enter_async_context(running(stage.present, stage.settings, clock, Random(stage.seed)))
            watched = await stack.enter_async_context(watching(cluster, clock))
            async with Screen(screen, cluster, watched).live():
                await _feed(cluster, stage, stop)
                await _either(cluster.settle(), stop.wait())
            left = sum(not pod["spec"].get("nodeName") for pod in watched.scene().pods)
    if stop.is_set():
        return INTERRUPTED
    return OK if left == pending else PENDING


async def kept(
    stage: Stage, place: Place, kubeconfig: Path | None, screen: Console, scenario: Scenario | None = None
) -> int:
    """Serve the cluster until a signal; on a terminal it is shown all the while."""
    clock = SystemClock()
    with stop_on_signals() as stop:
        async with AsyncExitStack() as stack:
            cluster = await stack.enter_async_context(running(stage.present, stage.settings, clock, Random(stage.seed)))
            way = await stack.enter_async_context(opened(cluster.cluster.server, clock, place, kubeconfig))
            words = _words(way, scenario)
            for note in cluster.assumed:
                print(f"note: {note}", file=sys.stderr)
            if screen.is_terminal:
                watched = await stack.enter_async_context(watching(cluster, clock))
                await stack.enter_async_context(Screen(screen, cluster, watched, words).live())
            else:
                print("\n".join(words), flush=True)
            await _feed(cluster, stage, stop)
            await cluster.unless_stopped(stop.wait())
    screen.print("The cluster is gone, and its files with it.")
    return OK


def _words(way: Open, scenario: Scenario | None) -> list[str]:
    offers = (
        way.offer(scenario) if scenario is not None else ["kubectl get nodes,resourceslices,pods,resourceclaims -A"]
    )
    return [way.start_line(), END, "", way.export_line(), *offers]


async def _feed(cluster: Running, stage: Stage, stop: asyncio.Event) -> None:
    for document in stage.coming:
        if stop.is_set():
            return
        cluster.add([document])
        await cluster.unless_stopped(asyncio.sleep(stage.pause))


async def _either(*waiting: Awaitable[Any]) -> None:
    """Wait for the first of several things; the others are given up."""
    tasks = [asyncio.ensure_future(each) for each in waiting]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
