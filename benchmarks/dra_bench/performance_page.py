"""The parts of docs/performance.md about whole clusters: races, where a pod's time goes, memory."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from dra_bench.cluster.row import Row, Spread, ratio, schedulers, spread
from dra_bench.controlplane.binaries import repository_root
from dra_bench.controlplane.flags import SCHEDULER
from dra_bench.profile.stages import STAGES
from dra_bench.upstream.rounds import Round, Rounds, figures

RESULTS = repository_root() / "benchmarks" / "results"
RACES = RESULTS / "cluster.json"
PROFILE = RESULTS / "profile.json"
MEMORY = RESULTS / "memory.json"
WORKLOADS = RESULTS / "scheduler_perf.json"

RACE_TEXT = """## Pods per second

`dra-bench cluster`: etcd, kube-apiserver and kube-controller-manager of Kubernetes 1.37.2 on two cores, together with
the scheduler; a fresh control plane for each run, no component throttled, all pods and claims there before the
scheduler starts; from the first pod bound to the last. Runs take turns (A-B-C, A-B-C), ratios are taken within a round:
the median, with the smallest and the largest in brackets. The *ceiling* is a writer that decides nothing and sends what
a scheduler has to send, over the same client.
"""

WORKLOADS_TEXT = """## Kubernetes' own workloads

`make bench-upstream`: scheduler_perf's DRA workloads labelled performance that schedule pods, in pods/s (average of the
phase that is measured). Each round runs ours and then kube-scheduler on fresh API servers, all on two cores, etcd's
data in memory; kube-scheduler runs inside the process of the test there, together with the API server and the
controllers, ours as a process of its own. Medians, with the smallest and the largest in brackets.

The workloads named `..pods` have all pods there at the start. The others hold ten pods: the test deletes a pod that was
scheduled and then makes the next, so they cannot be faster than its two requests, which wait for what else the machine
does: there, being ahead means to leave more of the machine to the API server. In the full ones a pod has to wait, too,
until the garbage collector and the claim controller have freed the devices of the one before.
"""

LONGEST = "dra/consumablecapacity/ConsumableCapacity/full_1000nodes"
HALF_OF_IT = "dra/consumablecapacity/ConsumableCapacity/half_1000nodes"
NOT_MEASURED = """ConsumableCapacity's `full_1000nodes` is not measured: 7,990 pods are to be scheduled before it
begins. For half as many a round took {minutes:.0f} minutes, and each pod costs kube-scheduler more the more there are
({reference:.1f} per second then), so that it would take most of an hour.
"""

PROFILE_TEXT = """## Where a pod's milliseconds go

`dra-bench profile`: the same backlog, with a sampler of CPU time in the process (waiting is not counted, nothing gets
slower by it). Milliseconds of CPU per pod, in brackets how much of it is the HTTP client with TLS and sockets.
"""

DONE = """What was done about the largest:

* **The HTTP client** is the largest part: aiohttp takes 0.36 ms of CPU for a write over TLS. Connections of our own
  took 0.14 (three rounds in turns, 1,500 requests each), but an HTTP client is not what this project is for, so aiohttp
  stays ([dependencies.md](dependencies.md)).
* **uvloop** in the place of asyncio's loop changed nothing measurable (0.33, 0.36, 0.39 ms for a write without it;
  0.34, 0.34, 0.42 with it), so it is no dependency.
* **Events of our own writes** come back in the watch. The answer to the write was learnt already, so an event of a
  version that is known is passed over before it is converted and read.
