"""The fuzzer: its inputs come from seeds alone, its studies hold, and what fails is caught and made small."""

from __future__ import annotations

import argparse
import itertools
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dra_bench.fuzz import command
from dra_bench.fuzz.runner import Failure, Runner
from dra_bench.fuzz.studies import STUDIES
from dra_bench.fuzz.study import PropertyError, SlowError, Study, Watch
from dra_bench.fuzz.text import MAX_TEXT, smaller

SEEDS = 60


def stopped() -> float:
    """A clock that stands still: what takes time is no matter here."""
    return 0.0


@pytest.mark.parametrize("name", sorted(STUDIES))
def test_everything_holds_for_the_first_seeds(name: str) -> None:
    runner = Runner(STUDIES[name], stopped)
    for seed in range(SEEDS):
        found = runner.run(seed)
        assert isinstance(found, str), f"seed {seed}: {runner.report(found)}"


@pytest.mark.parametrize("name", sorted(STUDIES))
def test_a_seed_always_makes_the_same_input(name: str) -> None:
    make = STUDIES[name].make
    made = [make(seed) for seed in range(30)]
    assert made == [make(seed) for seed in range(30)]
    assert len({repr(one) for one in made}) > 15


@pytest.mark.parametrize("name", ["selectors", "quantities", "semvers", "queries"])
def test_texts_stay_within_what_the_api_server_takes(name: str) -> None:
    made = (STUDIES[name].make(seed) for seed in range(300))
    assert max(len(one if isinstance(one, str) else one[0]) for one in made) <= MAX_TEXT


def numbers(check: Callable[[str, Watch], str]) -> Study:
    return Study(lambda seed: "x" * seed, check, smaller)


def test_a_property_that_does_not_hold_is_reported_with_a_small_input() -> None:
    def short(text: str, _: Watch) -> str:
        if len(text) > 7:
            raise PropertyError(f"{len(text)} characters")
        return "short"

    runner = Runner(numbers(short), stopped)
    assert runner.run(7) == "short"
    failure = runner.run(90)
    assert isinstance(failure, Failure)
    assert runner.report(failure) == "8 characters\n  input: 'xxxxxxxx'"


def test_any_other_exception_is_a_failure_with_its_traceback() -> None:
    def broken(text: str, _: Watch) -> str:
        return str(1 // (len(text) - 3))

    failure = Runner(numbers(broken), stopped).run(3)
    assert isinstance(failure, Failure)
    assert failure.shape.startswith("ZeroDivisionError")
    assert "Traceback" in failure.detail


def ticking(*taken: float) -> Callable[[], float]:
    """A clock by which the measured parts take so many seconds, the last one for ever."""

    def ticks() -> Iterator[float]:
        now = 0.0
        for seconds in itertools.chain(taken, itertools.repeat(taken[-1])):
            yield now
            now += seconds
            yield now

    return ticks().__next__


def measured(_: Any, watch: Watch) -> str:
    with watch.at_most(100, "work"):
        return "done"


def test_what_is_slow_once_is_tried_again_and_what_stays_slow_fails() -> None:
    runner = Runner(numbers(measured), ticking(0.5, 0.02))
    assert runner.run(1) == "done"
    assert runner.worst["work"] == pytest.approx(20)
    failure = Runner(numbers(measured), ticking(0.5)).run(1)
    assert isinstance(failure, Failure)
    assert failure.shape == "SlowError work"


def test_a_watch_keeps_the_worst_of_each_part() -> None:
    watch = Watch(ticking(0.03, 0.01, 0.2))
    for _ in range(2):
        with watch.at_most(50, "read"):
            pass
    with pytest.raises(SlowError, match="read took 200 ms, more than 50"), watch.at_most(50, "read"):
        pass
    assert watch.worst["read"] == pytest.approx(200)


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """Run the command over studies of this test."""

    def odd(text: str, watch: Watch) -> str:
        if len(text) == 9:
            raise PropertyError("nine")
        return measured(text, watch) if len(text) % 2 else "even"

    monkeypatch.setattr(command, "STUDIES", {"texts": numbers(odd)})
    monkeypatch.setattr(command, "current_commit", lambda: "abc")
    monkeypatch.setattr(command, "BLOCK", 4)

    def execute(*words: str) -> int:
        parser = argparse.ArgumentParser()
        command.add_arguments(parser)
        return command.execute(parser.parse_args(words))

    return execute


def test_the_record_has_seeds_kinds_and_time_and_a_second_run_goes_on_after_it(
    run: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "fuzz.json"
    assert run("texts", "--seeds", "0-5", "--results", str(path)) == 0
    assert run("--seeds", "0-8", "--results", str(path)) == 0
    (entry,) = json.loads(path.read_text())["runs"]
    assert (entry["study"], entry["commit"], entry["first"], entry["last"]) == ("texts", "abc", 0, 8)
    assert entry["counts"] == {"done": 4, "even": 5}
    assert entry["kubernetes"] == ""
    assert "texts: seeds 0-5 are in" in capsys.readouterr().out


def test_a_failure_is_printed_and_ends_in_exit_code_1(
    run: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("texts", "--seeds", "9") == 1
    assert "texts seed 9: nine\n  input: 'xxxxxxxxx'" in capsys.readouterr().out


def test_a_study_that_is_not_there_is_refused_by_name(
    run: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("tests") == 2
    assert "there is no study 'tests'; use texts" in capsys.readouterr().err
    (tmp_path / "fuzz.json").write_text("[]")
    assert run("--results", str(tmp_path / "fuzz.json")) == 2


def test_the_times_of_the_worst_selectors_are_shown_piece_by_piece(
    run: Callable[..., int], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shapes = {"fine": lambda: "device.driver == 'a'", "broken": lambda: "((("}
    monkeypatch.setattr("dra_bench.fuzz.worst.SHAPES", shapes)
    assert run("--times") == 0
    head, fine, broken = capsys.readouterr().out.splitlines()
    assert head.split()[:5] == ["shape", "length", "compile", "evaluate", "masks"]
    assert fine.split()[0] == "fine"
    assert fine.split()[-1] == "False"
    assert broken.split()[3:5] == ["-", "-"]
