"""docs/feature-gates.md lists exactly the gates that decide something, with their defaults and prerequisites."""

from __future__ import annotations

import re
from pathlib import Path

from dra_scheduler.feature_gates import NEEDS, OURS

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "feature-gates.md").read_text()
ROWS = re.findall(r"^\| (\w+) \| ([^|]+) \| ([^|]+) \|$", PAGE, re.MULTILINE)[1:]


def test_the_table_has_every_gate_once() -> None:
    assert [name for name, _, _ in ROWS] == ["DynamicResourceAllocation", *sorted(set(OURS) - {ROWS[0][0]})]


def test_the_table_says_since_when_a_gate_is_on() -> None:
    for name, since, _ in ROWS[1:]:
        minors = [minor for minor, _, on in OURS[name] if on]
        assert since == (f"1.{minors[0]}" if minors else "-"), name


def test_the_table_names_what_a_gate_needs() -> None:
    for name, _, text in ROWS:
        for needed in NEEDS.get(name, ()):
            assert needed in text or name == "DRAResourceClaimDeviceStatus", (name, needed)
