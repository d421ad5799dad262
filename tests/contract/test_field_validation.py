"""Fields that a kind does not have: dropped, with a warning unless told otherwise, or refused."""

from __future__ import annotations

from typing import Any

from dra_api.transport import STRATEGIC_MERGE_PATCH
from support.contract import Server, claim, contract, pod

MERGE = "application/merge-patch+json"


def misspelt() -> dict[str, Any]:
    return pod(containerz=[])


@contract
async def test_unknown_fields_are_warned_of_and_dropped(server: Server) -> None:
    for mode in ({}, {"fieldValidation": "Warn"}):
        answer = await server.call("POST", server.pods, misspelt(), dryRun="All", **mode)
        assert "containerz" not in answer.expect(201)["spec"]
        assert answer.warning == '299 - "unknown field \\"spec.containerz\\""'


@contract
async def test_unknown_fields_are_dropped_in_silence_when_ignored(server: Server) -> None:
    answer = await server.call("POST", server.pods, misspelt(), fieldValidation="Ignore")
    assert "containerz" not in answer.expect(201)["spec"]
    assert answer.warning == ""


@contract
async def test_unknown_fields_are_refused_by_their_path_when_strict(server: Server) -> None:
    deep = pod()
    deep["spec"]["containers"][0]["resources"] = {"request": {"cpu": "1"}}
    deep["spec"]["affinity"] = {"nodeAffinity": {"required": {}}}
    body = (await server.call("POST", server.pods, deep, fieldValidation="Strict")).refused(400, "BadRequest")
    assert 'unknown field "spec.containers[0].resources.request"' in body["message"]
    assert 'unknown field "spec.affinity.nodeAffinity.required"' in body["message"]


@contract
async def test_known_fields_of_every_kind_are_known(server: Server) -> None:
    """What nobody schedules by is kept as well."""
    known = pod(
        dnsPolicy="ClusterFirst",
        hostAliases=[{"ip": "127.0.0.1", "hostnames": ["here"]}],
        securityContext={"runAsUser": 1},
        volumes=[{"name": "empty", "emptyDir": {"sizeLimit": "1Gi"}}],
    )
    known["spec"]["containers"][0]["livenessProbe"] = {"httpGet": {"port": "web", "path": "/"}}
    created = (await server.call("POST", server.pods, known, fieldValidation="Strict")).expect(201)
    assert created["spec"]["volumes"][0] == {"name": "empty", "emptyDir": {"sizeLimit": "1Gi"}}
    assert created["spec"]["containers"][0]["livenessProbe"]["httpGet"]["port"] == "web"


@contract
async def test_other_kinds_know_their_fields_too(server: Server) -> None:
    maps = f"/api/v1/namespaces/{server.namespace}/configmaps"
    answer = await server.call("POST", maps, {"metadata": {"name": "one"}, "dat": {"a": "b"}})
    assert answer.expect(201)["metadata"]["name"] == "one"
    assert answer.warning == '299 - "unknown field \\"dat\\""'
    wrong = {"metadata": {"name": "two"}, "data": {"a": 1}}
    (await server.call("POST", maps, wrong)).refused(400, "BadRequest")


@contract
async def test_a_mode_that_does_not_exist_is_refused(server: Server) -> None:
    answer = await server.call("POST", server.pods, pod(), fieldValidation="Lax")
    body = answer.refused(422, "Invalid", ("FieldValueNotSupported", "fieldValidation"))
    assert body["details"]["kind"] == "CreateOptions"
    await server.create(server.claims, claim())
    change = {"metadata": {"labels": {"a": "b"}}}
    answer = await server.call("PATCH", f"{server.claims}/claim", change, content_type=MERGE, fieldValidation="Lax")
    assert answer.refused(422, "Invalid")["details"]["kind"] == "PatchOptions"


@contract
async def test_an_update_warns_too(server: Server) -> None:
    created = await server.create(server.pods, pod())
    created["spec"]["nodeNam"] = "n"
    answer = await server.call("PUT", f"{server.pods}/pod", created)
    answer.expect(200)
    assert answer.warning == '299 - "unknown field \\"spec.nodeNam\\""'


@contract
async def test_a_patch_warns_too_and_is_refused_when_strict(server: Server) -> None:
    await server.create(server.claims, claim())
    path, change = f"{server.claims}/claim", {"spek": {}}
    answer = await server.call("PATCH", path, change, content_type=MERGE)
    answer.expect(200)
    assert answer.warning == '299 - "unknown field \\"spek\\""'
    refused = await server.call("PATCH", path, change, content_type=MERGE, fieldValidation="Strict")
    assert 'unknown field "spek"' in refused.refused(422, "Invalid")["message"]
    await server.create(server.pods, pod())
    answer = await server.call(
        "PATCH", f"{server.pods}/pod", {"spec": {"nodeNam": "n"}}, content_type=STRATEGIC_MERGE_PATCH
    )
    answer.expect(200)
    assert answer.warning == '299 - "unknown field \\"spec.nodeNam\\""'
