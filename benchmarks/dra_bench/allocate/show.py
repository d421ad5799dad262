"""Rows for people: a table, and one that compares with rows saved earlier."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from dra_bench.allocate.row import Row

_HEAD = (
    ("workload", "left"),
    ("nodes", "right"),
    ("devices\nper node", "right"),
    ("decisions\nper s", "right"),
    ("p50\nms", "right"),
    ("p99\nms", "right"),
    ("load\ns", "right"),
    ("memory\nMiB", "right"),
    ("Kubernetes\nall ms", "right"),
    ("Kubernetes\nsample ms", "right"),
    ("times\nall", "right"),
    ("times\nsample", "right"),
)
NOTE = (
    "Kubernetes: its allocator on one core, over all nodes, and over the sample of nodes at which kube-scheduler "
    "stops by default; times: as long as ours. - : not measured (build it with `make oracle`)."
)


def number(value: float | None) -> str:
    """Return a figure with three digits that count."""
    if value is None:
        return "-"
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}" if value >= 1 else f"{value:.3f}"


def cells(row: Row) -> list[str]:
    """Return the cells of a row."""
    figures = (
        row.allocations_per_s,
        row.p50_ms,
        row.p99_ms,
        row.load_s,
        row.rss_mib,
        row.peer_all_p50_ms,
        row.peer_sample_p50_ms,
        row.ratio_all,
        row.ratio_sample,
    )
    return [row.workload, f"{row.nodes:,}", f"{row.devices:,}", *map(number, figures)]


def print_rows(rows: Sequence[Row], console: Console) -> None:
    """Print the table."""
    table = Table(box=None, pad_edge=False)
    for name, justify in _HEAD:
        table.add_column(name, justify="right" if justify == "right" else "left", no_wrap=True)
    for row in rows:
        table.add_row(*cells(row))
    console.print(table)
    console.print(NOTE, style="dim", highlight=False)


def print_comparison(rows: Sequence[Row], before: Sequence[Row], console: Console) -> None:
    """Print how long decisions take now and then, for the rows of the same workload and size."""
    known = {_identity(row): row for row in before}
    table = Table(box=None, pad_edge=False)
    for name in ("workload", "nodes", "p50 before", "now", "change", "p99 before", "now", "change"):
        table.add_column(name, justify="left" if name == "workload" else "right", no_wrap=True)
    for row in rows:
        old = known.get(_identity(row))
        if old is None:
            table.add_row(row.workload, f"{row.nodes:,}", "-", number(row.p50_ms), "new")
            continue
        figures = [
            *(number(old.p50_ms), number(row.p50_ms), _change(old.p50_ms, row.p50_ms)),
            *(number(old.p99_ms), number(row.p99_ms), _change(old.p99_ms, row.p99_ms)),
        ]
        table.add_row(row.workload, f"{row.nodes:,}", *figures)
    console.print(table)


def _identity(row: Row) -> tuple[str, int, int]:
    return row.workload, row.nodes, row.devices


def _change(before: float | None, now: float | None) -> str:
    return "-" if not before or now is None else f"{100 * (now - before) / before:+.0f} %"
