"""From manifests to a cluster: in which order objects are created, what is assumed where files say nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from dra_api.manifests import Document

Object = dict[str, Any]

# Whoever is named by others comes first; kinds that are not listed come last, in the order of the files.
_ORDER = (
    "Namespace",
    "Node",
    "DeviceClass",
    "ResourceSlice",
    "DeviceTaintRule",
    "ResourceClaimTemplate",
    "ResourceClaim",
    "Pod",
)
_CLUSTER_SCOPED = frozenset({"Namespace", "Node", "DeviceClass", "ResourceSlice", "DeviceTaintRule"})
_EXISTING_NAMESPACES = frozenset({"default", "kube-system"})
ASSUMED_ALLOCATABLE: Mapping[str, str] = {
    "cpu": "64",
    "memory": "256Gi",
    "ephemeral-storage": "1Ti",
    "pods": "110",
}


@dataclass(slots=True)
class Plan:
    """Documents in the order of creation; `assumed` says in words what no file said."""

    documents: list[Document] = field(default_factory=list)
    assumed: list[str] = field(default_factory=list)


def plan(documents: Iterable[Document]) -> Plan:
    """Order the documents and add the namespaces and nodes that they presuppose."""
    given = list(documents)
    result = Plan()
    extra = _missing_namespaces(given, result) + _missing_nodes(given, result)
    for document in given:
        if document.object.get("kind") == "Node":
            _assume_allocatable(document.object, result)
    rank = {kind: position for position, kind in enumerate(_ORDER)}
    result.documents = sorted([*extra, *given], key=lambda d: rank.get(d.object.get("kind", ""), len(rank)))
    return result


def namespace_of(obj: Object) -> str:
    """The namespace that an object without one lands in: `default`, or none for cluster-scoped kinds."""
    if obj.get("kind") in _CLUSTER_SCOPED:
        return ""
    namespace: str = obj.get("metadata", {}).get("namespace") or "default"
    return namespace


def _missing_namespaces(given: list[Document], result: Plan) -> list[Document]:
    named = {namespace_of(d.object) for d in given} - {""}
    present = {d.object["metadata"]["name"] for d in given if d.object.get("kind") == "Namespace"}
    missing = sorted(named - present - _EXISTING_NAMESPACES)
    return [_made({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}) for name in missing]


def _missing_nodes(given: list[Document], result: Plan) -> list[Document]:
    if any(d.object.get("kind") == "Node" for d in given):
        return []
    slices = [d.object for d in given if d.object.get("kind") == "ResourceSlice"]
    names = {name for s in slices if (name := s.get("spec", {}).get("nodeName"))}
    names |= {name for s in slices for d in s.get("spec", {}).get("devices") or [] if (name := d.get("nodeName"))}
    if not names:
        return []
    result.assumed.append(f"no Node in the files: assumed the {len(names)} that ResourceSlices name")
    made = []
    for name in sorted(names):
        node: Object = {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
            "status": {"allocatable": dict(ASSUMED_ALLOCATABLE)},
        }
        made.append(_made(node))
    return made


def _assume_allocatable(node: Object, result: Plan) -> None:
    status = node.setdefault("status", {})
    if status.get("allocatable"):
        return
    status["allocatable"] = dict(status.get("capacity") or ASSUMED_ALLOCATABLE)
    if not status.get("capacity"):
        wanted = ", ".join(f"{name} {amount}" for name, amount in ASSUMED_ALLOCATABLE.items())
        result.assumed.append(f"node {node['metadata']['name']} has no status.allocatable: assumed {wanted}")


def _made(obj: Object) -> Document:
    return Document(object=obj, source="(assumed)", line=0)
