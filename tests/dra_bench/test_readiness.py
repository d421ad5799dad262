from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from dra_bench.controlplane.errors import ComponentFailedError, PortConflictError
from dra_bench.controlplane.readiness import answers_ok, check_alive, wait_ready


@dataclass
class Program:
    name: str = "thing"
    exit_code: int | None = None
    log: str = "last words"

    def log_tail(self) -> str:
        return self.log


@dataclass
class Clock:
    now: float = 0.0
    slept: list[float] = field(default_factory=list)

    def read(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def test_waiting_ends_when_the_probe_says_yes() -> None:
    clock, answers = Clock(), iter([False, False, True])
    wait_ready(Program(), lambda: next(answers), seconds=5, clock=clock.read, sleep=clock.sleep)
    assert len(clock.slept) == 2


def test_waiting_is_bounded_and_ends_with_the_log() -> None:
    clock = Clock()
    with pytest.raises(ComponentFailedError, match=r"thing was not ready after 5 s; the end of its log:\nlast words"):
        wait_ready(Program(), lambda: False, seconds=5, clock=clock.read, sleep=clock.sleep)
    assert 5 <= clock.now < 5.2


def test_a_component_that_has_ended_is_not_waited_for() -> None:
    clock = Clock()
    with pytest.raises(ComponentFailedError, match=r"thing ended with exit code 1(?s:.*)last words"):
        wait_ready(Program(exit_code=1), lambda: False, seconds=5, clock=clock.read, sleep=clock.sleep)
    assert clock.slept == []


def test_a_component_beside_it_that_has_ended_is_reported_instead_of_the_one_that_waits_for_it() -> None:
    with pytest.raises(ComponentFailedError, match="etcd ended with exit code 2"):
        wait_ready(Program(), lambda: True, seconds=5, beside=[Program("etcd", exit_code=2)])


def test_an_answer_from_a_stranger_on_our_port_does_not_count() -> None:
    program = Program(log="listen tcp 127.0.0.1:1: bind: address already in use")

    def probe() -> bool:
        program.exit_code = 1
        return True

    with pytest.raises(PortConflictError, match="thing ended with exit code 1"):
        wait_ready(program, probe, seconds=5)


def test_an_empty_log_is_said_to_be_empty() -> None:
    with pytest.raises(ComponentFailedError, match="its log is empty"):
        check_alive([Program(exit_code=0, log="")])


def test_nobody_listening_is_not_ready() -> None:
    assert not answers_ok("http://127.0.0.1:1/health")
