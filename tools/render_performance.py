"""Write docs/performance.md from the record of measurements in benchmarks/results/performance.json.

python tools/render_performance.py                    write it
python tools/render_performance.py --check            exit code 1 if it is not up to date
python tools/render_performance.py --take FILE ...    take rows that `dra-bench allocate --save` wrote into the record
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from dra_bench.performance_page import sections

ROOT = Path(__file__).resolve().parents[1]
RECORD = ROOT / "benchmarks" / "results" / "performance.json"
DOCUMENT = ROOT / "docs" / "performance.md"
PLOT = ROOT / "docs" / "performance.svg"

Row = dict[str, Any]

HEAD = """# How fast decisions are

Written by `tools/render_performance.py` from `benchmarks/results/performance.json`; a test fails if it is out of date.

A decision: claims in; devices, a node and the object to write out, the ledger updated; all nodes are candidates.
`dra-bench allocate` measures it, `make bench` runs a short form (`dra-bench allocate --help` lists workloads). Each
workload checks every outcome while it measures.

Kubernetes' figures are of its own allocator (the Go library of 1.37.2, in the same run on the same cluster, claims and
allocated devices). An attempt is what kube-scheduler does with it for one pod: copy the allocated state, make the
allocator, allocate on one node after the other. *All*: over all nodes. *Sample*: until as many feasible nodes are found
as kube-scheduler looks for by default (50 % less one for each 125 nodes, at least 5 %, at least 100). kube-scheduler
spreads this over 16 goroutines, here it has one core like we have; choosing among the sample, and writing, is in
neither figure. An attempt is ended after 30 seconds (2 on fewer than 100 nodes) and counted with that time.
"""

MEANING = """## What dominates

* **Up to some 5,000 nodes nothing depends on their number**: a decision is about 0.2 ms of Python for one node (resolve
  the claim, catch up with what changed, search, build the result). One comparison of counts over 5,000 nodes is 10 µs.
  At 50,000 nodes and more such comparisons begin to show.
* **Catching up**: one journal each for table, ledger and blocked devices. A decision looks at the rows that changed
  hands since the last one, usually one or two.
* **What counts cannot decide is searched** node by node, 0.1 to 0.3 ms each; so a claim that fits nowhere would cost
  seconds at 5,000 nodes. Four kinds of counting rule such nodes out: how many devices are free; how many of them have
  one value of a constrained attribute, or how many values there are (`spread.py`); whether what is left of counters
  leaves anything of a device (`counter_room.py`); whether a device has the capacity asked for, beside others' shares
  (`portion.py`). Each is a necessary condition that the search applies too, and a property test compares the two on
  random clusters after every change (`tests/allocator/test_prefilter.py`).
* **The first use of a selector text** evaluates each distinct value (or combination of values) of what it reads once;
  then it is a gather over rows.
* **Loading** is decoding and writing columns: about 25 µs a device. Memory is about half a kilobyte a device.
* Where Kubernetes is faster: single small nodes where its search ends at once (five-of-four, all-counters): every
  decision has some 0.1 ms of Python, and a device that is tried 20 µs.

## Tried and dropped

* Searching every node that has enough devices free: 0.7 s for a matchAttribute that no node of 5,000 satisfies, 1.8 s
  for shares, 1.3 s for partitions; replaced by the counting above.
* Gathering the nodes in order before the search: only the first that may do is needed; now 64 at a time.

Considered only:

* Remembering failed nodes by a hash of what they look like: it would rule out more kinds of nodes, but a collision
  would be a wrong answer.
* Counting values with a dense table of nodes times values: serial numbers have as many values as there are devices.
  Pairs of node and value are sorted instead, and later only touched nodes counted again.
