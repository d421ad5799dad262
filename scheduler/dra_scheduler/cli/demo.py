"""`dra-scheduler demo`: the example on an embedded cluster, and a picture of what came of it."""

from __future__ import annotations

import argparse
import sys

from dra_api.manifests import read_paths
from dra_scheduler.cli.examples import ExampleMissingError, example_path
from dra_scheduler.cli.exit_codes import OK, PENDING
from dra_scheduler.cli.show import claim_table, console, device_table, pod_table
from dra_scheduler.cli.simulate import report_problems, settings_for
from dra_scheduler.cli.simulation import simulate

EXAMPLE = """exit codes: 0 the pod was placed, 1 it was not

example:
  dra-scheduler demo"""
FILES = ("cats-cluster.yaml", "cats.yaml")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """`demo` has the seed of its random choices only."""
    parser.add_argument("--seed", type=int, default=0, help="seed of the random choices (ties between nodes)")


def execute(arguments: argparse.Namespace) -> int:
    """Simulate the example and print nodes, devices, pods and claims; returns the exit code."""
    try:
        manifests = read_paths([example_path(name) for name in FILES])
    except ExampleMissingError as error:
        print(f"error: {error}", file=sys.stderr)
        return PENDING
    if report_problems(manifests.problems):
        return PENDING
    documents = manifests.documents
    result = simulate(documents, settings_for(documents), arguments.seed)
    if report_problems(result.problems):
        return PENDING
    screen = console()
    screen.print(
        f"{len(result.nodes)} nodes, {sum(len(s['spec'].get('devices') or []) for s in result.slices)} devices"
    )
    for table in (device_table(result.slices, result.claims), pod_table(result.pods, result.pending)):
        screen.print()
        screen.print(table)
    screen.print()
    screen.print(claim_table(result.claims))
    screen.print("\nYour own manifests: dra-scheduler simulate -f FILE")
    return OK if all(p["spec"].get("nodeName") for p in result.pods) else PENDING
