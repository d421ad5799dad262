"""What the server says about itself: API groups and resources, version, health."""

from __future__ import annotations

from typing import Any

from dra_api.transport import Response
from dra_embedded.bodies import json_response
from dra_embedded.registry import Registry, Served

Object = dict[str, Any]

KUBERNETES_VERSION = (1, 37, 2)
"""The release whose API server this one stands in for."""

KIND_VERBS = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"]
SUBRESOURCE_VERBS = {"status": ["get", "patch", "update"], "finalize": ["update"], "binding": ["create"]}
_HEALTH = ("healthz", "livez", "readyz")
_TEXT = {"content-type": "text/plain; charset=utf-8"}


def discover(path: str, registry: Registry) -> Response | None:
    """The answer to a path that is not a resource's; None: there is nothing there."""
    parts = path.strip("/").split("/")
    if parts[0] in _HEALTH:
        return Response(200, b"ok", _TEXT)
    if parts == ["version"]:
        return json_response(200, _version())
    if parts == ["api"]:
        return json_response(200, {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []})
    if parts == ["apis"]:
        groups = [_group(group, registry) for group in group_names(registry)]
        return json_response(200, {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
    if len(parts) == 2 and parts[0] == "apis" and parts[1] in group_names(registry):
        return json_response(200, {"kind": "APIGroup", "apiVersion": "v1", **_group(parts[1], registry)})
    if parts[0] == "api" and len(parts) == 2 and registry.has_version("", parts[1]):
        return json_response(200, _resources("", parts[1], registry))
    if parts[0] == "apis" and len(parts) == 3 and registry.has_version(parts[1], parts[2]):
        return json_response(200, _resources(parts[1], parts[2], registry))
    return None


def not_found_page() -> Response:
    """The answer to a path outside the API."""
    return Response(404, b"404 page not found\n", _TEXT)


def _version() -> Object:
    major, minor, patch = KUBERNETES_VERSION
    return {
        "major": str(major),
        "minor": str(minor),
        "gitVersion": f"v{major}.{minor}.{patch}",
        "gitCommit": "",
        "gitTreeState": "",
        "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": "",
        "compiler": "",
        "platform": "embedded",
    }


def group_names(registry: Registry) -> list[str]:
    """The API groups, without the core group."""
    return list(dict.fromkeys(group for group, _version, _served in registry.all() if group))


def _group(name: str, registry: Registry) -> Object:
    found = dict.fromkeys(version for group, version, _served in registry.all() if group == name)
    versions = [{"groupVersion": f"{name}/{version}", "version": version} for version in found]
    return {"name": name, "versions": versions, "preferredVersion": versions[0]}


def _resources(group: str, version: str, registry: Registry) -> Object:
    listed = []
    for found_group, found_version, served in registry.all():
        if (found_group, found_version) == (group, version):
            listed += _entries(served)
    name = f"{group}/{version}" if group else version
    return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": name, "resources": listed}


def _entries(served: Served) -> list[Object]:
    resource = served.resource
    main: Object = {
        "name": resource.plural,
        "singularName": resource.singular,
        "namespaced": resource.namespaced,
        "kind": resource.kind,
        "verbs": KIND_VERBS,
    }
    if served.short_names:
        main["shortNames"] = list(served.short_names)
    entries = [main]
    for subresource in sorted(served.subresources):
        entry = {
            "name": f"{resource.plural}/{subresource}",
            "singularName": "",
            "namespaced": resource.namespaced,
            "kind": "Binding" if subresource == "binding" else resource.kind,
            "verbs": SUBRESOURCE_VERBS[subresource],
        }
        entries.append(entry)
    return entries
