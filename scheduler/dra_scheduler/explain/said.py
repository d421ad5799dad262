"""What others said about a pod: its condition and the events about it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from dra_scheduler.survey.snapshot import Object

SHOWN = 3
"""The newest events that are shown."""


@dataclass(frozen=True, slots=True)
class Said:
    """`condition`: reason and message of PodScheduled False ("": none). `events`: `reason: message` of the newest."""

    condition: str = ""
    events: tuple[str, ...] = ()


def said_about(pod: Object, events: Iterable[Object]) -> Said:
    """Return what the pod's scheduler and others said."""
    uid = pod["metadata"].get("uid")
    about = [event for event in events if (event.get("involvedObject") or {}).get("uid") == uid]
    about.sort(key=lambda event: str(event.get("lastTimestamp") or event.get("eventTime") or ""))
    texts = dict.fromkeys(_event(event) for event in about if event.get("reason") != "Pulled")
    return Said(_condition(pod), tuple(texts)[-SHOWN:])


def _event(event: Object) -> str:
    reporter = event.get("reportingComponent") or (event.get("source") or {}).get("component") or ""
    by = f" ({reporter})" if reporter else ""
    return f"{event.get('reason', '')}{by}: {' '.join(str(event.get('message', '')).split())}"


def _condition(pod: Object) -> str:
    conditions: list[dict[str, Any]] = (pod.get("status") or {}).get("conditions") or []
    for condition in conditions:
        if condition.get("type") == "PodScheduled" and condition.get("status") == "False":
            message = condition.get("message") or ""
            return f"{condition.get('reason', '')}: {message}" if message else str(condition.get("reason", ""))
    return ""
