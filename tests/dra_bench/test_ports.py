from __future__ import annotations

import random
import socket
from pathlib import Path

import pytest

from dra_bench.controlplane import ports
from dra_bench.controlplane.errors import ControlPlaneError
from dra_bench.controlplane.ports import LOOPBACK, LOWEST, ephemeral_start, is_free, pick_ports


def test_picked_ports_are_different_and_no_outgoing_connection_gets_them() -> None:
    picked = pick_ports(20)
    assert len(set(picked)) == 20
    assert all(LOWEST <= port < ephemeral_start() for port in picked)


def test_a_port_that_somebody_listens_on_is_not_free_and_not_picked() -> None:
    with socket.create_server((LOOPBACK, 0)) as server:
        port = server.getsockname()[1]
        assert not is_free(port)

        class Stubborn(random.Random):
            answers = iter([port, port, LOWEST + 7])

            def randrange(self, *args: int) -> int:  # type: ignore[override]
                return next(self.answers)

        assert pick_ports(1, chooser=Stubborn(), start=65_536) == [LOWEST + 7]


def test_a_port_that_was_picked_once_is_not_picked_again() -> None:
    class Repeating(random.Random):
        answers = iter([LOWEST + 1, LOWEST + 1, LOWEST + 2])

        def randrange(self, *args: int) -> int:  # type: ignore[override]
            return next(self.answers)

    assert pick_ports(2, chooser=Repeating()) == [LOWEST + 1, LOWEST + 2]


def test_too_few_free_ports_is_an_error_that_counts_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ports, "is_free", lambda port: port == LOWEST)
    with pytest.raises(ControlPlaneError, match=rf"only \d of 2 free ports between {LOWEST} and {LOWEST + 5}"):
        pick_ports(2, start=LOWEST + 5)


def test_a_range_of_outgoing_ports_that_leaves_no_room_is_ignored() -> None:
    assert len(pick_ports(2, start=1024)) == 2


def test_the_range_of_outgoing_ports_comes_from_the_kernel_or_is_linux_default(tmp_path: Path) -> None:
    setting = tmp_path / "range"
    assert ephemeral_start(setting) == 32_768
    setting.write_text("")
    assert ephemeral_start(setting) == 32_768
    setting.write_text("40000\t60999\n")
    assert ephemeral_start(setting) == 40_000
