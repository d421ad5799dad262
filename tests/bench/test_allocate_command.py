"""`dra-bench allocate`: its options, the JSON form, the table, and comparing with a saved file."""

from __future__ import annotations

import io
import json
import os
from importlib.util import find_spec
from pathlib import Path

import pytest
from rich.console import Console

from dra_bench.allocate import plot, saved, show
from dra_bench.allocate.errors import PlotError, SavedFileError, UnknownWorkloadError, WorkerDiedError
from dra_bench.allocate.job import Job, run
from dra_bench.allocate.registry import GROUPS, WORKLOADS, chosen
from dra_bench.allocate.row import KEYS, Row
from dra_bench.allocate.scale.texts import texts
from dra_bench.allocate.special import SPECIAL
from dra_bench.main import main
from support.cli import Ran, run_main

GOLDEN = Path(__file__).parent / "golden"
ROWS = (
    Row("selector", 5000, 8, 3124.5, 0.31, 0.574, 0.951, 143.25, 412.0, 38.1, 1329.03, 122.9),
    Row("exponential/32-of-31", 1, 31, 5712.0, 0.165, 1.25, 0.004, 61.0),
    Row("load", 5000, 8, load_s=1.2, rss_mib=140.0),
)


def bench(*words: str) -> Ran:
    return run_main(main, ("allocate", "--seconds", "0", "--no-peers", *words))


def text_of(print_it: object, *arguments: object) -> str:
    assert callable(print_it)
    console = Console(file=io.StringIO(), width=150)
    print_it(*arguments, console)
    assert isinstance(console.file, io.StringIO)
    return "\n".join(line.rstrip() for line in console.file.getvalue().splitlines()) + "\n"


def golden(name: str, text: str) -> None:
    """Compare with a golden file; DRA_UPDATE_GOLDEN=1 writes it."""
    path = GOLDEN / name
    if os.environ.get("DRA_UPDATE_GOLDEN") == "1":
        path.write_text(text)
    assert text == path.read_text()


def test_the_table_is_readable() -> None:
    golden("allocate-table.txt", text_of(show.print_rows, ROWS))


def test_a_comparison_says_what_changed() -> None:
    before = [Row("selector", 5000, 8, p50_ms=0.62, p99_ms=0.5), Row("selector", 500, 8, p50_ms=9.0, p99_ms=9.0)]
    golden("allocate-comparison.txt", text_of(show.print_comparison, ROWS[:2], before))


def test_json_has_a_list_of_rows_with_exactly_these_keys() -> None:
    ran = bench("selector", "exponential/distinct", "--nodes", "5", "-o", "json")
    assert (ran.code, ran.err) == (0, "")
    rows = json.loads(ran.out)
    assert [row["workload"] for row in rows] == ["selector", "exponential/distinct"]
    assert list(rows[0]) == [
        *("workload", "nodes", "devices", "allocations_per_s", "p50_ms", "p99_ms", "load_s", "rss_mib"),
        *("peer_all_p50_ms", "peer_sample_p50_ms", "ratio_all", "ratio_sample"),
    ]
    assert (rows[0]["nodes"], rows[0]["devices"], rows[0]["peer_all_p50_ms"]) == (5, 8, None)
    assert rows[0]["p99_ms"] >= rows[0]["p50_ms"] > 0
    assert rows[0]["rss_mib"] > 1


def test_rows_are_saved_with_the_conditions_and_compared_with_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dra_bench.allocate.session.run_apart", run)
    path = tmp_path / "before.json"
    assert bench("fill", "--nodes", "3", "--save", str(path)).code == 0
    assert {"commit", "python", "machine", "cores", "clock"} == set(json.loads(path.read_text())["conditions"])
    ran = bench("fill", "--nodes", "3", "--compare", str(path))
    assert ran.code == 0
    assert "p50 before" in ran.out
    assert [row.workload for row in saved.read(path)] == ["fill"]


