"""The columns of pods."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from dra_embedded.http.columns.column import NONE, Cell, Column, Object, age, field, name

_ENDED = ("Succeeded", "Failed")


def _statuses(obj: Object, kind: str) -> list[Object]:
    return (obj.get("status") or {}).get(kind) or []


def _sidecars(obj: Object) -> set[str]:
    """Init containers that keep running beside the others."""
    init = (obj.get("spec") or {}).get("initContainers") or []
    return {one["name"] for one in init if one.get("restartPolicy") == "Always"}


def _is_running(status: Object) -> bool:
    return bool(status.get("ready")) and "running" in (status.get("state") or {})


def ready(obj: Object, _now: datetime) -> Cell:
    """Containers that are ready, of all."""
    sidecars = _sidecars(obj)
    total = len((obj.get("spec") or {}).get("containers") or []) + len(sidecars)
    up = sum(_is_running(one) for one in _statuses(obj, "containerStatuses"))
    up += sum(
        one["name"] in sidecars and bool(one.get("ready") and one.get("started"))
        for one in _statuses(obj, "initContainerStatuses")
    )
    return f"{up}/{total}"


def status(obj: Object, _now: datetime) -> Cell:
    """One word for the state of the pod: the phase, or the reason of what a container waits for or ended with."""
    found = obj.get("status") or {}
    word = found.get("reason") or found.get("phase") or ""
    gated = any(
        one.get("type") == "PodScheduled" and one.get("reason") == "SchedulingGated"
        for one in found.get("conditions") or []
    )
    word = "SchedulingGated" if gated else word
    word = _initializing(obj) or _of_containers(obj, str(word))
    if obj["metadata"].get("deletionTimestamp"):
        if found.get("reason") == "NodeLost":
            return "Unknown"
        if found.get("phase") not in _ENDED:
            return "Terminating"
    return word


def _initializing(obj: Object) -> str:
    """What the first init container that is not done says; empty: all are done."""
    sidecars = _sidecars(obj)
    total = len((obj.get("spec") or {}).get("initContainers") or [])
    for number, one in enumerate(_statuses(obj, "initContainerStatuses")):
        state = one.get("state") or {}
        ended, waits = state.get("terminated"), state.get("waiting") or {}
        if (ended and not ended.get("exitCode")) or (one["name"] in sidecars and one.get("started")):
            continue
        if ended:
            return f"Init:{_why_ended(ended)}"
        if waits.get("reason") and waits["reason"] != "PodInitializing":
            return f"Init:{waits['reason']}"
        return f"Init:{number}/{total}"
    return ""


def _of_containers(obj: Object, word: str) -> str:
    running, failed = False, ""
    for one in reversed(_statuses(obj, "containerStatuses")):
        state = one.get("state") or {}
        if reason := (state.get("waiting") or {}).get("reason"):
            word = reason
        elif ended := state.get("terminated"):
            word = _why_ended(ended)
            failed = word if ended.get("exitCode") else failed
        elif _is_running(one):
            running = True
    if word == "Completed":
        if running:
            return "Running" if _has_ready_condition(obj) else "NotReady"
        return failed or word
    return word


def _why_ended(ended: Object) -> str:
    if ended.get("reason"):
        return str(ended["reason"])
    return f"Signal:{ended['signal']}" if ended.get("signal") else f"ExitCode:{ended.get('exitCode', 0)}"


def _has_ready_condition(obj: Object) -> bool:
    conditions = (obj.get("status") or {}).get("conditions") or []
    return any(one.get("type") == "Ready" and one.get("status") == "True" for one in conditions)


def restarts(obj: Object, _now: datetime) -> Cell:
    """How often its containers were started again."""
    return str(sum(int(one.get("restartCount") or 0) for one in _counted(obj)))


def _counted(obj: Object) -> Iterator[Object]:
    yield from _statuses(obj, "containerStatuses")
    sidecars = _sidecars(obj)
    yield from (one for one in _statuses(obj, "initContainerStatuses") if one["name"] in sidecars)


def _gates(obj: Object, _now: datetime) -> Cell:
    gates = (obj.get("spec") or {}).get("readinessGates") or []
    if not gates:
        return NONE
    conditions: dict[Any, Any] = {
        c.get("type"): c.get("status") for c in (obj.get("status") or {}).get("conditions") or []
    }
    return f"{sum(conditions.get(gate.get('conditionType')) == 'True' for gate in gates)}/{len(gates)}"


PODS = (
    Column("Name", name),
    Column("Ready", ready),
    Column("Status", status),
    Column("Restarts", restarts),
    Column("Age", age),
    Column("IP", field("status", "podIP", default=NONE), wide=True),
    Column("Node", field("spec", "nodeName", default=NONE), wide=True),
    Column("Nominated Node", field("status", "nominatedNodeName", default=NONE), wide=True),
    Column("Readiness Gates", _gates, wide=True),
)