* Counting what two requests have in common (a GPU and a NIC on one root): such claims are searched.
"""


def load() -> dict[str, Any]:
    content: dict[str, Any] = json.loads(RECORD.read_text()) if RECORD.exists() else {"runs": []}
    return content


def take(paths: Iterable[Path]) -> None:
    """Put rows into the record; newer ones of the same workload and size replace older ones."""
    kept = {key(row): (run["conditions"], row) for run in load()["runs"] for row in run["rows"]}
    for path in paths:
        found = json.loads(path.read_text())
        for row in found["rows"]:
            kept[key(row)] = found["conditions"], row
    runs: dict[str, dict[str, Any]] = {}
    for conditions, row in kept.values():
        name = json.dumps(conditions, sort_keys=True)
        runs.setdefault(name, {"conditions": conditions, "rows": []})["rows"].append(row)
    RECORD.write_text(json.dumps({"runs": list(runs.values())}, indent=1) + "\n")


def key(row: Row) -> tuple[str, int, int]:
    return row["workload"], row["nodes"], row["devices"]


def number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    names = tuple(head)
    lines = [names, ("---", *("---:" for _ in names[1:])), *(tuple(row) for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def conditions(runs: list[dict[str, Any]]) -> Iterator[str]:
    yield "## Conditions\n"
    for run in runs:
        found = run["conditions"]
        counted = "CPU time of the process" if found["clock"] == "cpu" else "time that passes"
        names = sorted({row["workload"].partition("/")[0] for row in run["rows"]})
        where = f"{found['machine']}, {found['cores']} cores, Python {found['python']}, commit {found['commit']}"
        yield f"* {', '.join(names)}: {counted}; {where}"
    yield "\nOurs and Kubernetes' were measured in the same run.\n"


def decisions(rows: list[Row]) -> Iterator[str]:
    yield "## Decisions\n"
    shown = [row for row in rows if row["nodes"] in (1, 5000) and "/" not in row["workload"] and row["p50_ms"]]
    shown += [row for row in rows if row["workload"].startswith("exponential/")]
    peers = ("all ms", "sample ms", "times all", "times sample")
    head = ("workload", "nodes x devices", "p50 ms", "p99 ms", "per s", *peers)
    yield table(head, (line(row) for row in shown if row["workload"] != "load"))


def line(row: Row) -> tuple[str, ...]:
    figures = ("p50_ms", "p99_ms", "allocations_per_s", "peer_all_p50_ms", "peer_sample_p50_ms", "ratio_all")
    size = f"{row['nodes']:,} x {row['devices']}"
    return row["workload"], size, *(number(row[name]) for name in (*figures, "ratio_sample"))


def scale(rows: list[Row]) -> Iterator[str]:
    yield "## Scale\n"
    shown = [row for row in rows if row["workload"].partition("/")[0] in ("load", "large", "first", "texts")]
    lines = (
        (
            row["workload"],
            f"{row['nodes']:,} x {row['devices']}",
            *(number(row[name]) for name in ("p50_ms", "p99_ms", "load_s", "rss_mib")),
        )
        for row in shown
    )
    yield table(("what", "nodes x devices", "p50 ms", "p99 ms", "load s", "memory MiB"), lines)


def by_nodes(rows: list[Row]) -> dict[str, list[tuple[int, float]]]:
    """Return the median by number of nodes for the workloads that were measured at five sizes and more."""
    found: dict[str, list[tuple[int, float]]] = {}
    for row in rows:
        if row["p50_ms"] is not None and row["workload"] not in ("load",) and "/" not in row["workload"]:
            found.setdefault(row["workload"], []).append((row["nodes"], row["p50_ms"]))
    return {name: sorted(points) for name, points in found.items() if len(points) >= 5}


def growth(rows: list[Row]) -> Iterator[str]:
    series = by_nodes(rows)
    if not series:
        return
    yield "## Against the number of nodes\n"
    yield "![median time of a decision against nodes](performance.svg)\n"
    sizes = sorted({nodes for points in series.values() for nodes, _ in points})
    lines = ((name, *(number(dict(points).get(nodes)) for nodes in sizes)) for name, points in sorted(series.items()))
    yield table(("p50 ms at nodes", *(f"{nodes:,}" for nodes in sizes)), lines)


def svg(rows: list[Row]) -> str:
    """Return a plot of the medians against nodes, both axes logarithmic."""
    series = by_nodes(rows)
    width, height, margin = 640, 360, 60
    xs = [nodes for points in series.values() for nodes, _ in points] or [1, 10]
    ys = [ms for points in series.values() for _, ms in points] or [1.0, 10.0]
    left, right = math.log10(min(xs)), math.log10(max(xs))
    low, high = math.floor(math.log10(min(ys))), math.ceil(math.log10(max(ys)))

    def x(nodes: float) -> float:
        return margin + (math.log10(nodes) - left) / (right - left) * (width - 3 * margin)

    def y(ms: float) -> float:
        return height - margin - (math.log10(ms) - low) / max(1, high - low) * (height - 2 * margin)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        f'<text x="{margin}" y="20">p50 of a decision in ms, against the number of nodes (8 devices each)</text>',
    ]
    for power in range(low, high + 1):
        at = y(10.0**power)
        parts.append(f'<line x1="{margin}" x2="{width - 2 * margin}" y1="{at:.1f}" y2="{at:.1f}" stroke="#ddd"/>')
        parts.append(f'<text x="8" y="{at + 4:.1f}">{10.0**power:g}</text>')
    parts += [f'<text x="{x(n) - 14:.1f}" y="{height - margin + 18}">{n:,}</text>' for n in sorted(set(xs))]
    colours = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e")
    for number_, (name, points) in enumerate(sorted(series.items())):
        colour = colours[number_ % len(colours)]
        places = " ".join(f"{x(nodes):.1f},{y(ms):.1f}" for nodes, ms in points)
        parts.append(f'<polyline points="{places}" fill="none" stroke="{colour}" stroke-width="2"/>')
        end = points[-1]
        parts.append(f'<text x="{x(end[0]) + 6:.1f}" y="{y(end[1]) + 4:.1f}" fill="{colour}">{name}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def document() -> str:
    runs = load()["runs"]
    rows = sorted((row for run in runs for row in run["rows"]), key=lambda row: (row["nodes"] == 1, *key(row)))
    return "\n".join([HEAD, *decisions(rows), *growth(rows), *scale(rows), MEANING, *conditions(runs), *sections()])


def main() -> int:
    words = sys.argv[1:]
    if words[:1] == ["--take"]:
        take(map(Path, words[1:]))
    rows = [row for run in load()["runs"] for row in run["rows"]]
    wanted = {DOCUMENT: document(), PLOT: svg(rows)}
    if "--check" in words:
        if any(not path.exists() or path.read_text() != text for path, text in wanted.items()):
            print("docs/performance.md is out of date: run python tools/render_performance.py")
            return 1
        return 0
    for path, text in wanted.items():
        path.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
