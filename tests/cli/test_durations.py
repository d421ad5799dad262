"""Durations on the command line."""

from __future__ import annotations

import argparse

import pytest

from dra_scheduler.cli.durations import duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0", 0),
        ("0s", 0),
        ("10", 10),
        ("2.5", 2.5),
        ("10ms", 0.01),
        ("1m30s", 90),
        ("10m0s", 600),
        ("1h0m0.5s", 3600.5),
        (".5s", 0.5),
        ("250us", 0.00025),
        ("250µs", 0.00025),
        ("1e", None),
        ("-1s", None),
        ("", None),
        ("1d", None),
        ("s", None),
        ("1 s", None),
        ("nan", None),
        ("1" * 65, None),
    ],
)
def test_a_duration_is_seconds_or_what_go_writes(text: str, seconds: float | None) -> None:
    if seconds is None:
        with pytest.raises(argparse.ArgumentTypeError, match="is not a duration"):
            duration(text)
    else:
        assert duration(text) == pytest.approx(seconds)
