"""The page about commands names what there is, with the words of the programs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dra_scheduler.audit.finding import NAMES
from dra_scheduler.shadow.opinion import KINDS

PAGE = (Path(__file__).resolve().parents[2] / "docs/commands.md").read_text()


@pytest.mark.parametrize(("title", "names"), [("## audit", NAMES), ("## run --shadow", KINDS)])
def test_every_name_is_in_the_table_with_its_meaning(title: str, names: dict[str, str]) -> None:
    section = PAGE.partition(f"{title}\n")[2].partition("\n## ")[0]
    assert dict(re.findall(r"^\| `([a-z-]+)` \| (.+) \|$", section, re.MULTILINE)) == dict(names)
