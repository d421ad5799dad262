"""The columns of nodes, namespaces, events, leases and priority classes."""

from __future__ import annotations

from datetime import datetime

from dra_embedded.http.columns.column import NONE, UNKNOWN, Cell, Column, Object, age, field, name, since

_ROLE = "node-role.kubernetes.io/"


def _node_status(obj: Object, _now: datetime) -> Cell:
    words = [
        "Ready" if one.get("status") == "True" else "NotReady"
        for one in (obj.get("status") or {}).get("conditions") or []
        if one.get("type") == "Ready"
    ] or ["Unknown"]
    if (obj.get("spec") or {}).get("unschedulable"):
        words.append("SchedulingDisabled")
    return ",".join(words)


def _roles(obj: Object, _now: datetime) -> Cell:
    labels = obj["metadata"].get("labels") or {}
    roles = {label.removeprefix(_ROLE) for label in labels if label.startswith(_ROLE) and label != _ROLE}
    if named := labels.get("kubernetes.io/role"):
        roles.add(named)
    return ",".join(sorted(roles)) or NONE


def _address(kind: str) -> Column:
    def cell(obj: Object, _now: datetime) -> Cell:
        addresses = (obj.get("status") or {}).get("addresses") or []
        return next((str(one.get("address")) for one in addresses if one.get("type") == kind), NONE)

    return Column(kind.replace("IP", "-IP"), cell, wide=True)


def _info(column: str, key: str, default: str = UNKNOWN, *, wide: bool = True) -> Column:
    return Column(column, field("status", "nodeInfo", key, default=default), wide)


NODES = (
    Column("Name", name),
    Column("Status", _node_status),
    Column("Roles", _roles),
    Column("Age", age),
    _info("Version", "kubeletVersion", "", wide=False),
    _address("InternalIP"),
    _address("ExternalIP"),
    _info("OS-Image", "osImage"),
    _info("Kernel-Version", "kernelVersion"),
    _info("Container-Runtime", "containerRuntimeVersion"),
)

NAMESPACES = (Column("Name", name), Column("Status", field("status", "phase")), Column("Age", age))


def _first_seen(obj: Object, now: datetime) -> Cell:
    return since(obj.get("firstTimestamp") or obj.get("eventTime"), now)


def _last_seen(obj: Object, now: datetime) -> Cell:
    series = obj.get("series") or {}
    last = series.get("lastObservedTime") or obj.get("lastTimestamp")
    return since(last, now) if last else _first_seen(obj, now)


def _target(obj: Object, _now: datetime) -> Cell:
    target = obj.get("involvedObject") or obj.get("regarding") or {}
    kind = str(target.get("kind", "")).lower()
    return f"{kind}/{target['name']}" if target.get("name") else kind


def _source(obj: Object, _now: datetime) -> Cell:
    source = obj.get("source") or {}
    parts = [source.get("component") or obj.get("reportingComponent") or obj.get("reportingController") or ""]
    host = source.get("host") or obj.get("reportingInstance")
    return ", ".join(filter(None, [*parts, host]))


def _count(obj: Object, _now: datetime) -> Cell:
    return int((obj.get("series") or {}).get("count") or obj.get("count") or 1)


def _message(obj: Object, _now: datetime) -> Cell:
    return str(obj.get("message") or obj.get("note") or "").strip()


EVENTS = (
    Column("Last Seen", _last_seen),
    Column("Type", field("type")),
    Column("Reason", field("reason")),
    Column("Object", _target),
    Column("Subobject", field("involvedObject", "fieldPath"), wide=True),
    Column("Source", _source, wide=True),
    Column("Message", _message),
    Column("First Seen", _first_seen, wide=True),
    Column("Count", _count, wide=True),
    Column("Name", name, wide=True),
)

LEASES = (Column("Name", name), Column("Holder", field("spec", "holderIdentity")), Column("Age", age))


def _default(obj: Object, _now: datetime) -> Cell:
    return bool(obj.get("globalDefault"))


def _value(obj: Object, _now: datetime) -> Cell:
    return int(obj.get("value") or 0)


PRIORITY_CLASSES = (
    Column("Name", name),
    Column("Value", _value, kind="integer"),
    Column("Global-Default", _default, kind="boolean"),
    Column("Age", age),
    Column("PreemptionPolicy", field("preemptionPolicy", default="PreemptLowerPriority")),
)
