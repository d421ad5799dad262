"""Aggregated discovery (apidiscovery.k8s.io/v2): all groups, versions and resources in two answers."""

from __future__ import annotations

from typing import Any

from dra_embedded.registry import Registry, Served
from dra_embedded.verbs.discovery import KIND_VERBS, SUBRESOURCE_VERBS, group_names

Object = dict[str, Any]

CONTENT_TYPE = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

_ALL = frozenset(
    [
        *("pods", "services", "replicationcontrollers", "deployments", "daemonsets", "replicasets", "statefulsets"),
        *("jobs", "cronjobs"),
    ]
)
"""What `kubectl get all` gets."""


def is_wanted(accept: str) -> bool:
    """Whether an Accept header asks for it."""
    parts = [part.replace(" ", "").split(";") for part in accept.split(",")]
    return any({"g=apidiscovery.k8s.io", "v=v2", "as=APIGroupDiscoveryList"} <= set(part) for part in parts)


def aggregated(path: str, registry: Registry) -> Object | None:
    """The answer for `/api` (the core group) or `/apis` (the others); None: another path."""
    if path.rstrip("/") == "/api":
        groups = [""]
    elif path.rstrip("/") == "/apis":
        groups = group_names(registry)
    else:
        return None
    return {
        "kind": "APIGroupDiscoveryList",
        "apiVersion": "apidiscovery.k8s.io/v2",
        "metadata": {},
        "items": [_group(group, registry) for group in groups],
    }


def _group(name: str, registry: Registry) -> Object:
    versions = dict.fromkeys(version for group, version, _served in registry.all() if group == name)
    return {
        "metadata": {"name": name, "creationTimestamp": None},
        "versions": [
            {
                "version": version,
                "resources": [
                    _resource(served, version)
                    for group, served_version, served in registry.all()
                    if (group, served_version) == (name, version)
                ],
                "freshness": "Current",
            }
            for version in versions
        ],
    }


def _resource(served: Served, version: str) -> Object:
    resource = served.resource
    kind = {"group": resource.group, "version": version, "kind": resource.kind}
    entry: Object = {
        "resource": resource.plural,
        "responseKind": kind,
        "scope": "Namespaced" if resource.namespaced else "Cluster",
        "singularResource": resource.singular,
        "verbs": list(KIND_VERBS),
    }
    if served.short_names:
        entry["shortNames"] = list(served.short_names)
    if resource.plural in _ALL:
        entry["categories"] = ["all"]
    if served.subresources:
        entry["subresources"] = [
            {"subresource": name, "responseKind": kind, "verbs": list(SUBRESOURCE_VERBS[name])}
            for name in sorted(served.subresources)
        ]
    return entry
