"""Texts of the picture, made short enough for a terminal of 80 columns."""

from __future__ import annotations

import re
from collections.abc import Iterable

from dra_scheduler.cli.loading import Object

_NUMBERED = re.compile(r"(.*?)(\d+)")
_SHORTEST = 3
"""How many devices in a row are written as the first and the last."""


def device_names(names: Iterable[str]) -> str:
    """Names in order, those with consecutive numbers as `gpu-0 to gpu-7`."""
    runs: list[list[str]] = []
    for name in sorted(names, key=_by_number):
        if runs and _by_number(name) == _after(runs[-1][-1]):
            runs[-1].append(name)
        else:
            runs.append([name])
    words = [[f"{run[0]} to {run[-1]}"] if len(run) >= _SHORTEST else run for run in runs]
    return ", ".join(word for run in words for word in run)


def event_message(event: Object) -> str:
    """Whom an event is about, and what it says, without what is known from elsewhere in the picture.

    Why a pod waits is told in full beside the pod; here, the first clause of it is enough.
    """
    involved, message = event.get("involvedObject") or {}, str(event.get("message", ""))
    name = str(involved.get("name", ""))
    message = message.replace(f"Successfully assigned {involved.get('namespace', '')}/{name} to ", "assigned to ")
    if event.get("reason") == "FailedScheduling":
        message = re.split(r"; |\. ", message, maxsplit=1)[0]
    return f"{name}: {message}"


def _by_number(name: str) -> tuple[str, int, str]:
    found = _NUMBERED.fullmatch(name)
    return (found[1], int(found[2]), "") if found else (name, -1, name)


def _after(name: str) -> tuple[str, int, str] | None:
    stem, number, _ = _by_number(name)
    return None if number < 0 else (stem, number + 1, "")
