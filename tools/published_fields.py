"""Write the names and types of the fields of Kubernetes' kinds, from its published OpenAPI documents.

python tools/published_fields.py FOLDER     FOLDER: api/openapi-spec/v3 of a Kubernetes source tree

The result, scheduler/dra_embedded/kinds/published_fields.json, is what the embedded API server knows of kinds that have
no schema of our own:

    {"kinds": {KIND: TYPE}, "types": {TYPE: {FIELD: SCHEMA}}}

SCHEMA is "string", "integer", "boolean", "quantity", "time", "any", a TYPE, [SCHEMA] for a list and {"": SCHEMA} for a
map.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

TARGET = Path(__file__).resolve().parents[1] / "scheduler/dra_embedded/kinds/published_fields.json"
DOCUMENTS = {
    "api__v1": (
        "Pod",
        "Node",
        "Namespace",
        "Event",
        "Service",
        "ReplicationController",
        "PersistentVolume",
        "PersistentVolumeClaim",
        "ConfigMap",
        "ServiceAccount",
        "Secret",
        "Endpoints",
    ),
    "apis__apps__v1": ("ReplicaSet", "StatefulSet", "Deployment", "DaemonSet"),
    "apis__batch__v1": ("Job", "CronJob"),
    "apis__networking.k8s.io__v1": ("Ingress", "NetworkPolicy"),
    "apis__rbac.authorization.k8s.io__v1": ("Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"),
    "apis__policy__v1": ("PodDisruptionBudget",),
    "apis__storage.k8s.io__v1": ("StorageClass", "CSINode", "CSIDriver", "CSIStorageCapacity"),
    "apis__scheduling.k8s.io__v1": ("PriorityClass",),
    "apis__coordination.k8s.io__v1": ("Lease",),
}
SPECIAL = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": "quantity",
    "io.k8s.apimachinery.pkg.apis.meta.v1.Time": "time",
    "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime": "time",
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": "any",
    "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1": "any",
}
PREFIX = "#/components/schemas/"
Object = dict[str, Any]


def main(folder: Path) -> None:
    kinds: dict[str, str] = {}
    types: dict[str, Object] = {}
    for document, wanted in DOCUMENTS.items():
        schemas = json.loads((folder / f"{document}_openapi.json").read_text())["components"]["schemas"]
        for name, schema in schemas.items():
            for published in schema.get("x-kubernetes-group-version-kind", []):
                if published["kind"] in wanted and name.startswith("io.k8s.api."):
                    kinds[published["kind"]] = _short(name)
                    _collect(name, schemas, types)
    found = {"kinds": dict(sorted(kinds.items())), "types": dict(sorted(types.items()))}
    lines = json.dumps(found["kinds"]), [f"{json.dumps(k)}:{json.dumps(v)}" for k, v in found["types"].items()]
    TARGET.write_text(f'{{"kinds":{lines[0]},"types":{{\n' + ",\n".join(lines[1]) + "\n}}\n")


def _collect(name: str, schemas: Object, types: dict[str, Object]) -> None:
    short = _short(name)
    if short in types:
        return
    types[short] = {}
    for field, schema in schemas[name].get("properties", {}).items():
        types[short][field] = _schema(schema, schemas, types)


def _schema(schema: Object, schemas: Object, types: dict[str, Object]) -> Any:
    reference = schema.get("$ref") or next((each["$ref"] for each in schema.get("allOf", ()) if "$ref" in each), None)
    if reference is not None:
        name = reference.removeprefix(PREFIX)
        if name in SPECIAL:
            return SPECIAL[name]
        _collect(name, schemas, types)
        return _short(name)
    kind = schema.get("type")
    if kind == "array":
        return [_schema(schema["items"], schemas, types)]
    if kind == "object" and "additionalProperties" in schema:
        return {"": _schema(schema["additionalProperties"], schemas, types)}
    return kind if kind in ("string", "integer", "boolean") else "any"


def _short(name: str) -> str:
    return name.removeprefix("io.k8s.").removeprefix("api.").removeprefix("apimachinery.pkg.apis.")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
