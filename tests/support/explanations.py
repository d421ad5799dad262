"""The scenarios of pods that do not fit."""

from __future__ import annotations

from pathlib import Path

from dra_api.manifests import read_paths
from dra_scheduler.cli.simulate import settings_for
from dra_scheduler.cli.simulation import Simulated, simulate

SCENARIOS = Path(__file__).parents[1] / "scheduler" / "explanations" / "scenarios"
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
