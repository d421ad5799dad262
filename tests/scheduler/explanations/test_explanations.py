"""What a user reads about pods that do not fit: the event of `kubectl describe pod`, and the full explanation.

Each scenario is a manifest; its golden file has both texts. Read them as somebody would who has written the manifest:
each has to say what is wrong, and what could be done about it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from dra_scheduler.cli.explained import explained_lines
from dra_scheduler.report.explanation import NOTE_LIMIT
from support.explanations import NAMES, SCENARIOS, simulated
from support.golden import check_golden


@pytest.mark.parametrize("name", NAMES)
def test_who_reads_the_event_and_the_explanation_knows_what_to_do(name: str) -> None:
    result = simulated(name)
    (pending,) = result.pending
    note = result.notes[pending]
    assert len(note.encode()) <= NOTE_LIMIT
    about = (SCENARIOS / f"{name}.yaml").read_text().splitlines()[0]
    lines = explained_lines(result.pending.values(), result.viewer)
    check_golden(
        Path(__file__), f"{name}.txt", "\n".join([about, "", "Event:", f"  {note}", "", "Explanation:", *lines])
    )
