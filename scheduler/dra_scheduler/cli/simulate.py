"""`dra-scheduler simulate`: schedule the pods of manifests on an embedded cluster in virtual time."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from dra_api.manifests import MAX_FILE, Document, Manifests, Problem, read_paths
from dra_scheduler.cli.exit_codes import BAD_INPUT, OK, PENDING
from dra_scheduler.cli.explained import explained_data, explained_lines
from dra_scheduler.cli.loading import Object
from dra_scheduler.cli.output import print_data
from dra_scheduler.cli.show import claim_table, console, pod_table
from dra_scheduler.cli.simulation import Simulated, simulate
from dra_scheduler.feature_gates import OURS
from dra_scheduler.settings import Settings
from dra_scheduler.survey.known import recorded_gates

EXAMPLE = """exit codes: 0 all pods placed, 1 some pending (each with its reason), 2 bad input

example:
  dra-scheduler simulate -f manifests/examples/cats-cluster.yaml -f manifests/examples/cats.yaml
  dra-scheduler simulate -f manifests/examples/cats-cluster.yaml -f pods.yaml --explain
  kubectl get nodes,deviceclasses,resourceslices,pods -A -o yaml | dra-scheduler simulate -f - -o json"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `simulate`."""
    parser.add_argument(
        "-f",
        "--filename",
        action="append",
        required=True,
        metavar="FILE|DIR|-",
        help="manifests: a file, a folder (its .yaml, .yml and .json files) or - for standard input; repeatable",
    )
    parser.add_argument(
        "-o", "--output", choices=("table", "yaml", "json"), default="table", help="table, or a v1 List (yaml, json)"
    )
    parser.add_argument("--explain", action="store_true", help="say in full why pods are pending")
    parser.add_argument("--seed", type=int, default=0, help="seed of the random choices (ties between nodes)")


def execute(arguments: argparse.Namespace) -> int:
    """Read, simulate, print; returns the exit code."""
    manifests = read_all(arguments.filename)
    for warning in manifests.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    if report_problems(manifests.problems):
        return BAD_INPUT
    if not manifests.documents:
        print("error: no objects in the files given", file=sys.stderr)
        return BAD_INPUT
    result = simulate(manifests.documents, settings_for(manifests.documents), arguments.seed)
    for note in result.assumed:
        print(f"note: {note}", file=sys.stderr)
    if report_problems(result.problems):
        return BAD_INPUT
    _print(result, arguments.output, arguments.explain)
    return PENDING if any(not p["spec"].get("nodeName") for p in unended(result.pods)) else OK


def read_all(sources: Sequence[str]) -> Manifests:
    """Read all files, folders and standard input (`-`) into one."""
    return read_paths(sources, stdin=sys.stdin.buffer.read(MAX_FILE + 1) if "-" in sources else None)


def settings_for(documents: Sequence[Document]) -> Settings:
    """Settings of an offline run: every pod is ours, whatever schedulerName it has.

    Every feature is on, unless the documents are a dump: then those of the cluster that it is of.
    """
    names = {"dra-scheduler", "default-scheduler"}
    for document in documents:
        if document.object.get("kind") == "Pod":
            name = (document.object.get("spec") or {}).get("schedulerName")
            names |= {name} if name else set()
    gates = recorded_gates(document.object for document in documents) or dict.fromkeys(OURS, True)
    return Settings(scheduler_names=tuple(sorted(names)), feature_gates=gates)


def report_problems(problems: Sequence[Problem]) -> bool:
    """Print each problem on standard error; true if there was one."""
    for problem in problems:
        print(f"error: {problem}", file=sys.stderr)
    return bool(problems)


def unended(pods: Sequence[Object]) -> list[Object]:
    """The pods that have not ended: ended ones need no node."""
    return [p for p in pods if p.get("status", {}).get("phase") not in ("Succeeded", "Failed")]


def _print(result: Simulated, output: str, explain: bool) -> None:
    items = [*result.pods, *result.claims]
    listed = {"apiVersion": "v1", "kind": "List", "metadata": {}, "items": items}
    if explain:
        listed["explanations"] = explained_data(result.pending.values(), result.viewer)
    if output != "table":
        print_data(listed, output)
    else:
        screen = console()
        screen.print(pod_table(result.pods, result.pending))
        screen.print()
        screen.print(claim_table(result.claims))
        if explain:
            for line in explained_lines(result.pending.values(), result.viewer):
                screen.print(line, markup=False, soft_wrap=True)
