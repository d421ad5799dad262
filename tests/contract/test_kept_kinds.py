"""Kinds that manifests of drivers bring along and nobody here acts on: they are kept as they are written."""

from __future__ import annotations

import base64
from typing import Any

from support.contract import MERGE_PATCH, Server, contract

RBAC = "rbac.authorization.k8s.io/v1"
NETWORK = "networking.k8s.io/v1"
RULES = [{"apiGroups": ["resource.k8s.io"], "resources": ["resourceslices"], "verbs": ["get", "create"]}]
POD = {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}
SUBJECTS = [{"kind": "ServiceAccount", "name": "driver", "namespace": "default"}]
BACKEND = {"service": {"name": "web", "port": {"number": 80}}}
KINDS: list[tuple[str, str, dict[str, Any]]] = [
    ("v1", "endpoints", {"subsets": [{"addresses": [{"ip": "192.0.2.1"}], "ports": [{"port": 80}]}]}),
    ("batch/v1", "cronjobs", {"spec": {"schedule": "0 0 * * *", "jobTemplate": {"spec": {"template": POD}}}}),
    (NETWORK, "ingresses", {"spec": {"defaultBackend": BACKEND}}),
    (NETWORK, "networkpolicies", {"spec": {"podSelector": {"matchLabels": {"a": "b"}}}}),
    (RBAC, "roles", {"rules": RULES}),
    (
        RBAC,
        "rolebindings",
        {"subjects": SUBJECTS, "roleRef": {"kind": "Role", "name": "driver", "apiGroup": "rbac.authorization.k8s.io"}},
    ),
]


def has(found: Any, wanted: Any) -> bool:
    """Whether everything wanted is in what was found, which may have defaults beside."""
    if isinstance(wanted, dict):
        return isinstance(found, dict) and all(has(found.get(key), value) for key, value in wanted.items())
    if isinstance(wanted, list):
        same_length = isinstance(found, list) and len(found) == len(wanted)
        return same_length and all(has(each, value) for each, value in zip(found, wanted, strict=True))
    return bool(found == wanted)


@contract
async def test_what_was_written_is_kept(server: Server) -> None:
    for version, plural, content in KINDS:
        root = "/api" if "/" not in version else "/apis"
        path = f"{root}/{version}/namespaces/{server.namespace}/{plural}"
        created = await server.create(path, {"metadata": {"name": "kept"}, **content})
        assert has(created, content), plural
        assert has(await server.get(f"{path}/kept"), content), plural
        labelled = await server.merge(f"{path}/kept", {"metadata": {"labels": {"a": "b"}}})
        assert has(labelled, content), plural
        await server.delete(f"{path}/kept")


@contract
async def test_roles_may_have_colons_in_their_names(server: Server) -> None:
    path = f"/apis/{RBAC}/clusterroles"
    name = f"{server.unique('role')}:reader"
    await server.create(path, {"metadata": {"name": name}, "rules": RULES})
    assert (await server.get(f"{path}/{name}"))["rules"] == RULES
    await server.delete(f"{path}/{name}")
    answer = await server.call("POST", path, {"metadata": {"name": "a%b"}, "rules": RULES})
    answer.refused(422, "Invalid", ("FieldValueInvalid", "metadata.name"))


@contract
async def test_plain_text_in_a_secret_becomes_data(server: Server) -> None:
    path = f"/api/v1/namespaces/{server.namespace}/secrets"
    old, new = (base64.b64encode(text).decode() for text in (b"old", b"new"))
    written = {"metadata": {"name": "secret"}, "data": {"a": old, "b": old}, "stringData": {"a": "new"}}
    created = await server.create(path, written)
    assert (created["type"], created["data"]) == ("Opaque", {"a": new, "b": old})
    assert "stringData" not in created
    change = {"stringData": {"b": "new"}}
    answer = await server.call("PATCH", f"{path}/secret", change, content_type=MERGE_PATCH)
    assert answer.expect(200)["data"] == {"a": new, "b": new}
