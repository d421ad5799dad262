"""Results as tables for people."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table

from dra_bench.cluster.latency import LatencyRow
from dra_bench.cluster.row import Row, ratio, schedulers, spread
from dra_bench.controlplane.flags import SCHEDULER


def rates(rows: Sequence[Row]) -> Table:
    """Medians over the rounds, with the smallest and largest value; ratios are taken within a round."""
    first = rows[0]
    what = "CEL on model and memory" if first.selector else "plain class"
    table = Table(title=f"{first.nodes} nodes x {first.devices} devices, {first.pods} pods, {what}")
    for name in ("scheduler", "rounds", "pods/s", f"of {SCHEDULER}", "of the ceiling", "writes/pod", "double"):
        table.add_column(name, justify="left" if name == "scheduler" else "right")
    for name in schedulers(rows):
        own = [row for row in rows if row.scheduler == name]
        relative = [ratio(rows, name, peer) for peer in (SCHEDULER, "ceiling")]
        table.add_row(
            name,
            str(len(own)),
            spread(rows, name, lambda row: row.pods_per_s).text(1),
            *("-" if one is None else one.text(2) for one in relative),
            spread(rows, name, lambda row: row.writes_per_pod).text(2),
            str(sum(row.double_allocations for row in own)),
        )
    return table


def latencies(rows: Sequence[LatencyRow]) -> Table:
    """One line per scheduler and round."""
    first = rows[0]
    table = Table(title=f"{first.rate:g} pods/s on {first.nodes} nodes x {first.devices} devices: created to bound")
    for name in ("scheduler", "round", "pods", "reached/s", "p50 ms", "p99 ms"):
        table.add_column(name, justify="left" if name == "scheduler" else "right")
    for row in rows:
        numbers = (str(row.round), str(row.pods), f"{row.reached:.1f}", f"{row.p50_ms:.0f}", f"{row.p99_ms:.0f}")
        table.add_row(row.scheduler, *numbers)
    return table