"""


def sections() -> Iterator[str]:
    """The lines of all parts of which there are results."""
    if RACES.exists():
        yield from races([Row(**row) for row in _rows(RACES)])
    if WORKLOADS.exists():
        yield from workloads(Rounds(WORKLOADS).all)
    if PROFILE.exists():
        yield from profile(_rows(PROFILE))
    if MEMORY.exists():
        yield from memory(_rows(MEMORY))


def _rows(path: Path) -> list[dict[str, Any]]:
    """The rows that `--save` has written."""
    content: dict[str, list[dict[str, Any]]] = json.loads(path.read_text())
    return content["rows"]


def races(rows: list[Row]) -> Iterator[str]:
    """Medians over the rounds, a line for each scheduler on each course."""
    yield RACE_TEXT
    yield from _head(
        "course", "scheduler", "rounds", "pods/s", f"of {SCHEDULER}", "of the ceiling", "writes/pod", "double"
    )
    courses = dict.fromkeys((row.nodes, row.devices, row.pods, row.selector) for row in rows)
    for course in courses:
        own = [row for row in rows if (row.nodes, row.devices, row.pods, row.selector) == course]
        nodes, devices, pods, selector = course
        name = f"{nodes:,} x {devices}, {pods:,} pods, {'CEL' if selector else 'plain'}"
        for scheduler in schedulers(own):
            yield _race(name, scheduler, own)
    yield ""


def _race(course: str, scheduler: str, rows: list[Row]) -> str:
    own = [row for row in rows if row.scheduler == scheduler]
    return _line(
        course,
        scheduler,
        len(own),
        spread(rows, scheduler, lambda row: row.pods_per_s).text(1),
        _ratio(ratio(rows, scheduler, SCHEDULER)),
        _ratio(ratio(rows, scheduler, "ceiling")),
        spread(rows, scheduler, lambda row: row.writes_per_pod).text(2),
        sum(row.double_allocations for row in own),
    )


def _ratio(found: Spread | None) -> str:
    return "-" if found is None else found.text(2)


def workloads(rounds: list[Round]) -> Iterator[str]:
    """Medians of scheduler_perf, a line for each workload."""
    yield WORKLOADS_TEXT
    days = sorted({one.date for one in rounds})
    when = days[0] if len(days) == 1 else f"from {days[0]} to {days[-1]}"
    yield f"Measured {when} at {', '.join(dict.fromkeys(one.commit for one in rounds))}.\n"
    yield from _head("workload", "rounds", "ours", SCHEDULER, f"of {SCHEDULER}")
    for name in sorted({one.workload for one in rounds}):
        own = [one for one in rounds if one.workload == name]
        yield _line(name.removeprefix("dra/"), len(own), *figures(own))
    yield ""
    half = next((one for one in rounds if one.workload == HALF_OF_IT), None)
    if half is not None and all(one.workload != LONGEST for one in rounds):
        yield NOT_MEASURED.format(minutes=half.seconds / 60, reference=half.reference)


def profile(accounts: list[dict[str, Any]]) -> Iterator[str]:
    """CPU time by stage, and what was done about it."""
    yield PROFILE_TEXT
    first = accounts[0]
    what = "CEL" if first["selector"] else "plain"
    yield f"{first['nodes']:,} nodes x {first['devices']} devices, {first['pods']:,} pods, {what}:\n"
    yield from _head("stage", *(one["scheduler"] for one in accounts))
    for name in STAGES:
        cells = [_cell(one, name) for one in accounts]
        if any(cells):
            yield _line(name, *cells)
    yield _line("all", *(f"{one['ms']:.2f}" for one in accounts))
    yield f"\n{DONE}"


def _cell(account: dict[str, Any], name: str) -> str:
    found = next((one for one in account["stages"] if one["name"] == name), None)
    if found is None:
        return ""
    return f"{found['ms']:.2f} ({found['http_ms']:.2f})" if found["http_ms"] else f"{found['ms']:.2f}"


def memory(rows: list[dict[str, Any]]) -> Iterator[str]:
    """Resident memory."""
    yield "## Memory\n"
    yield "`dra-bench memory`: resident memory of `dra-scheduler run` beside an embedded API server over HTTPS, all"
    yield "pods and their claims pending when it starts. MiB:\n"
    yield from _head("nodes x devices", "pods", "bound", "when ready", "at most", "in the end")
    for row in rows:
        size = f"{row['nodes']:,} x {row['devices']}"
        yield _line(size, f"{row['pods']:,}", f"{row['bound']:,}", row["ready_mib"], row["peak_mib"], row["end_mib"])
    yield ""


def _head(*names: str) -> Iterable[str]:
    return _line(*names), _line(*("---" if number == 0 else "---:" for number in range(len(names))))


def _line(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |"
