"""The record that a dump carries about itself: a ConfigMap among its objects, so that any reader of manifests takes it.

data:  taken: 2026-01-01T00:00:00+00:00   server: v1.37.2   version: v1   gates: A=true,B=false   gaps: [...]
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

import orjson

from dra_scheduler.survey.snapshot import Gap, Object, Snapshot
from dra_scheduler.survey.times import parse_time

NAME = "dra-scheduler-dump"
NAMESPACE = "kube-system"


@dataclass(frozen=True, slots=True)
class Record:
    """See Snapshot, whose fields these are."""

    taken: datetime
    server: str
    minor: int | None
    version: str
    gates: Mapping[str, bool] | None
    gaps: tuple[Gap, ...]


def make_record(snapshot: Snapshot) -> Object:
    """Return the record of a snapshot."""
    data = {"taken": snapshot.taken.isoformat(), "server": snapshot.server, "version": snapshot.version}
    if snapshot.gates is not None:
        data["gates"] = ",".join(f"{name}={str(on).lower()}" for name, on in sorted(snapshot.gates.items()))
    gaps = [[gap.kind, gap.reason, gap.problem] for gap in snapshot.gaps]
    if gaps:
        data["gaps"] = orjson.dumps(gaps).decode()
    metadata = {"name": NAME, "namespace": NAMESPACE}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def read_record(objects: Iterable[Object]) -> Record | None:
    """Return the record among the objects of a file, None if there is none or it is none of ours."""
    for obj in objects:
        metadata = obj.get("metadata") or {}
        if obj.get("kind") == "ConfigMap" and (metadata.get("namespace"), metadata.get("name")) == (NAMESPACE, NAME):
            return _record(obj.get("data") or {})
    return None


def _record(data: Mapping[str, str]) -> Record | None:
    taken = parse_time(data.get("taken"))
    if taken is None:
        return None
    server = str(data.get("server", ""))
    minor = re.match(r"v\d+\.(\d+)", server)
    gates: dict[str, bool] | None = None
    if "gates" in data:
        pairs = [pair.partition("=") for pair in str(data["gates"]).split(",") if pair]
        gates = {name: value == "true" for name, _, value in pairs}
    try:
        gaps = tuple(Gap(*map(str, entry)) for entry in orjson.loads(data.get("gaps", "[]")))  # type: ignore[arg-type]
    except (orjson.JSONDecodeError, TypeError):
        gaps = ()
    return Record(taken, server, int(minor[1]) if minor else None, str(data.get("version", "")), gates, gaps)
