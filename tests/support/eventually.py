"""Waiting, in real time but bounded, for a server that is not ours. Tests of our own code use fake time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

Value = TypeVar("Value")


def eventually(probe: Callable[[], Value], what: str, *, seconds: float = 30.0, pause: float = 0.05) -> Value:
    """Return the first true answer of `probe`; fail naming `what` and the last answer when the time is over."""
    deadline = time.monotonic() + seconds
    while True:
        answer = probe()
        if answer:
            return answer
        if time.monotonic() >= deadline:
            raise AssertionError(f"waited {seconds:g} s for {what}; the last answer was {answer!r}")
        time.sleep(pause)
