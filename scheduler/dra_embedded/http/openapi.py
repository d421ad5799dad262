"""OpenAPI v3, as far as kubectl needs it before it creates, applies or patches.

For each kind kubectl looks for a PATCH operation with a `fieldValidation` parameter: then it leaves validation to the
server. Schemas have fields and types without descriptions, which is what `kubectl explain` then shows; a version that
objects are not stored in has none, and says so.
"""

from __future__ import annotations

from typing import Any

from dra_api.schema import Fields, Map, Schema
from dra_embedded.kinds.shapes import shape_of
from dra_embedded.registry import Registry, Served

Object = dict[str, Any]
ROOT = "/openapi/v3"
ABOUT = "An embedded cluster publishes fields and types, no descriptions: ask a real one for those."
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
        "components": {"schemas": dict(_component(version, served) for version, served in found)},
    }


def _group_versions(registry: Registry) -> list[str]:
    return list(dict.fromkeys(_name(group, version) for group, version, _served in registry.all()))


def _name(group: str, version: str) -> str:
    return f"apis/{group}/{version}" if group else f"api/{version}"


def _component(version: str, served: Served) -> tuple[str, Object]:
    resource = served.resource
    kind = {"group": resource.group, "version": version, "kind": resource.kind}
    schema: Object = {"type": "object", "x-kubernetes-group-version-kind": [kind], "description": ABOUT}
    if served.is_stored_as(version):
        published = _schema(shape_of(resource.kind))["properties"]
        schema["properties"] = {"apiVersion": _TEXT, "kind": _TEXT, **published}
    else:
        schema["description"] = f"{ABOUT} Its fields are those of {served.storage}, or what became them."
    return f"embedded.{_name(resource.group, version).replace('/', '.')}.{resource.kind}", schema


def _schema(schema: Schema) -> Object:
    """A schema of ours as OpenAPI has it."""
    if isinstance(schema, list):
        return {"type": "array", "items": _schema(schema[0])}
    if isinstance(schema, Map):
        return {"type": "object", "additionalProperties": _schema(schema.values)}
    if isinstance(schema, Fields):
        return {"type": "object", "properties": {name: _schema(each) for name, each in schema.fields.items()}}
    if schema == "any":
        return {"type": "object"}  # kubectl explain --recursive fails at a schema without a type
    return {"type": schema if schema in ("integer", "boolean") else "string"}


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
