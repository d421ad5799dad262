from __future__ import annotations

import sys
from pathlib import Path

import pytest

from dra_bench.oracle.errors import OracleAnswerError, OracleMissingError, OraclePanicError, OracleStoppedError
from dra_bench.oracle.process import Oracle

STAND_IN = """#!{python}
import json, os, sys, time
for line in sys.stdin:
    question = json.loads(line)
    marker = os.path.join(os.path.dirname(__file__), "died")
    if question["kind"] == "die" or question["kind"] == "die-once" and not os.path.exists(marker):
        open(marker, "w").close()
        sys.exit(3)
    if question["kind"] == "silent":
        time.sleep(600)
    answer = {{"id": question["id"], "echo": question["kind"], "pid": os.getpid()}}
    if question["kind"] == "bad":
        answer["badQuestion"] = "no such kind"
    if question["kind"] == "panic":
        answer["panic"] = "index out of range"
    print(json.dumps(answer), flush=True)
"""


@pytest.fixture
def stand_in(tmp_path: Path) -> Path:
    path = tmp_path / "oracle"
    path.write_text(STAND_IN.format(python=sys.executable))
    path.chmod(0o755)
    return path


def test_a_question_is_answered_by_one_process_as_long_as_it_lives(stand_in: Path) -> None:
    with Oracle(stand_in) as oracle:
        first, second = oracle.ask({"kind": "a"}), oracle.ask({"kind": "b"})
    assert (first["echo"], second["echo"]) == ("a", "b")
    assert first["pid"] == second["pid"]


def test_a_process_that_died_is_started_again_and_asked_again(stand_in: Path) -> None:
    with Oracle(stand_in) as oracle:
        assert oracle.ask({"kind": "die-once"})["echo"] == "die-once"
        assert oracle.restarts == 1


@pytest.mark.parametrize("kind", ["die", "silent"])
def test_a_question_that_gets_no_answer_twice_is_to_blame_and_the_next_one_is_answered(
    stand_in: Path, kind: str
) -> None:
    with Oracle(stand_in, patience=0.3) as oracle:
        with pytest.raises(OracleStoppedError, match=kind):
            oracle.ask({"kind": kind})
        oracle.patience = 20.0
        assert oracle.ask({"kind": "a"})["echo"] == "a"


def test_a_bad_question_and_a_panic_are_errors_with_the_oracles_reason(stand_in: Path) -> None:
    with Oracle(stand_in) as oracle:
        with pytest.raises(OracleAnswerError, match="no such kind"):
            oracle.ask({"kind": "bad"})
        with pytest.raises(OraclePanicError, match="index out of range"):
            oracle.ask({"kind": "panic"})


def test_a_binary_that_is_not_there_names_the_command_that_builds_it(tmp_path: Path) -> None:
    with pytest.raises(OracleMissingError, match="make oracle"):
        Oracle(tmp_path / "nothing")
