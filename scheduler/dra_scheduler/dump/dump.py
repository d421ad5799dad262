"""From a snapshot to the objects of a dump."""

from __future__ import annotations

from collections.abc import Iterable

from dra_api.references import CORE_EVENT, POD, RESOURCE_CLAIM, Resource
from dra_scheduler.dump.anonymize import anonymized
from dra_scheduler.dump.priorities import priority_classes
from dra_scheduler.dump.reduce import reduced
from dra_scheduler.survey.record import with_record
from dra_scheduler.survey.snapshot import KINDS, Object, Snapshot

DUMPED: tuple[Resource, ...] = (*KINDS, CORE_EVENT)
EVENTS = 5_000
"""The newest events that are kept."""


def dump(snapshot: Snapshot, key: bytes | None = None) -> list[Object]:
    """Return the objects of the dump with the record of it; with a `key` under other names."""
    objects = [
        reduced({"apiVersion": resource.api_version(), "kind": resource.kind} | obj)
        for resource in DUMPED
        if resource is not CORE_EVENT
        for obj in snapshot.of(resource)
    ]
    objects += [
        reduced({"apiVersion": "v1", "kind": "Event"} | event) for event in relevant_events(snapshot.of(CORE_EVENT))
    ]
    pods = [obj for obj in objects if obj["kind"] == POD.kind]
    objects += priority_classes(pods)
    if key is not None:
        objects = anonymized(objects, key)
    return with_record(objects, snapshot)


def relevant_events(events: Iterable[Object]) -> list[Object]:
    """Return the events about pods' scheduling and about claims, the newest ones if there are too many."""
    kept = [event for event in events if _is_relevant(event)]
    kept.sort(key=_when)
    return kept[-EVENTS:]


def _is_relevant(event: Object) -> bool:
    about = (event.get("involvedObject") or {}).get("kind")
    if about == POD.kind:
        return str(event.get("reason", "")).startswith(("Failed", "Scheduled", "Preempted", "TaintManager", "Device"))
    return about in (RESOURCE_CLAIM.kind, "ResourceClaimTemplate", "ResourceSlice", "PodGroup")


def _when(event: Object) -> str:
    return str(event.get("lastTimestamp") or event.get("eventTime") or event.get("firstTimestamp") or "")
