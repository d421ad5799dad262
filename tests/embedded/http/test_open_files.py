"""How many connections there may be, by the system's limits."""

from __future__ import annotations

import resource

import pytest

from dra_embedded.http.open_files import RESERVE, connections_allowed


def limited(monkeypatch: pytest.MonkeyPatch, soft: int, hard: int, refusal: Exception | None = None) -> list[int]:
    """The system with these limits; the soft limits that are set."""
    limits = []

    def set_limit(_which: int, limit: tuple[int, int]) -> None:
        if refusal is not None:
            raise refusal
        limits.append(limit[0])

    monkeypatch.setattr(resource, "getrlimit", lambda _which: (soft, hard))
    monkeypatch.setattr(resource, "setrlimit", set_limit)
    return limits


def test_the_soft_limit_becomes_the_hard_one(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = limited(monkeypatch, 1024, 4096)
    assert connections_allowed() == 4096 - RESERVE
    assert limits == [4096]


def test_a_limit_that_is_as_high_as_it_can_be_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = limited(monkeypatch, 1024, 1024)
    assert connections_allowed() == 1024 - RESERVE
    assert limits == []


@pytest.mark.parametrize("refusal", [ValueError("not allowed"), PermissionError("not allowed")])
def test_a_limit_that_may_not_be_raised_stays(monkeypatch: pytest.MonkeyPatch, refusal: Exception) -> None:
    limited(monkeypatch, 256, 4096, refusal)
    assert connections_allowed() == 256 - RESERVE


def test_at_least_one_connection_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    limited(monkeypatch, 20, 20)
    assert connections_allowed() == 1


def test_no_limit_is_a_large_one(monkeypatch: pytest.MonkeyPatch) -> None:
    limited(monkeypatch, resource.RLIM_INFINITY, resource.RLIM_INFINITY)
    assert connections_allowed() > 100_000
