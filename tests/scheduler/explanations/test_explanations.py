"""What a user reads about pods that do not fit: the event of `kubectl describe pod`, and the full explanation.

Each scenario is a manifest; its golden file has both texts. Read them as somebody would who has written the manifest:
each has to say what is wrong, and what could be done about it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from dra_api.manifests import read_paths
from dra_scheduler.cli.explained import explained_lines
from dra_scheduler.cli.simulate import settings_for
from dra_scheduler.cli.simulation import Simulated, simulate
from dra_scheduler.report.explanation import NOTE_LIMIT
from support.golden import check_golden

SCENARIOS = Path(__file__).parent / "scenarios"
WITH = "# with: "
NAMES = sorted(path.stem for path in SCENARIOS.glob("*.yaml") if path.stem != "gpus")


def simulated(name: str) -> Simulated:
    """Run a scenario, with the manifest that its second line names."""
    path = SCENARIOS / f"{name}.yaml"
    shared = [str(SCENARIOS / line[len(WITH) :]) for line in path.read_text().splitlines()[:3] if line.startswith(WITH)]
    manifests = read_paths([*shared, str(path)])
    assert not manifests.problems, manifests.problems
    result = simulate(manifests.documents, settings_for(manifests.documents))
    assert not result.problems, result.problems
    return result


@pytest.mark.parametrize("name", NAMES)
def test_who_reads_the_event_and_the_explanation_knows_what_to_do(name: str) -> None:
    result = simulated(name)
    (pending,) = result.pending
    note = result.notes[pending]
    assert len(note.encode()) <= NOTE_LIMIT
    about = (SCENARIOS / f"{name}.yaml").read_text().splitlines()[0]
    lines = [
        about,
        "",
        "Event:",
        f"  {note}",
        "",
        "Explanation:",
        *explained_lines(result.pending.values(), result.viewer),
    ]
    check_golden(Path(__file__), f"{name}.txt", "\n".join(lines))
