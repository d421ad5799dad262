"""`dra-scheduler demo`: an example on an embedded cluster; live on a terminal, and kept for kubectl if asked to."""

from __future__ import annotations

import argparse
import asyncio
import sys
from typing import TYPE_CHECKING

from dra_scheduler.cli.embedded.scenarios import LARGEST, SCENARIOS, Scenario
from dra_scheduler.cli.examples import ExampleMissingError
from dra_scheduler.cli.exit_codes import BAD_INPUT, OK, PENDING
from dra_scheduler.cli.show import claim_table, console, device_table, pod_table
from dra_scheduler.cli.simulate import report_problems, settings_for
from dra_scheduler.cli.simulation import simulate

if TYPE_CHECKING:
    from rich.console import Console

EXAMPLE = """On a terminal the cluster is shown live, elsewhere what came of it is printed. --keep leaves it running: a
Kubernetes API on loopback that kubectl talks to, until Ctrl-C. What to paste is printed; nothing is left behind.

exit codes: 0 the pods were placed as the scenario intends, 1 they were not, 2 bad usage or an address in use

example:
  dra-scheduler demo
  dra-scheduler demo --scenario full --nodes 20
  dra-scheduler demo --keep"""
MAX_NODES = 1000
_PAUSE = 0.3
_PAUSES = 3.0
"""Seconds between two pods on a terminal, and at most in all, so that something is to be seen."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `demo`."""
    from dra_scheduler.cli.embedded.options import add_place

    parser.add_argument(
        "--scenario",
        choices=tuple(SCENARIOS),
        default="cats",
        help="cats: two devices chosen by CEL; gpus: memory, NUMA nodes, alternatives; partitions: GPUs in parts;"
        " full: one pod more than there is room for; default: cats",
    )
    parser.add_argument("--nodes", type=int, default=4, metavar="N", help=f"1 to {MAX_NODES}; default: 4")
    parser.add_argument("--devices", type=int, default=8, metavar="N", help="devices of a node; default: 8")
    parser.add_argument("--keep", action="store_true", help="keep the cluster for kubectl until Ctrl-C")
    parser.add_argument("--seed", type=int, default=0, help="seed of the random choices (ties between nodes)")
    add_place(parser)


def execute(arguments: argparse.Namespace) -> int:
    """Run the scenario and show it; returns the exit code."""
    largest = LARGEST[arguments.scenario]
    if not 1 <= arguments.nodes <= MAX_NODES:
        print(f"error: --nodes {arguments.nodes}: from 1 to {MAX_NODES}", file=sys.stderr)
        return BAD_INPUT
    if not 1 <= arguments.devices <= largest:
        problem = f"--devices {arguments.devices}: from 1 to {largest} in the scenario {arguments.scenario}"
        print(f"error: {problem}", file=sys.stderr)
        return BAD_INPUT
    if not arguments.keep and (arguments.listen[1] or arguments.kubeconfig or arguments.beyond_loopback):
        print("error: --listen, --beyond-loopback and --kubeconfig go with --keep", file=sys.stderr)
        return BAD_INPUT
    try:
        scenario = SCENARIOS[arguments.scenario](arguments.nodes, arguments.devices)
    except ExampleMissingError as error:
        print(f"error: {error}", file=sys.stderr)
        return PENDING
    screen = console()
    if arguments.keep or screen.is_terminal:
        return _live(scenario, arguments, screen)
    return _simulated(scenario, arguments.seed, screen)


def _simulated(scenario: Scenario, seed: int, screen: Console) -> int:
    """Run it in virtual time and print what came of it."""
    documents = scenario.documents()
    result = simulate(documents, settings_for(documents), seed)
    if report_problems(result.problems):
        return PENDING
    screen.print(
        f"{len(result.nodes)} nodes, {sum(len(s['spec'].get('devices') or []) for s in result.slices)} devices"
    )
    for table in (device_table(result.slices, result.claims), pod_table(result.pods, result.pending)):
        screen.print()
        screen.print(table)
    screen.print()
    screen.print(claim_table(result.claims))
    screen.print("\nYour own manifests: dra-scheduler simulate -f FILE")
    screen.print("A cluster for kubectl: dra-scheduler demo --keep")
    pending = sum(not pod["spec"].get("nodeName") for pod in result.pods)
    return OK if pending == scenario.pending else PENDING


def _live(scenario: Scenario, arguments: argparse.Namespace, screen: Console) -> int:
    """Run it in real time, until it is done or, kept, until a signal."""
    from dra_scheduler.cli.embedded.options import place_of
    from dra_scheduler.cli.embedded.sessions import Stage, guarded, kept, live_settings, shown

    documents, begin = scenario.documents(), len(scenario.cluster)
    pause = min(_PAUSE, _PAUSES / len(scenario.pods))
    settings = live_settings(documents)
    stage = Stage(documents[:begin], documents[begin:], settings, pause, arguments.seed)
    if not arguments.keep:
        return guarded(lambda: asyncio.run(shown(stage, scenario.pending, screen)))
    place = place_of(arguments)
    return guarded(lambda: asyncio.run(kept(stage, place, arguments.kubeconfig, screen, scenario)))
