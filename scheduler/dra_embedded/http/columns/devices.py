"""The columns of what resource.k8s.io and scheduling.k8s.io have."""

from __future__ import annotations

from datetime import datetime

from dra_embedded.http.columns.column import NONE, Cell, Column, Object, age, field, name, since


def claim_state(obj: Object, _now: datetime) -> Cell:
    """Whether a claim is pending, allocated, reserved, deleted."""
    status = obj.get("status") or {}
    deleted = bool(obj["metadata"].get("deletionTimestamp"))
    words = ["deleted"] if deleted else []
    if not status.get("allocation"):
        return ",".join(words if deleted else ["pending"])
    words.append("allocated")
    if status.get("reservedFor"):
        words.append("reserved")
    return ",".join(words)


def _time_added(obj: Object, now: datetime) -> Cell:
    added = ((obj.get("spec") or {}).get("taint") or {}).get("timeAdded")
    return since(added, now) if added else ""


def _policy(obj: Object, _now: datetime) -> Cell:
    return "Gang" if ((obj.get("spec") or {}).get("schedulingPolicy") or {}).get("gang") else "Basic"


def _group_status(obj: Object, _now: datetime) -> Cell:
    conditions = {one.get("type"): one for one in (obj.get("status") or {}).get("conditions") or []}
    if "DisruptionTarget" in conditions:
        return str(conditions["DisruptionTarget"].get("reason", ""))
    scheduled = conditions.get("PodGroupInitiallyScheduled")
    if scheduled is None:
        return "Pending"
    return "Scheduled" if scheduled.get("status") == "True" else "Unschedulable"


CLAIMS = (Column("Name", name), Column("State", claim_state), Column("Age", age))

SLICES = (
    Column("Name", name),
    Column("Node", field("spec", "nodeName")),
    Column("Driver", field("spec", "driver")),
    Column("Pool", field("spec", "pool", "name")),
    Column("Age", age),
)

TAINT_RULES = (
    Column("Name", name),
    Column("Key", field("spec", "taint", "key")),
    Column("Value", field("spec", "taint", "value")),
    Column("Effect", field("spec", "taint", "effect")),
    Column("TimeAdded", _time_added),
    Column("Age", age),
)

POD_GROUPS = (
    Column("Name", name),
    Column("Policy", _policy),
    Column("Workload", field("spec", "workloadRef", "workloadName", default=NONE)),
    Column("Status", _group_status),
    Column("Age", age),
)
