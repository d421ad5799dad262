"""docs/conformance.md says what the record of Kubernetes' own tests says."""

from __future__ import annotations

import re

from dra_bench.upstream.expected import unexpected
from support.tools import tool

render = tool("render_conformance")


def test_the_page_is_up_to_date() -> None:
    assert render.DOCUMENT.read_text() == render.document(), "run python tools/render_conformance.py"


def test_nothing_failed_that_was_not_expected_to() -> None:
    for suite, tests in render.load().items():
        ours = {name: found["ours"]["outcome"] for name, found in tests.items() if "ours" in found}
        assert unexpected(ours) == [], suite


def test_results_name_commits_and_days() -> None:
    for tests in render.load().values():
        for found in tests.values():
            for one in found.values():
                assert re.fullmatch(r"[0-9a-f]{12}\+?", one["commit"])
                assert re.fullmatch(r"\d{4}-\d{2}-\d{2}", one["date"])


def test_outcomes_are_counted_per_scheduler_and_only_ours_is_excused() -> None:
    failed = {"outcome": "fail"}
    tests = {
        "TestDRA/all/FilterTimeout/enabled": {"ours": failed, "reference": failed},
        "TestDRA/all/Pod": {"ours": {"outcome": "pass"}},
    }
    assert render.tally(tests, set(tests), "ours") in ("1 pass, 1 fail as expected", "1 fail as expected, 1 pass")
    assert render.tally(tests, set(tests), "reference") in ("1 fail, 1 not run", "1 not run, 1 fail")
