from __future__ import annotations

import pytest

from support.contract import DRA, Server, claim, contract, pod


@contract
async def test_unknown_paths_are_not_found(server: Server) -> None:
    answer = await server.call("GET", "/apis/no.such.group/v1/things")
    assert (answer.status, answer.text) == (404, b"404 page not found\n")
    (await server.call("GET", "/apis/resource.k8s.io/v7/resourceclaims")).refused(404, "NotFound")
    (await server.call("GET", f"{DRA}/nothings")).refused(404, "NotFound")
    (await server.call("GET", f"{server.claims}/a/nothing")).refused(404, "NotFound")


@contract
async def test_methods_that_a_path_does_not_have_are_refused(server: Server) -> None:
    for method, path in (
        ("PUT", server.claims),
        ("POST", f"{server.claims}/a"),
        ("DELETE", f"{server.pods}/a/binding"),
    ):
        answer = await server.call(method, path, {})
        answer.refused(405, "MethodNotAllowed")
    (await server.call("POST", f"{DRA}/resourceclaims", claim())).refused(405, "MethodNotAllowed")


@contract
async def test_an_object_that_is_not_there_is_not_found(server: Server) -> None:
    answer = await server.call("GET", f"{server.claims}/none")
    details = {"name": "none", "group": "resource.k8s.io", "kind": "resourceclaims"}
    assert answer.refused(404, "NotFound")["details"] == details
    answer = await server.call("GET", f"{server.pods}/none")
    status = answer.refused(404, "NotFound")
    assert (status["details"], status["message"]) == ({"name": "none", "kind": "pods"}, 'pods "none" not found')


@contract
async def test_media_types_that_are_not_spoken_are_refused(server: Server) -> None:
    answer = await server.call("POST", server.claims, b"<claim/>", content_type="application/xml")
    answer.refused(415, "UnsupportedMediaType")
    await server.create(server.claims, claim())
    answer = await server.call("PATCH", f"{server.claims}/claim", {}, content_type="application/json")
    answer.refused(415, "UnsupportedMediaType")


@contract
async def test_bodies_that_are_no_json_objects_are_bad_requests(server: Server) -> None:
    for body in (b'{"metadata":', b"[]", b"3", b'"x"'):
        (await server.call("POST", server.claims, body)).refused(400, "BadRequest")
    await server.create(server.claims, claim())
    path = f"{server.claims}/claim"
    for content_type in ("application/merge-patch+json", "application/json-patch+json"):
        answer = await server.call("PATCH", path, b"{", content_type=content_type)
        answer.refused(400, "BadRequest")


@contract
async def test_a_body_of_another_kind_or_version_is_a_bad_request(server: Server) -> None:
    wrong_kind = {**pod(), "apiVersion": "v1", "kind": "Pod"}
    (await server.call("POST", server.claims, wrong_kind)).refused(400, "BadRequest")
    wrong_version = {**claim(), "apiVersion": "resource.k8s.io/v1beta1", "kind": "ResourceClaim"}
    (await server.call("POST", server.claims, wrong_version)).refused(400, "BadRequest")


@contract
async def test_a_field_of_the_wrong_type_is_a_bad_request(server: Server) -> None:
    body = claim("one", {"name": "gpu", "exactly": {"deviceClassName": "gpu", "count": "two"}})
    (await server.call("POST", server.claims, body)).refused(400, "BadRequest")
    body = claim("one", {"name": "gpu", "exactly": ["gpu"]})
    (await server.call("POST", server.claims, body)).refused(400, "BadRequest")
    wrong = pod()
    wrong["spec"]["containers"] = "main"
    (await server.call("POST", server.pods, wrong)).refused(400, "BadRequest")


@contract
async def test_unknown_fields_are_dropped_or_refused_when_strict(server: Server) -> None:
    body = claim("one", {"name": "gpu", "exactly": {"deviceClassName": "gpu", "colour": "red"}})
    answer = await server.call("POST", server.claims, body, fieldValidation="Strict")
    message = answer.refused(400, "BadRequest")["message"]
    assert 'unknown field "spec.devices.requests[0].exactly.colour"' in message
    created = await server.create(server.claims, body)
    assert "colour" not in created["spec"]["devices"]["requests"][0]["exactly"]


@pytest.mark.filterwarnings("ignore:Sending a large body")
@contract
async def test_a_body_that_is_too_large_is_refused(server: Server) -> None:
    body = claim()
    body["metadata"]["annotations"] = {"example.com/big": "x" * (3 * 1024 * 1024)}
    (await server.call("POST", server.claims, body)).refused(413, "RequestEntityTooLarge")


@contract
async def test_annotations_have_a_limit_of_their_own(server: Server) -> None:
    body = claim()
    body["metadata"]["annotations"] = {"example.com/big": "x" * (256 * 1024)}
    answer = await server.call("POST", server.claims, body)
    answer.refused(422, "Invalid", ("FieldValueTooLong", "metadata.annotations"))


@contract
async def test_labels_and_owners_are_checked(server: Server) -> None:
    body = claim()
    body["metadata"]["labels"] = {"-bad": "x", "good": "no spaces"}
    body["metadata"]["ownerReferences"] = [{"apiVersion": "v1", "kind": "Pod", "name": "", "uid": "u"}]
    answer = await server.call("POST", server.claims, body)
    answer.refused(
        422,
        "Invalid",
        ("FieldValueInvalid", "metadata.labels"),
        ("FieldValueInvalid", "metadata.labels"),
        ("FieldValueRequired", "metadata.ownerReferences[0].name"),
    )
