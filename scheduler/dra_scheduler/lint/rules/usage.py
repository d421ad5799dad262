"""Claims and templates that nobody names, and admin access where it is not allowed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from dra_scheduler.lint.finding import Fault, Rule
from dra_scheduler.lint.inputs import Inputs
from dra_scheduler.lint.sources import POD_PATHS, namespace_of, references

ADMIN_LABEL = "resource.kubernetes.io/admin-access"
"""The label, with value "true", of namespaces whose claims may have admin access (Kubernetes 1.34 and newer)."""


def _named(inputs: Inputs) -> set[tuple[str, str, str]]:
    """Return (kind, namespace, name) of every claim and template that some object names."""
    return {
        (kind, namespace_of(document), name)
        for document in inputs.documents
        if document.object["kind"] not in ("ResourceClaim", "ResourceClaimTemplate")
        for kind, name in references(document.object)
    }


def _unnamed(kind: str) -> Callable[[Inputs], Iterator[Fault]]:
    def check(inputs: Inputs) -> Iterator[Fault]:
        if inputs.scope.has_gaps or _unread_users(inputs) or not _has_users(inputs):
            return
        if kind == "ResourceClaimTemplate" and "Pod" in inputs.scope.whole:
            return  # of a cluster the pods are known, and not what makes pods
        named = inputs.shared(_named)
        for source in inputs.claims:
            document = source.document
            key = (kind, namespace_of(document), source.claim.name)
            if document.object["kind"] == kind and key not in named and not _is_taken(document.object):
                problem = "no pod uses it" if kind == "ResourceClaim" else "no pod's claim is made from it"
                yield Fault(document, "metadata.name", problem, "name it in spec.resourceClaims of a pod")

    return check


def _has_users(inputs: Inputs) -> bool:
    return any(document.object["kind"] in POD_PATHS for document in inputs.documents)


def _unread_users(inputs: Inputs) -> bool:
    """Tell whether an object that could not be read may name claims."""
    return any(kind in POD_PATHS or kind == "PodGroup" for kind, _, _ in inputs.scope.unread)


def _is_taken(obj: dict[str, Any]) -> bool:
    """Tell whether a claim was made for somebody, or somebody holds it."""
    status = obj.get("status") or {}
    return bool(obj["metadata"].get("ownerReferences") or status.get("reservedFor") or status.get("allocation"))


def _admin_access(inputs: Inputs) -> Iterator[Fault]:
    for source in inputs.claims:
        namespace = namespace_of(source.document)
        document = inputs.find("Namespace", "", namespace)
        if document is None:
            continue
        if (document.object["metadata"].get("labels") or {}).get(ADMIN_LABEL) == "true":
            continue
        for ask in source.asks():
            if ask.request.admin_access:
                problem = f"namespace {namespace} does not allow admin access"
                hint = f'it needs the label {ADMIN_LABEL}: "true"'
                yield Fault(source.document, f"{ask.field}.adminAccess", problem, hint)


RULES = (
    Rule("claim-unused", "warning", "no pod names a ResourceClaim", _unnamed("ResourceClaim")),
    Rule("template-unused", "warning", "no pod names a ResourceClaimTemplate", _unnamed("ResourceClaimTemplate")),
    Rule("admin-access-namespace", "error", "admin access in a namespace that does not allow it", _admin_access),
)