def test_what_json_prints_can_be_compared_with_too(tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    path.write_text(json.dumps([row.as_json() for row in ROWS]))
    assert tuple(saved.read(path)) == ROWS


@pytest.mark.parametrize("content", ["", "[1]", '{"rows": [{"nodes": 1}, 2]}', '{"a": 1}'])
def test_a_file_that_is_none_of_ours_is_named(tmp_path: Path, content: str) -> None:
    path = tmp_path / "broken.json"
    path.write_text(content)
    with pytest.raises(SavedFileError, match=r"broken\.json has no rows"):
        saved.read(path)
    ran = bench("fill", "--compare", str(path))
    assert (ran.code, ran.out) == (2, "")


def test_a_mistyped_workload_is_bad_usage_and_the_nearest_is_named() -> None:
    ran = bench("selektor")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == "error: there is no workload selektor: did you mean selector?\n"
    with pytest.raises(UnknownWorkloadError, match="known are fill, churn"):
        chosen(["zzzzzz"])


@pytest.mark.parametrize("words", [["--nodes", "0"], ["--nodes", "x"], ["--seconds", "-1"]])
def test_impossible_sizes_are_bad_usage(words: list[str]) -> None:
    assert run_main(main, ("allocate", *words)).code == 2


def test_groups_are_their_workloads_and_none_named_is_all() -> None:
    assert [one.name for one in chosen(["exponential"])] == GROUPS["exponential"]
    assert [one.name for one in chosen([])] == list(WORKLOADS)
    named = ("fill", "churn", "selector", "fallback", "match", "distinct", "prioritized", "partitions", "shared")
    assert {*named, "taints", "nofit"} <= set(WORKLOADS)
    assert len(GROUPS["exponential"]) >= 12


def test_a_measurement_that_fails_is_said_and_the_others_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(job: Job, progress: object) -> list[Row]:
        if job.workload == "fill":
            raise WorkerDiedError("its process ended with exit code 9")
        return [ROWS[0]]

    monkeypatch.setattr("dra_bench.allocate.session.run_apart", failing)
    ran = bench("fill", "churn", "-o", "json")
    assert (ran.code, len(json.loads(ran.out))) == (1, 1)
    assert ran.err == "error: fill: its process ended with exit code 9\n"


@pytest.mark.parametrize("name", ["first/vectorised", "first/fallback", "load", "large"])
def test_each_measurement_of_scale_has_its_rows(name: str) -> None:
    rows = list(run(Job(name, nodes=30, seconds=0), lambda what, part: None))
    assert {row.nodes for row in rows} == {30}
    assert [row.workload for row in rows] == (["large/stream", "large/change"] if name == "large" else [name])


def test_memory_is_told_after_so_many_texts_each() -> None:
    rows = list(texts("texts", 3, 0.0, lambda part: None, every=(20, 50)))
    assert [row.workload for row in rows] == ["texts/20", "texts/50"]
    assert all(row.rss_mib for row in rows)
    assert set(SPECIAL) == {"first/vectorised", "first/fallback", "load", "large", "texts"}


def test_points_of_a_plot_are_sorted_by_size() -> None:
    rows = [Row("match", 5000, 8, p50_ms=2.0, peer_sample_p50_ms=9.0), Row("match", 500, 8, p50_ms=1.0)]
    assert plot.series(rows, "nodes") == {
        ("match", "ours"): [(500, 1.0), (5000, 2.0)],
        ("match", "sample"): [(5000, 9.0)],
    }
    assert plot.series(rows, "devices")["match", "ours"] == [(8, 1.0), (8, 2.0)]


def test_without_the_library_plots_say_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plot, "find_spec", lambda name: None)
    with pytest.raises(PlotError, match=r"pip install 'dra-scheduler\[plot\]'"):
        plot.check()
    assert bench("fill", "--plot", "x.png").code == 2


@pytest.mark.skipif(find_spec("matplotlib") is None, reason="matplotlib is an extra: pip install 'dra-scheduler[plot]'")
def test_a_plot_is_an_image(tmp_path: Path) -> None:
    path = tmp_path / "plot.png"
    plot.draw(path, ROWS, ROWS)
    assert path.read_bytes().startswith(b"\x89PNG")
    with pytest.raises(PlotError, match="cannot be written"):
        plot.draw(tmp_path / "missing" / "plot.png", ROWS, ROWS)


def test_keys_are_the_fields_of_a_row() -> None:
    assert tuple(ROWS[0].as_json()) == KEYS
