"""Plots: time against nodes, or against devices per node, one line per workload."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from dra_bench.allocate.errors import PlotError
from dra_bench.allocate.row import Row

NODES = (500, 1000, 2000, 5000, 10_000, 20_000, 50_000)
DEVICES = (2, 4, 8, 16, 32, 64)
"""Sizes that are measured for a plot, where the user gives none."""
Series = dict[tuple[str, str], list[tuple[int, float]]]


def series(rows: Sequence[Row], against: str) -> Series:
    """Return the points by workload and whose they are (ours, Kubernetes all, Kubernetes sample).

    `against` is `nodes` or `devices`.
    """
    found: Series = defaultdict(list)
    for row in rows:
        at = row.nodes if against == "nodes" else row.devices
        figures = (("ours", row.p50_ms), ("all nodes", row.peer_all_p50_ms), ("sample", row.peer_sample_p50_ms))
        for who, value in figures:
            if value is not None:
                found[row.workload, who].append((at, value))
    return {key: sorted(points) for key, points in found.items()}


def check() -> None:
    """Raise PlotError, with what to do, if plots cannot be drawn here."""
    if find_spec("matplotlib") is None:
        raise PlotError("plots need matplotlib: pip install 'dra-scheduler[plot]'")


def draw(path: Path, by_nodes: Sequence[Row], by_devices: Sequence[Row]) -> None:
    """Write the two plots side by side as an image. Raises PlotError."""
    check()
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(14, 6))
    for axis, rows, against in zip(axes, (by_nodes, by_devices), ("nodes", "devices"), strict=True):
        for (workload, who), points in series(rows, against).items():
            style = {"ours": "-", "all nodes": ":", "sample": "--"}[who]
            name = workload if who == "ours" else f"{workload}, Kubernetes {who}"
            axis.plot([x for x, _ in points], [y for _, y in points], style, marker="o", markersize=3, label=name)
        axis.set(xscale="log", yscale="log", ylabel="p50 of a decision, ms")
        axis.set_xlabel("nodes" if against == "nodes" else "devices per node")
        axis.grid(True, which="major", alpha=0.3)
        axis.legend(fontsize=7)
    figure.tight_layout()
    try:
        figure.savefig(path, dpi=120)
    except (OSError, ValueError) as error:
        raise PlotError(f"{path} cannot be written: {error}") from error
    finally:
        pyplot.close(figure)
