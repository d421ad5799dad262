"""docs/correctness.md says what the records of runs say."""

from __future__ import annotations

import re

import pytest

from dra_bench.oracle.model.bugs import Bug
from dra_bench.record import Record
from support.tools import tool

render = tool("render_correctness")


def test_the_page_is_up_to_date() -> None:
    assert render.DOCUMENT.read_text() == render.document(), "run python tools/render_correctness.py"


def test_every_bug_that_the_oracle_knows_is_described() -> None:
    assert set(render.BUGS) == {int(bug) for bug in Bug}


@pytest.mark.parametrize("name", ["oracle", "fuzz"])
def test_records_can_be_read_and_name_commits(name: str) -> None:
    path = render.RESULTS / f"{name}.json"
    for run in Record(path if path.exists() else None).runs:
        assert re.fullmatch(r"[0-9a-f]{12}\+?", run.commit), f"{path.name} has a run at {run.commit!r}"
        assert run.first <= run.last
        assert sum(run.counts.values()) == run.last - run.first + 1


def test_counts_of_bugs_that_come_together_count_for_each(monkeypatch: pytest.MonkeyPatch) -> None:
    run = {"study": "clusters", "counts": {"bug 6+7": 2, "bug 7": 3, "equal": 5}}
    monkeypatch.setattr(render, "runs", lambda _: [run])
    text = "\n".join(render.bugs())
    assert re.search(r"^\| 6 \|.*\| 2 \|$", text, re.MULTILINE)
    assert re.search(r"^\| 7 \|.*\| 5 \|$", text, re.MULTILINE)
