"""Every case of kube-scheduler's DynamicResources plugin has a test of ours, or a reason why it has none."""

from __future__ import annotations

import ast
import os
import re
from functools import cache
from pathlib import Path

import pytest

from support.plugin_cases import WHOLE_CYCLES
from support.plugin_group_cases import GROUPS, GROUPS_ON_NODES, GROUPS_WHOLE_CYCLES
from support.plugin_part_cases import BOOKS, HINTS, ON_NODES, REQUESTS, SCORES

TESTS = Path(__file__).parents[1]
FOLDER = os.environ.get("DRA_CONFORMANCE", "")
CASES = TESTS if not FOLDER else Path(FOLDER) / "plugin-cases.md"
NAMES = re.compile(r"`([^`]+)`(?=(?: \([^)]*\))?(?:, `[^`]+`(?: \([^)]*\))?)*:)")
TABLE: dict[str, dict[str, str]] = {"TestPlugin": WHOLE_CYCLES | GROUPS_WHOLE_CYCLES}
for tables in (HINTS, SCORES, BOOKS, REQUESTS, ON_NODES, GROUPS, GROUPS_ON_NODES):
    for test, cases in tables.items():
        TABLE.setdefault(test, {}).update(cases)
ENTRIES = [(test, case, entry) for test, cases in TABLE.items() for case, entry in cases.items()]


def cases_of(text: str) -> set[tuple[str, str]]:
    """The cases that the list names: (Kubernetes' test, case)."""
    found = set()
    heading = ""
    for line in text.splitlines():
        if line.startswith("## "):
            heading = re.split(r"[(,]", line[3:])[0].strip()
        elif line.startswith("- ") and heading:
            own = re.match(r"- (Test\w+) `", line)
            found |= {(own[1] if own else heading, name) for name in NAMES.findall(line)}
    return found


@cache
def names_in(file: str) -> frozenset[str]:
    tree = ast.parse((TESTS / file).read_text())
    functions = (node for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return frozenset(node.name for node in functions if node.name.startswith("test_"))


@pytest.mark.skipif(not FOLDER, reason="DRA_CONFORMANCE does not name the folder with the conformance data")
def test_every_case_is_in_the_table() -> None:
    listed = cases_of(CASES.read_text())
    assert len(listed) > 270
    known = {(test, case) for test, case, _ in ENTRIES}
    assert listed - known == set()
    assert known - listed == set()


@pytest.mark.parametrize("test", TABLE)
def test_every_named_test_exists_and_everything_else_is_a_reason(test: str) -> None:
    for case, entry in TABLE[test].items():
        file, colons, name = entry.partition("::")
        if colons:
            assert name in names_in(file), f"{test}: {case}: {entry}"
        else:
            assert entry.endswith("."), f"{test}: {case}: a reason is a sentence"
            assert " " in entry


def test_names_are_read_from_the_list() -> None:
    text = "- a note with `code`: no case\n## TestA, TestB (more)\n- `one`: text `no`\n- `two` (x), `three`: text\n"
    text += "## Others\n- TestC `four`: a; `five`, `six`: b\n"
    assert cases_of(text) == {
        *(("TestA", name) for name in ("one", "two", "three")),
        *(("TestC", name) for name in ("four", "five", "six")),
    }
