"""`dra-bench memory`: what memory `dra-scheduler run` needs beside a large cluster."""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path

import orjson

from dra_bench.allocate.saved import conditions
from dra_bench.cluster.command import positive, progress
from dra_bench.cluster.errors import RaceError
from dra_bench.cluster.inventory import Course
from dra_bench.memory.errors import MemoryRunError
from dra_bench.memory.row import Row
from dra_bench.memory.run import measure

EXAMPLE = """An embedded API server over HTTPS in this process, `dra-scheduler run` in another one, and a backlog of
pods with a claim each. Resident memory by the kernel's account: when the caches are filled, the largest, in the end.

exit codes: 0 measured, 1 the scheduler ended, or pods were left when the time was up, 2 bad usage

example:
  dra-bench memory                                 # 5,000 nodes x 8 devices, 10,000 pods: some minutes
  dra-bench memory --nodes 100 --devices 8 --pods 200 --seconds 60"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `memory`."""
    parser.add_argument("--nodes", type=positive, default=5000, metavar="N", help="default: 5000")
    parser.add_argument("--devices", type=positive, default=8, metavar="D", help="devices per node; default: 8")
    parser.add_argument("--pods", type=positive, default=10_000, metavar="P", help="default: 10000")
    parser.add_argument("--selector", action="store_true", help="claims select by model and memory in CEL")
    parser.add_argument("--seconds", type=positive, default=300, metavar="S", help="at most, filling not counted; 300")
    parser.add_argument("-o", "--output", choices=("table", "json"), default="table", help="default: table")
    parser.add_argument("--save", type=Path, metavar="F", help="also write the result to a file (JSON)")


def execute(arguments: argparse.Namespace) -> int:
    """Measure; returns the exit code."""
    course = Course(arguments.nodes, arguments.devices, arguments.pods, arguments.selector)
    try:
        course.check()
    except RaceError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    try:
        with progress() as start:
            row = asyncio.run(measure(course, arguments.seconds, start("memory", course.pods)))
    except (MemoryRunError, RaceError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    content = {"conditions": conditions("wall"), "rows": [row.as_json()]}
    if arguments.save:
        arguments.save.write_bytes(orjson.dumps(content, option=orjson.OPT_INDENT_2) + b"\n")
    if arguments.output == "json":
        print(orjson.dumps([row.as_json()], option=orjson.OPT_INDENT_2).decode())
    else:
        print(text(row))
    if row.bound < row.pods:
        print(f"error: {row.pods - row.bound} pods were not bound in {arguments.seconds} s", file=sys.stderr)
        return 1
    return 0


def text(row: Row) -> str:
    """The result in one line for people."""
    size = f"{row.nodes} nodes x {row.devices} devices, {row.bound} of {row.pods} pods bound in {row.seconds:.0f} s"
    return f"{size}: {row.ready_mib:.0f} MiB when ready, {row.peak_mib:.0f} at most, {row.end_mib:.0f} in the end"
