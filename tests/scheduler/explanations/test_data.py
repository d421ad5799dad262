"""What machines get of an explanation, and that nobody reads of other namespaces what is not theirs."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from dra_scheduler.cli.explained import explained_data, explained_lines
from dra_scheduler.report.explanation import Viewer, as_data, full, summary
from support.cli import run
from support.explanations import NAMES, SCENARIOS, simulated


def test_events_count_the_claims_of_other_namespaces_and_commands_name_them() -> None:
    result = simulated("all-in-use")
    assert "render" not in result.notes["default", "mine"]
    assert "1 of other namespaces" in result.notes["default", "mine"]
    assert any("team-b/render" in line for line in explained_lines(result.pending.values(), result.viewer))


def test_no_form_of_an_explanation_tells_a_namespace_the_names_of_another() -> None:
    result = simulated("all-in-use")
    viewer = Viewer("default", result.viewer.name_of)
    (pod,) = result.pending.values()
    assert pod.details is not None
    forms = (
        summary(pod.details, viewer),
        *full(pod.details, viewer),
        orjson.dumps(as_data(pod.details, viewer)).decode(),
    )
    assert not any("render" in form or "team-b" in form for form in forms)
    assert as_data(pod.details, viewer)["claims"][0]["otherClaims"] == 1


@pytest.mark.parametrize("name", NAMES)
def test_the_data_of_every_explanation_is_json(name: str) -> None:
    result = simulated(name)
    (told,) = explained_data(result.pending.values(), result.viewer)
    assert orjson.loads(orjson.dumps(told)) == told
    assert told["explanation"]
    assert told["summary"]


def test_the_data_says_which_condition_of_a_selector_fails_and_what_devices_have() -> None:
    files = [word for name in ("gpus", "too-much-memory") for word in ("-f", str(SCENARIOS / f"{name}.yaml"))]
    ran = run("simulate", *files, "-o", "json", "--explain")
    assert ran.code == 1
    (told,) = orjson.loads(ran.out)["explanations"]
    (request,) = told["explanation"]["claims"][0]["requests"]
    (fact,) = request["reasons"][0]["facts"]
    assert (fact["fact"], fact["false"], fact["devices"]) == ("Condition", 12, 12)
    assert (fact["values"][0]["name"], fact["values"][0]["most"]) == ("gpu.example.com/memory", "40Gi")


def test_simulate_explains_in_full_when_asked_and_else_in_one_line(tmp_path: Path) -> None:
    files = [word for name in ("gpus", "too-much-memory") for word in ("-f", str(SCENARIOS / f"{name}.yaml"))]
    short, long = run("simulate", *files).out, run("simulate", *files, "--explain").out
    assert "the most that one of them has is 40Gi" in short.replace("\n", " ")
    assert "closest is" not in short
    assert "closest is" in long
    assert "Pod default/mine is pending" in long
