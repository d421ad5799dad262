"""From manifests to a cluster: in which order objects are created, what is assumed where files say nothing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from dra_api.manifests import Document, Problem
from dra_api.references import find_resource
from dra_embedded.server import EmbeddedServer
from dra_embedded.status import StatusError
from dra_scheduler.survey.assumed_nodes import ALLOCATABLE, assumed_node, named_nodes, said

Object = dict[str, Any]

# Whoever is named by others comes first; kinds that are not listed come last, in the order of the files.
_ORDER = (
    "Namespace",
    "PriorityClass",
    "Node",
    "DeviceClass",
    "ResourceSlice",
    "DeviceTaintRule",
    "ResourceClaimTemplate",
    "ResourceClaim",
    "Pod",
)
_EXISTING_NAMESPACES = frozenset({"default", "kube-system"})


@dataclass(frozen=True, slots=True)
class Planned:
    """An object to create, and the document that it is from; None: it was assumed."""

    object: Object
    document: Document | None = None


@dataclass(slots=True)
class Plan:
    """Objects in the order of creation; `assumed` says in words what no file said."""

    objects: list[Planned] = field(default_factory=list)
    assumed: list[str] = field(default_factory=list)


def plan(documents: Iterable[Document]) -> Plan:
    """Order the documents and add the namespaces and nodes that they presuppose."""
    # What was said of the pods in another cluster is no part of this one.
    given = [document for document in documents if document.object["kind"] != "Event"]
    result = Plan()
    planned = [Planned(_with_allocatable(d.object, result), d) for d in given]
    planned += [Planned(obj) for obj in (*_missing_namespaces(given), *_missing_nodes(given, result))]
    rank = {kind: position for position, kind in enumerate(_ORDER)}
    result.objects = sorted(planned, key=lambda p: rank.get(p.object["kind"], len(rank)))
    return result


def load(server: EmbeddedServer, planned: Plan) -> list[Problem]:
    """Create everything; returns a problem, with its line, for each field that the server refuses."""
    problems: list[Problem] = []
    for each in planned.objects:
        try:
            server.restore(each.object)
        except StatusError as error:
            problems += _problems(each, error)
    return problems


def _problems(planned: Planned, error: StatusError) -> list[Problem]:
    document, obj = planned.document, planned.object
    source = document.source if document else "(assumed)"
    name = str(document.key) if document else f"{obj['kind']} {obj['metadata']['name']}"
    causes = (error.details or {}).get("causes") or [{"field": "", "message": error.message}]
    return [
        Problem(source, document.line_of(c["field"]) if document else 0, name, c["field"], c["message"]) for c in causes
    ]


def _namespace_of(obj: Object) -> str:
    """The namespace that an object lands in; empty for cluster-scoped kinds."""
    resource = find_resource(obj["apiVersion"], obj["kind"])
    namespace: str = obj["metadata"].get("namespace") or ""
    return "" if resource is not None and not resource.namespaced else namespace


def _missing_namespaces(given: list[Document]) -> list[Object]:
    named = {_namespace_of(d.object) for d in given} - {""}
    present = {d.object["metadata"]["name"] for d in given if d.object["kind"] == "Namespace"}
    missing = sorted(named - present - _EXISTING_NAMESPACES)
    return [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}} for name in missing]


def _missing_nodes(given: list[Document], result: Plan) -> list[Object]:
    if any(d.object["kind"] == "Node" for d in given):
        return []
    names = named_nodes(d.object["spec"] for d in given if d.object["kind"] == "ResourceSlice")
    result.assumed.extend(said(names))
    return [assumed_node(name) for name in names]


def _with_allocatable(obj: Object, result: Plan) -> Object:
    """A Node needs room for pods; any other object is returned as it is."""
    if obj["kind"] != "Node":
        return obj
    status = obj.get("status") or {}
    if status.get("allocatable"):
        return obj
    if not status.get("capacity"):
        wanted = ", ".join(f"{name} {amount}" for name, amount in ALLOCATABLE.items())
        result.assumed.append(f"Node {obj['metadata']['name']} has no status.allocatable: assumed {wanted}")
    return {**obj, "status": {**status, "allocatable": dict(status.get("capacity") or ALLOCATABLE)}}
