"""`dra-bench allocate`: how fast decisions are, ours and Kubernetes'."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from typing import TextIO

import orjson
from rich.console import Console

from dra_bench.allocate import plot, saved, show
from dra_bench.allocate.errors import BenchError
from dra_bench.allocate.job import Job
from dra_bench.allocate.registry import GROUPS, WORKLOADS, chosen
from dra_bench.allocate.session import Session
from dra_bench.allocate.special import SPECIAL

EXAMPLE = f"""A decision: claims in; devices, node and the object to write out, ledger updated; all
nodes are candidates. Kubernetes' allocator gets the same cluster and claims in the same run,
where it has been built (make oracle).

workloads:
{chr(10).join(f"  {name:29} {one.summary}" for name, one in WORKLOADS.items())}
only when named, or with --scale (sizes of their own; --nodes scales them down):
{chr(10).join(f"  {name:29} {one.summary}" for name, one in SPECIAL.items())}
groups: {", ".join(GROUPS)}

exit codes: 0 measured, 1 a workload failed or came out wrong, 2 bad usage or file

example:
  dra-bench allocate selector match --nodes 5000 --save before.json
  dra-bench allocate selector match --nodes 5000 --compare before.json
  dra-bench allocate exponential -o json
  dra-bench allocate selector --plot selector.png"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `allocate`."""
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help="which (default: all); see below")
    parser.add_argument("--nodes", type=_positive, metavar="N", help="nodes (default: 5000; exponential: 1)")
    parser.add_argument("--devices", type=_positive, metavar="D", help="devices per node (default: 8; partitions: 76)")
    parser.add_argument(
        "--seconds", type=_seconds, default=2.0, metavar="S", help="time for each measurement (default: 2)"
    )
    parser.add_argument("--scale", action="store_true", help="also loading, changes, first uses and memory")
    parser.add_argument("--no-peers", action="store_true", help="do not measure Kubernetes' allocator")
    parser.add_argument(
        "--clock",
        choices=("wall", "cpu"),
        default="wall",
        help="cpu: count the time that the process used, for a machine that others use too (default: wall)",
    )
    parser.add_argument("-o", "--output", choices=("table", "json"), default="table", help="default: table")
    parser.add_argument("--save", type=Path, metavar="F", help="write the rows and the conditions to a file (JSON)")
    parser.add_argument("--compare", type=Path, metavar="F", help="compare with a file written by --save")
    parser.add_argument(
        "--plot",
        type=Path,
        metavar="F.png",
        help="measure at several sizes and plot time against nodes and against devices (default: selector)",
    )


def execute(arguments: argparse.Namespace) -> int:
    """Measure; returns the exit code."""
    try:
        jobs = _jobs(arguments)
        before = saved.read(arguments.compare) if arguments.compare else None
        if arguments.plot:
            plot.check()
    except BenchError as error:
        return _fail(str(error), 2)
    session = Session()
    if arguments.plot:
        by_nodes = session.run(replace(job, nodes=nodes) for job in jobs for nodes in plot.NODES)
        by_devices = session.run(replace(job, devices=devices) for job in jobs for devices in plot.DEVICES)
        rows = [*by_nodes, *by_devices]
    else:
        rows = session.run(jobs)
    out = _console(sys.stdout)
    if arguments.output == "json":
        print(orjson.dumps([row.as_json() for row in rows], option=orjson.OPT_INDENT_2).decode())
    else:
        show.print_rows(rows, out)
    try:
        if before is not None:
            show.print_comparison(rows, before, _console(sys.stderr) if arguments.output == "json" else out)
        if arguments.save:
            saved.save(arguments.save, rows, arguments.clock)
        if arguments.plot:
            plot.draw(arguments.plot, by_nodes, by_devices)
    except BenchError as error:
        return _fail(str(error), 2)
    return 1 if session.failed else 0


def _jobs(arguments: argparse.Namespace) -> list[Job]:
    special = [name for name in arguments.workloads if name in SPECIAL]
    ordinary = [name for name in arguments.workloads if name not in SPECIAL]
    if arguments.plot and not ordinary:
        ordinary, special = ["selector"], []
    found = [one.name for one in chosen(ordinary)] if ordinary or not special else []
    found += [*SPECIAL] if arguments.scale else special
    base = Job(
        "",
        arguments.nodes,
        arguments.devices,
        seconds=arguments.seconds,
        clock=arguments.clock,
        peers=not arguments.no_peers,
    )
    return [replace(base, workload=name) for name in found]


def _console(file: TextIO) -> Console:
    """Return where tables are printed: never folded unless a terminal is too narrow."""
    return Console(file=file, width=None if file.isatty() else 200)


def _fail(text: str, code: int) -> int:
    print(f"error: {text}", file=sys.stderr)
    return code


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is less than 1")
    return value


def _seconds(text: str) -> float:
    value = float(text)
    if not 0 <= value <= 3600:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 3600")
    return value
