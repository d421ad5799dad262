"""`dra-scheduler run --shadow`: what a shadow prints."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
from random import Random
from typing import Any

from dra_scheduler.cli.output import print_json_line
from dra_scheduler.client.connection import connect
from dra_scheduler.process import stopped_by_signals
from dra_scheduler.settings import Settings
from dra_scheduler.shadow.opinion import KINDS, SERIOUS, Compared
from dra_scheduler.shadow.run import run_shadow
from dra_scheduler.shadow.tally import Tally
from dra_scheduler.system_clock import SystemClock

EVERY = 60.0
"""Seconds between two summaries."""
_QUIET = frozenset({"same", "first", "gone"})
"""Comparisons that are counted and not told one by one."""


async def shadow(settings: Settings, arguments: argparse.Namespace) -> Tally:
    """Shadow until a signal comes or the time is up; prints as it goes. Raises as `run_shadow` does."""
    clock, stop = SystemClock(), asyncio.Event()
    names = tuple(arguments.scheduler_name) if arguments.scheduler_name else None
    summing: list[asyncio.Task[None]] = []

    def tell(compared: Compared) -> None:
        if compared.kind not in _QUIET:
            print_compared(compared, arguments.output)

    def began(tally: Tally) -> None:
        if arguments.output == "text":
            print(f"shadowing {', '.join(names) if names else 'every scheduler'}; nothing is written", flush=True)
        else:
            print_json_line({"began": {"schedulers": list(names or ())}})
        if arguments.shadow_for is not None:
            asyncio.get_running_loop().call_later(arguments.shadow_for, stop.set)
        summing.append(asyncio.create_task(_sum_up(tally, arguments.output), name="summaries"))

    async with contextlib.AsyncExitStack() as stack:
        await stack.enter_async_context(stopped_by_signals(stop))
        transport = await stack.enter_async_context(await connect(arguments.kubeconfig, arguments.context, clock))
        try:
            tally = await run_shadow(
                transport, settings, clock, Random(), names=names, stop=stop, tell=tell, began=began
            )
        finally:
            for task in summing:
                task.cancel()
    print_summary(tally, arguments.output)
    return tally


async def _sum_up(tally: Tally, output: str) -> None:
    while True:
        await asyncio.sleep(EVERY)
        print_summary(tally, output)


def print_compared(compared: Compared, output: str) -> None:
    """Print one comparison."""
    if output == "json":
        print_json_line(_data(compared))
        return
    where = f"pod {compared.namespace}/{compared.name} ({compared.scheduler})"
    sides = f"ours: {_side(compared.our_node, compared.our_devices)}"
    if compared.their_node:
        sides += f", theirs: {_side(compared.their_node, compared.their_devices)}"
    mark = "! " if compared.kind in SERIOUS else ""
    text = f"; {compared.text}" if compared.text else ""
    print(f"{mark}{compared.kind}: {where}: {sides}{text}", flush=True)


def print_summary(tally: Tally, output: str) -> None:
    """Print the figures so far."""
    data = tally.data()
    if output == "json":
        print_json_line({"summary": data})
        return
    counts = ", ".join(f"{count} {kind} ({KINDS[kind]})" for kind, count in tally.counts.items() if count)
    decided = f", pods that we have decided: {tally.deciding.count}" if tally.deciding.count else ""
    print(f"summary: {counts or f'nothing to compare yet{decided}'}")
    for name, durations in (("we decide after", tally.ours), ("they bind after", tally.theirs)):
        if durations.count:
            p50, p99 = durations.quantile(0.5) * 1000, durations.quantile(0.99) * 1000
            print(f"  {name} {p50:.1f} ms (median), {p99:.1f} ms (99 %), {durations.count} pods")
    print(end="", flush=True)


def _side(node: str, devices: Any) -> str:
    if not node:
        return "nowhere"
    found = ", ".join(device for names in devices.values() for device in names)
    return f"{node} with {found}" if found else node


def _data(compared: Compared) -> dict[str, Any]:
    seconds = (("ourMilliseconds", compared.our_seconds), ("theirMilliseconds", compared.their_seconds))
    found: dict[str, Any] = {
        "kind": compared.kind,
        "serious": compared.kind in SERIOUS,
        "namespace": compared.namespace,
        "pod": compared.name,
        "scheduler": compared.scheduler,
        "ours": {"node": compared.our_node, "devices": dict(compared.our_devices)},
        "theirs": {"node": compared.their_node, "devices": dict(compared.their_devices)},
        "text": compared.text,
    }
    return found | {name: round(value * 1000, 2) for name, value in seconds if value is not None}
