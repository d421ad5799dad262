"""Waiting for components: bounded, and with the reason when it does not work out."""

from __future__ import annotations

import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable
from typing import Final, Protocol

from dra_bench.controlplane.errors import ComponentFailedError, PortConflictError

POLL_SECONDS: Final = 0.05
PORT_TAKEN: Final = "address already in use"


class Watched(Protocol):
    """What the waiting looks at; :class:`~dra_bench.controlplane.processes.Component` is one."""

    @property
    def name(self) -> str:
        """The component's name."""

    @property
    def exit_code(self) -> int | None:
        """Its exit code once it has ended."""

    def log_tail(self) -> str:
        """The end of its log."""


def check_alive(components: Iterable[Watched]) -> None:
    """Raise ComponentFailedError for the first component that has ended (PortConflictError when its log says so)."""
    for component in components:
        code = component.exit_code
        if code is not None:
            tail = component.log_tail()
            failure = PortConflictError if PORT_TAKEN in tail else ComponentFailedError
            raise failure(component.name, f"ended with exit code {code}", tail)


def wait_ready(
    component: Watched,
    probe: Callable[[], bool],
    *,
    seconds: float,
    beside: Iterable[Watched] = (),
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Wait until ``probe`` says yes, at most ``seconds``.

    ``beside`` are components that must go on running meanwhile. They are looked at after the probe as well: a probe
    may have been answered by a stranger on a port that our component failed to get.

    Raises:
        ComponentFailedError: a component ended (PortConflictError when its port was taken), or the time is over.

    """
    watched = (component, *beside)
    deadline = clock() + seconds
    while True:
        check_alive(watched)
        if probe():
            check_alive(watched)
            return
        if clock() >= deadline:
            raise ComponentFailedError(component.name, f"was not ready after {seconds:g} s", component.log_tail())
        sleep(POLL_SECONDS)


def answers_ok(url: str) -> bool:
    """Return whether a plain HTTP URL answers with status 200 within two seconds."""
    try:
        with urllib.request.urlopen(url, timeout=2) as response:
            return bool(response.status == 200)
    except (OSError, urllib.error.URLError):
        return False
