"""`dra-bench profile`: where the CPU time of a pod goes, on the real control plane."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import orjson
from rich.console import Console

from dra_bench.allocate.saved import conditions
from dra_bench.cluster.command import positive
from dra_bench.cluster.contestant import KNOWN, Contestant
from dra_bench.cluster.errors import RaceError
from dra_bench.cluster.inventory import Course
from dra_bench.cluster.race import Heat, race
from dra_bench.controlplane.errors import ControlPlaneError
from dra_bench.controlplane.flags import THROUGHPUT
from dra_bench.profile.account import Account, after_start, stages
from dra_bench.profile.errors import ProfileError
from dra_bench.profile.sampler import read
from dra_bench.profile.show import hot_spots, table

EXAMPLE = """The backlog of `dra-bench cluster`, with a sampler of CPU time in the scheduler's process: milliseconds per
pod and stage, and how much of them is the HTTP client with TLS and sockets. Waiting is not counted. The ceiling (a
writer that decides nothing) is looked into in the same way: what it needs, nobody can do without.

exit codes: 0 measured, 1 the race failed, 2 bad usage or no control plane

example:
  dra-bench profile --nodes 500 --devices 10 --pods 1000
  dra-bench profile --peers ours --hot 30"""

PEERS = ("ours", "ceiling")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `profile`."""
    parser.add_argument("--nodes", type=positive, default=100, metavar="N", help="default: 100")
    parser.add_argument("--devices", type=positive, default=10, metavar="D", help="devices per node; default: 10")
    parser.add_argument("--pods", type=positive, default=300, metavar="P", help="default: 300")
    parser.add_argument("--selector", action="store_true", help="claims select by model and memory in CEL")
    parser.add_argument("--peers", default="ours,ceiling", metavar="A,B", help="default: ours,ceiling")
    parser.add_argument("--hot", type=positive, metavar="N", help="also the N functions that take the most time")
    parser.add_argument("-o", "--output", choices=("table", "json"), default="table", help="default: table")
    parser.add_argument("--save", type=Path, metavar="F", help="also write the result to a file (JSON)")


def execute(arguments: argparse.Namespace) -> int:
    """Measure; returns the exit code."""
    peers = [name for name in arguments.peers.split(",") if name]
    course = Course(arguments.nodes, arguments.devices, arguments.pods, arguments.selector)
    try:
        course.check()
        unknown = [name for name in peers if name not in PEERS]
        if unknown or not peers:
            raise RaceError(f"--peers {arguments.peers}: there are {', '.join(PEERS)}")
    except RaceError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    try:
        accounts = [_account(course, name, arguments.hot) for name in peers]
    except (RaceError, ControlPlaneError, ProfileError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    content = orjson.dumps([one.as_json() for one in accounts], option=orjson.OPT_INDENT_2) + b"\n"
    if arguments.save:
        saved = {"conditions": conditions("cpu"), "rows": [one.as_json() for one in accounts]}
        arguments.save.write_bytes(orjson.dumps(saved, option=orjson.OPT_INDENT_2) + b"\n")
    if arguments.output == "json":
        print(content.decode(), end="")
    else:
        Console().print(table(accounts))
    return 0


def _account(course: Course, name: str, hot: int | None) -> Account:
    """Race one scheduler and take its samples. Raises RaceError, ControlPlaneError, ProfileError."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "samples.json"
        row = race(Heat(course, _sampled(KNOWN[name], path), THROUGHPUT, 1, lambda what, done, of: None))
        samples = after_start(read(path))
    if hot is not None:
        Console(stderr=True).print(hot_spots(name, samples, course.pods, hot))
    return Account(
        name,
        course.nodes,
        course.devices,
        course.selector,
        course.pods,
        row.pods_per_s,
        len(samples),
        round(sum(seconds for seconds, _ in samples) / course.pods * 1000, 3),
        stages(samples, course.pods),
    )


def _sampled(peer: Contestant, path: Path) -> Contestant:
    """The peer, with a sampler in its process that writes to a file in the end."""

    def build(kubeconfig: Path, port: int, course: Course) -> list[str]:
        assert peer.build is not None
        command = peer.build(kubeconfig, port, course)
        # Its own program's words are left out: the target starts it inside itself.
        arguments = command[1:] if peer.name == "ours" else command[3:]
        return [sys.executable, "-m", "dra_bench.profile.target", str(path), peer.name, *arguments]

    return Contestant(peer.name, peer.scheduler_name, build)
