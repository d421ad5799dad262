"""docs/performance.md and its plot are what the record of measurements says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.tools import tool

render = tool("render_performance")


def test_the_page_and_the_plot_are_up_to_date() -> None:
    assert render.DOCUMENT.read_text() == render.document(), "run python tools/render_performance.py"
    rows = [row for run in render.load()["runs"] for row in run["rows"]]
    assert render.PLOT.read_text() == render.svg(rows), "run python tools/render_performance.py"


def row(workload: str, nodes: int, p50: float) -> dict[str, object]:
    names = ("p99_ms", "allocations_per_s", "load_s", "rss_mib", "peer_all_p50_ms", "peer_sample_p50_ms")
    empty = dict.fromkeys((*names, "ratio_all", "ratio_sample"))
    return {"workload": workload, "nodes": nodes, "devices": 8, "p50_ms": p50, **empty}


def test_newer_rows_replace_older_ones_and_keep_their_conditions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(render, "RECORD", tmp_path / "record.json")
    for commit, p50 in (("a", 1.0), ("b", 2.0)):
        path = tmp_path / f"{commit}.json"
        rows = [row("selector", 5000, p50), row(commit, 1, p50)]
        path.write_text(json.dumps({"conditions": {"commit": commit}, "rows": rows}))
        render.take([path])
    found = {
        one["workload"]: (run["conditions"]["commit"], one["p50_ms"])
        for run in render.load()["runs"]
        for one in run["rows"]
    }
    assert found == {"selector": ("b", 2.0), "a": ("a", 1.0), "b": ("b", 2.0)}


def test_workloads_at_five_sizes_are_plotted() -> None:
    rows = [row("match", nodes, nodes / 1000) for nodes in (500, 1000, 2000, 5000, 10000)] + [row("nofit", 500, 1.0)]
    assert list(render.by_nodes(rows)) == ["match"]
    plot = render.svg(rows)
    assert plot.count("<polyline") == 1
    assert ">10,000<" in plot
