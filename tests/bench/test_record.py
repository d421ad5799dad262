from __future__ import annotations

from pathlib import Path

import pytest

from dra_bench.record import Record, RecordError, Run


def test_adjacent_seeds_of_one_commit_become_one_run_and_survive_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "results" / "oracle.json"
    record = Record(path)
    record.add(Run("clusters", "abc", 0, 499, 1.5, {"equal": 499, "bug 5": 1}))
    record.add(Run("clusters", "abc", 500, 999, 2.0, {"equal": 500}))
    record.add(Run("expressions", "abc", 0, 9, 0.1, {"equal": 10}))
    clusters, expressions = Record(path).runs
    assert (clusters.first, clusters.last, clusters.seconds) == (0, 999, 3.5)
    assert clusters.counts == {"bug 5": 1, "equal": 999}
    assert (expressions.study, expressions.last) == ("expressions", 9)


def test_a_run_goes_on_after_what_is_recorded_for_the_same_commit_only(tmp_path: Path) -> None:
    record = Record(tmp_path / "oracle.json")
    record.add(Run("clusters", "abc", 0, 499))
    assert record.next_seed("clusters", "abc", 0) == 500
    assert record.next_seed("clusters", "abc", 200) == 500
    assert record.next_seed("clusters", "abc", 700) == 700
    assert record.next_seed("clusters", "def", 0) == 0
    assert record.next_seed("quantities", "abc", 0) == 0


def test_without_a_file_nothing_is_written_and_a_broken_file_is_named(tmp_path: Path) -> None:
    Record(None).add(Run("clusters", "abc", 0, 9))
    path = tmp_path / "oracle.json"
    path.write_text("[]")
    with pytest.raises(RecordError, match=r"oracle\.json is no file of results"):
        Record(path)
