"""`dra-bench cluster`: schedulers against each other on the real control plane."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import orjson
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from dra_bench.allocate.saved import conditions
from dra_bench.cluster import show
from dra_bench.cluster.contestant import Contestant, external, known
from dra_bench.cluster.errors import RaceError
from dra_bench.cluster.inventory import Course
from dra_bench.cluster.latency import LatencyRow, open_loop
from dra_bench.cluster.race import Heat, Told, race
from dra_bench.cluster.row import Row
from dra_bench.controlplane.errors import ControlPlaneError
from dra_bench.controlplane.flags import DEFAULTS, THROUGHPUT, Profile

EXAMPLE = """Each round gives every scheduler a fresh control plane on loopback, the same nodes and devices, and a
backlog of pods whose claims exist; the rate counts from the first pod bound to the last. Peers: ours,
kube-scheduler, and ceiling, a writer that decides nothing. Any other command takes part with --command: it finds
$KUBECONFIG (our role's rights), answers /readyz on 127.0.0.1:$HEALTH_PORT, and schedules pods with schedulerName NAME.

No component is throttled (the flags are printed), else the throttles would be compared; --defaults measures with the
flags that every component has by itself, for what users get. Needs the control plane: make controlplane.

exit codes: 0 measured, 1 a race failed or a device was allocated twice, 2 bad usage or no control plane

example:
  dra-bench cluster --nodes 500 --devices 10 --pods 2500 --rounds 5
  dra-bench cluster --nodes 500 --devices 10 --pods 2500 --selector --peers ours,kube-scheduler -o json
  dra-bench cluster --open-loop 20 --pods 400 --peers ours,kube-scheduler
  dra-bench cluster --command mine='my-scheduler --health-port $HEALTH_PORT'"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `cluster`."""
    parser.add_argument("--nodes", type=positive, default=100, metavar="N", help="default: 100")
    parser.add_argument("--devices", type=positive, default=10, metavar="D", help="devices per node; default: 10")
    parser.add_argument("--pods", type=positive, default=300, metavar="P", help="default: 300")
    parser.add_argument("--selector", action="store_true", help="claims select by model and memory in CEL")
    parser.add_argument(
        "--peers", default="ours,kube-scheduler,ceiling", metavar="A,B", help="default: ours,kube-scheduler,ceiling"
    )
    parser.add_argument("--command", dest="commands", action="append", default=[], metavar="NAME=COMMAND")
    parser.add_argument("--rounds", type=positive, default=2, metavar="R", help="default: 2; figures need 5")
    parser.add_argument("--defaults", action="store_true", help="the flags that every component has by itself")
    parser.add_argument("--open-loop", type=float, metavar="RATE", help="instead: latency at so many pods a second")
    parser.add_argument("-o", "--output", choices=("table", "json"), default="table", help="default: table")
    parser.add_argument("--save", type=Path, metavar="F", help="also write rows and conditions to a file (JSON)")


@dataclass(frozen=True, slots=True)
class _Plan:
    course: Course
    contestants: tuple[Contestant, ...]
    profile: Profile
    rounds: int
    rate: float | None


def execute(arguments: argparse.Namespace) -> int:
    """Race; returns the exit code."""
    try:
        plan = _plan(arguments)
    except RaceError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(f"control plane, {plan.profile.describe()}", file=sys.stderr)
    rows: list[Row | LatencyRow] = []
    failure = ""
    try:
        rows.extend(_run(plan))
    except (RaceError, ControlPlaneError) as error:
        failure = str(error)
    _print(rows, arguments.output)
    if arguments.save and rows:
        saved = {"conditions": conditions("wall"), "rows": [row.as_json() for row in rows]}
        arguments.save.write_bytes(orjson.dumps(saved, option=orjson.OPT_INDENT_2) + b"\n")
    if failure:
        print(f"error: {failure}", file=sys.stderr)
    doubles = sum(row.double_allocations for row in rows if isinstance(row, Row))
    return 1 if failure or doubles else 0


def _plan(arguments: argparse.Namespace) -> _Plan:
    course = Course(arguments.nodes, arguments.devices, arguments.pods, arguments.selector)
    course.check()
    names = [name for name in arguments.peers.split(",") if name]
    contestants = (*map(known, names), *map(external, arguments.commands))
    if not contestants:
        raise RaceError("nobody takes part: name --peers or a --command")
    profile = DEFAULTS if arguments.defaults else THROUGHPUT
    if arguments.open_loop is not None and arguments.open_loop <= 0:
        raise RaceError(f"--open-loop {arguments.open_loop:g}: the rate must be above 0")
    return _Plan(course, contestants, profile, arguments.rounds, arguments.open_loop)


def _run(plan: _Plan) -> Iterator[Row | LatencyRow]:
    """A-B-C, A-B-C, ...: what changes on the machine over time changes it for all."""
    with progress() as start:
        for number in range(1, plan.rounds + 1):
            for contestant in plan.contestants:
                told = start(f"round {number}/{plan.rounds} {contestant.name}", plan.course.pods)
                heat = Heat(plan.course, contestant, plan.profile, number, told)
                yield race(heat) if plan.rate is None else open_loop(heat, plan.rate)


@contextmanager
def progress() -> Iterator[_Start]:
    """Show a bar on a terminal; what it yields begins one with a title and a total."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:
        yield _Start(bars)


class _Start:
    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def __call__(self, title: str, total: int) -> Told:
        task = self._progress.add_task(title, total=total)

        def told(what: str, done: int, of: int) -> None:
            self._progress.update(task, description=f"{title}: {what}", completed=done, total=of)

        return told


def _print(rows: list[Row | LatencyRow], form: str) -> None:
    if form == "json":
        sys.stdout.write(_json(rows).decode())
        return
    console = Console(width=None if sys.stdout.isatty() else 160)
    rates = [row for row in rows if isinstance(row, Row)]
    latencies = [row for row in rows if isinstance(row, LatencyRow)]
    if rates:
        console.print(show.rates(rates))
    if latencies:
        console.print(show.latencies(latencies))


def _json(rows: list[Row | LatencyRow]) -> bytes:
    return orjson.dumps([row.as_json() for row in rows], option=orjson.OPT_INDENT_2) + b"\n"


def positive(text: str) -> int:
    """Read a whole number above 0 from a command line. Raises argparse.ArgumentTypeError."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is less than 1")
    return value
