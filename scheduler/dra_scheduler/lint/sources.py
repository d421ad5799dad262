"""Where claims and pods stand in documents: in objects of their own, in templates, in workloads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dra_allocator.claim import DeviceRequest, ResourceClaim
from dra_api import decode
from dra_api.errors import DecodeError
from dra_api.manifests import Document

Raw = Mapping[str, Any]

_IN_TEMPLATE = "spec.template.spec"
POD_PATHS: Mapping[str, str] = {
    "Pod": "spec",
    "PodTemplate": "template.spec",
    "Deployment": _IN_TEMPLATE,
    "ReplicaSet": _IN_TEMPLATE,
    "StatefulSet": _IN_TEMPLATE,
    "DaemonSet": _IN_TEMPLATE,
    "ReplicationController": _IN_TEMPLATE,
    "Job": _IN_TEMPLATE,
    "CronJob": "spec.jobTemplate.spec.template.spec",
}
"""Where the spec of a pod stands, by kind."""


@dataclass(frozen=True, slots=True)
class Ask:
    """A request for devices: one of a claim, or an alternative of one.

    `field` is its path, `reference` reads `request` or `request/subrequest`.
    """

    field: str
    reference: str
    request: DeviceRequest


@dataclass(frozen=True, slots=True)
class ClaimSource:
    """A claim, or the claim in a template; `path` is that of its spec."""

    document: Document
    path: str
    claim: ResourceClaim

    @property
    def spec(self) -> Raw:
        """The spec as it stands in the document."""
        return at(self.document.object, self.path)

    def asks(self) -> Iterator[Ask]:
        """Yield what it asks for, each alternative by itself; what is not understood is left out."""
        for i, request in enumerate(self.claim.requests):
            where = f"{self.path}.devices.requests[{i}]"
            if request.unsupported is not None:
                continue
            if not request.first_available:
                yield Ask(f"{where}.exactly", request.name, request)
            for j, alternative in enumerate(request.first_available):
                yield Ask(f"{where}.firstAvailable[{j}]", f"{request.name}/{alternative.name}", alternative)


@dataclass(frozen=True, slots=True)
class PodSource:
    """A pod, or the pod that a workload makes; `path` is that of its spec."""

    document: Document
    path: str
    namespace: str
    spec: Raw

    def claims(self) -> Iterator[tuple[str, Raw]]:
        """Yield path and entry of each of `resourceClaims`."""
        return _objects(self.spec, "resourceClaims", self.path)

    def containers(self) -> Iterator[tuple[str, Raw]]:
        """Yield path and container, init containers first."""
        for field in ("initContainers", "containers"):
            yield from _objects(self.spec, field, self.path)


def claim_source(document: Document) -> ClaimSource | None:
    """Return the claim of a document, or None where it cannot be read."""
    obj = document.object
    path = "spec" if obj["kind"] == "ResourceClaim" else "spec.spec"
    metadata = {"name": document.key.name, "namespace": document.key.namespace}
    try:
        claim = decode.resource_claim({"metadata": metadata, "spec": at(obj, path)})
    except DecodeError:
        return None  # reported by the rules of the API
    return ClaimSource(document, path, claim)


def pod_source(document: Document) -> PodSource | None:
    """Return the pod of a document, or None where there is none."""
    path = POD_PATHS.get(document.object["kind"])
    if path is None or at(document.object, "status").get("phase") in ("Succeeded", "Failed"):
        return None  # what has ended needs nothing any more
    spec = at(document.object, path)
    return PodSource(document, path, namespace_of(document), spec) if spec else None


def claimant(document: Document) -> PodSource | None:
    """Return whatever has `resourceClaims` as a pod has: a pod, the pod of a workload, or a PodGroup."""
    if document.object["kind"] != "PodGroup":
        return pod_source(document)
    return PodSource(document, "spec", namespace_of(document), at(document.object, "spec"))


def namespace_of(document: Document) -> str:
    """Return the namespace of an object; kinds that are not known may lack it."""
    namespace = at(document.object, "metadata").get("namespace")
    return namespace if isinstance(namespace, str) and namespace else "default"


def at(obj: Any, path: str) -> Raw:
    """Return the object at a path of names; empty where there is none."""
    for step in path.split("."):
        obj = obj.get(step) if isinstance(obj, dict) else None
    return obj if isinstance(obj, dict) else {}


def _objects(holder: Raw, field: str, path: str) -> Iterator[tuple[str, Raw]]:
    values = holder.get(field)
    for i, value in enumerate(values if isinstance(values, list) else ()):
        if isinstance(value, dict):
            yield f"{path}.{field}[{i}]", value


def references(obj: Any) -> Iterator[tuple[str, str]]:
    """Yield (kind, name) of every claim and template that an object of any kind names."""
    for path, kind in (("resourceClaimName", "ResourceClaim"), ("resourceClaimTemplateName", "ResourceClaimTemplate")):
        yield from ((kind, name) for name in _values(obj, path))


def _values(obj: Any, key: str) -> Iterator[str]:
    if isinstance(obj, dict):
        value = obj.get(key)
        if isinstance(value, str):
            yield value
        for child in obj.values():
            yield from _values(child, key)
    elif isinstance(obj, list):
        for child in obj:
            yield from _values(child, key)
