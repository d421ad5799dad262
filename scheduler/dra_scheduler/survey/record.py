"""The record that a dump carries about itself: annotations of its namespace kube-system, which every cluster has.

dump.dra-scheduler/  taken: 2026-01-01T00:00:00+00:00   server: v1.37.2   version: v1   gates: A=true,B=false
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

import orjson

from dra_scheduler.survey.snapshot import Gap, Object, Snapshot
from dra_scheduler.survey.times import parse_time

NAMESPACE = "kube-system"
PREFIX = "dump.dra-scheduler/"


@dataclass(frozen=True, slots=True)
class Record:
    """See Snapshot, whose fields these are."""

    taken: datetime
    server: str
    minor: int | None
    version: str
    gates: Mapping[str, bool] | None
    gaps: tuple[Gap, ...]


def with_record(objects: Iterable[Object], snapshot: Snapshot) -> list[Object]:
    """Return the objects with the snapshot's record on their namespace kube-system, which is added if need be."""
    kept = list(objects)
    if not any(_carries(obj) for obj in kept):
        kept.insert(0, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    annotations = {PREFIX + key: value for key, value in _data(snapshot).items()}
    return [{**o, "metadata": {**o["metadata"], "annotations": annotations}} if _carries(o) else o for o in kept]


def read_record(objects: Iterable[Object]) -> Record | None:
    """Return the record among the objects of a file, None if there is none or it is none of ours."""
    for obj in objects:
        if _carries(obj):
            annotations = obj["metadata"].get("annotations") or {}
            return _record({k.removeprefix(PREFIX): v for k, v in annotations.items() if k.startswith(PREFIX)})
    return None


def _carries(obj: Object) -> bool:
    return obj.get("kind") == "Namespace" and (obj.get("metadata") or {}).get("name") == NAMESPACE


def _data(snapshot: Snapshot) -> dict[str, str]:
    data = {"taken": snapshot.taken.isoformat(), "server": snapshot.server, "version": snapshot.version}
    if snapshot.gates is not None:
        data["gates"] = ",".join(f"{name}={str(on).lower()}" for name, on in sorted(snapshot.gates.items()))
    gaps = [[gap.kind, gap.reason, gap.problem] for gap in snapshot.gaps]
    return data | ({"gaps": orjson.dumps(gaps).decode()} if gaps else {})


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
