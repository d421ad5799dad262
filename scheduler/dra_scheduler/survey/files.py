"""A snapshot from manifests or from a dump, in the place of a cluster."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from dra_api.manifests import Document
from dra_api.references import NODE, POD, RESOURCE_CLAIM, RESOURCE_CLAIM_TEMPLATE, find_resource
from dra_scheduler.survey.assumed_nodes import assumed_node, named_nodes, said
from dra_scheduler.survey.record import read_record
from dra_scheduler.survey.snapshot import KINDS, Object, Snapshot
from dra_scheduler.survey.times import times_in

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_UIDS = uuid.UUID("8f3f7a52-5f0b-4c1e-9d0e-3a2f0d6b7c11")


def from_documents(documents: Sequence[Document], source: str) -> Snapshot:
    """Return the documents as a snapshot. What an API server would have added, uids and versions, is filled in.

    A pod whose template's claim is not in the files gets one made from the template, as the claim controller would.
    A record that a dump left says of which server and when; else the newest time in the files is the present.
    """
    given = [document.object for document in documents]
    record = read_record(given)
    objects = [_complete(obj) for obj in given if find_resource(obj["apiVersion"], obj["kind"]) is not None]
    newest = max((time for obj in objects for time in times_in(obj)), default=_EPOCH)
    snapshot = Snapshot(source, newest)
    if record is not None:
        snapshot.taken, snapshot.server, snapshot.minor = record.taken, record.server, record.minor
        snapshot.version, snapshot.gates, snapshot.gaps = record.version, record.gates, list(record.gaps)
    missing = {gap.kind for gap in snapshot.gaps}
    snapshot.objects = {resource.kind: [] for resource in KINDS if resource.kind not in missing}
    for obj in objects:
        snapshot.objects.setdefault(obj["kind"], []).append(obj)
    claims = snapshot.objects.get(RESOURCE_CLAIM.kind, [])
    known = {(c["metadata"]["namespace"], c["metadata"]["name"]) for c in claims}
    templates = {_key(t): t for t in snapshot.of(RESOURCE_CLAIM_TEMPLATE)}
    for pod in snapshot.of(POD):
        claims += [c for c in _generated(pod, templates) if _key(c) not in known]
    snapshot.sort()
    return snapshot


def with_assumed_nodes(snapshot: Snapshot) -> list[str]:
    """Add the nodes that slices name if there is no node at all; returns what was assumed, in words."""
    if snapshot.of(NODE):
        return []
    names = named_nodes(s["spec"] for s in snapshot.objects.get("ResourceSlice", []))
    snapshot.objects[NODE.kind] = [_complete(assumed_node(name)) for name in names]
    return said(names)


def _complete(obj: Object) -> Object:
    """Return the object with a uid and a resourceVersion."""
    metadata = obj["metadata"]
    name = metadata.get("name") or f"{metadata.get('generateName', '')}00000"
    seed = f"{obj['kind']}/{metadata.get('namespace', '')}/{name}"
    filled: dict[str, Any] = {"uid": str(uuid.uuid5(_UIDS, seed)), "resourceVersion": "1"}
    return {**obj, "metadata": {**filled, **metadata, "name": name}}


def _generated(pod: Object, templates: dict[tuple[str, str], Object]) -> Iterable[Object]:
    """Yield the claims that the pod's templates stand for, and note their names in the pod's status."""
    metadata, status = pod["metadata"], pod.setdefault("status", {})
    statuses = list(status.get("resourceClaimStatuses") or ())
    named = {entry["name"] for entry in statuses}
    for entry in (pod.get("spec") or {}).get("resourceClaims") or ():
        template = templates.get((metadata["namespace"], entry.get("resourceClaimTemplateName") or ""))
        if template is None or entry["name"] in named:
            continue
        name = f"{metadata['name']}-{entry['name']}"
        statuses.append({"name": entry["name"], "resourceClaimName": name})
        owner = {
            "apiVersion": "v1",
            "kind": "Pod",
            "name": metadata["name"],
            "uid": metadata["uid"],
            "controller": True,
        }
        made = {"name": name, "namespace": metadata["namespace"], "ownerReferences": [owner]}
        spec = template["spec"].get("spec") or {}
        yield _complete({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": made, "spec": spec})
    if statuses:
        status["resourceClaimStatuses"] = statuses


def _key(obj: Object) -> tuple[str, str]:
    return obj["metadata"].get("namespace") or "", obj["metadata"]["name"]
