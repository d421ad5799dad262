"""docs/lint.md: the examples of every finding."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "lint.md").read_text()
_BLOCK = re.compile(r"^```yaml\n(.*?)^```", re.DOTALL | re.MULTILINE)
_SECTION = re.compile(r"^## `([a-z-]+)`\n\n(.*?)(?=^## |\Z)", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Section:
    """What the page says about a finding."""

    text: str
    bad: str
    good: str


def _section(body: str) -> Section:
    bad, good = _BLOCK.findall(body)
    return Section(" ".join(body.partition("Bad:")[0].split()), bad, good)


BASE: str = _BLOCK.findall(PAGE)[0]
SECTIONS = {name: _section(body) for name, body in _SECTION.findall(PAGE)}
