"""The parts of docs/performance.md about whole clusters."""

from __future__ import annotations

from dra_bench.cluster.row import Row
from dra_bench.performance_page import memory, profile, races, workloads
from dra_bench.upstream.rounds import Round


def test_medians_and_ratios_of_races_are_taken_over_rounds() -> None:
    rows = [
        Row(name, 500, 10, False, 1000, pods_per_s, 4.0, 0, number)
        for number, speeds in ((1, (60.0, 50.0, 100.0)), (2, (90.0, 60.0, 100.0)))
        for name, pods_per_s in zip(("ours", "kube-scheduler", "ceiling"), speeds, strict=True)
    ]
    text = "\n".join(races(rows))
    ours = "ours | 2 | 75.0 (60.0-90.0) | 1.35 (1.20-1.50) | 0.75 (0.60-0.90) | 4.00 (4.00-4.00) | 0 |"
    assert f"| 500 x 10, 1,000 pods, plain | {ours}" in text


def test_a_profile_has_a_column_for_each_scheduler() -> None:
    stages = [{"name": "write: binding", "ms": 0.5, "http_ms": 0.4}, {"name": "event loop", "ms": 0.1, "http_ms": 0.0}]
    one = {"scheduler": "ours", "nodes": 1, "devices": 2, "pods": 3, "selector": True, "ms": 0.6, "stages": stages}
    other = one | {"scheduler": "ceiling", "stages": stages[1:]}
    text = "\n".join(profile([one, other]))
    assert "| stage | ours | ceiling |" in text
    assert "| write: binding | 0.50 (0.40) |  |" in text
    assert "| event loop | 0.10 | 0.10 |" in text


def test_memory_has_a_line_for_each_size() -> None:
    row = {"nodes": 5000, "devices": 8, "pods": 10_000, "bound": 9, "ready_mib": 1, "peak_mib": 2, "end_mib": 3}
    assert "| 5,000 x 8 | 10,000 | 9 | 1 | 2 | 3 |" in "\n".join(memory([row]))


def test_a_workload_of_kubernetes_shows_medians_and_the_spread_of_the_ratios() -> None:
    rounds = [Round("dra/Some/half", ours, 10.0, "2026-01-02", "abc", 9.0) for ours in (30.0, 10.0, 20.0)]
    text = "\n".join(workloads([*rounds, Round("dra/Other/empty", 30.0, 20.0, "2026-01-01", "def", 9.0)]))
    assert "| Some/half | 3 | 20.0 (10.0-30.0) | 10.0 (10.0-10.0) | 2.00 (1.00-3.00) |" in text
    assert "| Other/empty | 1 | 30.0 | 20.0 | 1.50 |" in text
    assert "Measured from 2026-01-01 to 2026-01-02 at abc, def." in text
