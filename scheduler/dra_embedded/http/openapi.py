"""OpenAPI v3, as far as kubectl needs it before it creates, applies or patches.

For each kind kubectl looks for a PATCH operation with a `fieldValidation` parameter: then it leaves validation to the
server. Schemas are not published, so `kubectl explain` finds nothing.
"""

from __future__ import annotations

from typing import Any

from dra_embedded.registry import Registry, Served

Object = dict[str, Any]
ROOT = "/openapi/v3"
_TEXT = {"type": "string"}
_PARAMETERS = [
    {"name": name, "in": "query", "schema": _TEXT} for name in ("dryRun", "fieldManager", "fieldValidation", "force")
]


def document(path: str, registry: Registry) -> Object | None:
    """The answer to a path under `/openapi/v3`; None: there is nothing there."""
    if path.rstrip("/") == ROOT:
        return {"paths": {name: {"serverRelativeURL": f"{ROOT}/{name}"} for name in _group_versions(registry)}}
    name = path.removeprefix(f"{ROOT}/").rstrip("/")
    if name not in _group_versions(registry):
        return None
    found = [(version, served) for group, version, served in registry.all() if _name(group, version) == name]
    return {
        "openapi": "3.0.0",
        "info": {"title": "dra-scheduler embedded cluster", "version": "v1.37"},
        "paths": dict(_operation(version, served) for version, served in found),
        "components": {"schemas": {}},
    }


def _group_versions(registry: Registry) -> list[str]:
    return list(dict.fromkeys(_name(group, version) for group, version, _served in registry.all()))


def _name(group: str, version: str) -> str:
    return f"apis/{group}/{version}" if group else f"api/{version}"


def _operation(version: str, served: Served) -> tuple[str, Object]:
    resource = served.resource
    kind = {"group": resource.group, "version": version, "kind": resource.kind}
    path = f"/{_name(resource.group, version)}/"
    path += "namespaces/{namespace}/" if resource.namespaced else ""
    patch = {
        "operationId": f"patch{resource.kind}",
        "parameters": _PARAMETERS,
        "responses": {"200": {"description": "OK"}},
        "x-kubernetes-action": "patch",
        "x-kubernetes-group-version-kind": kind,
    }
    return f"{path}{resource.plural}/{{name}}", {"patch": patch}
