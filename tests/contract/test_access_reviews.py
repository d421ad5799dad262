"""Asking for one's own rights, as somebody who may do everything."""

from __future__ import annotations

from support.contract import Server, contract

ROOT = "/apis/authorization.k8s.io/v1"


@contract
async def test_a_question_about_one_right_is_answered(server: Server) -> None:
    attributes = {"verb": "create", "group": "resource.k8s.io", "resource": "resourceclaims", "namespace": "default"}
    body = {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview"}
    asked = {**body, "spec": {"resourceAttributes": attributes}}
    answer = (await server.call("POST", f"{ROOT}/selfsubjectaccessreviews", asked)).expect(201)
    assert answer["kind"] == "SelfSubjectAccessReview"
    assert answer["status"]["allowed"] is True
    assert answer["spec"]["resourceAttributes"] == attributes


@contract
async def test_all_rights_in_a_namespace_are_listed(server: Server) -> None:
    asked = {"kind": "SelfSubjectRulesReview", "apiVersion": "authorization.k8s.io/v1", "spec": {"namespace": "a"}}
    answer = (await server.call("POST", f"{ROOT}/selfsubjectrulesreviews", asked)).expect(201)
    everything = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}
    assert everything in answer["status"]["resourceRules"]


@contract
async def test_one_may_ask_who_one_is(server: Server) -> None:
    asked = {"kind": "SelfSubjectReview", "apiVersion": "authentication.k8s.io/v1"}
    answer = (await server.call("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", asked)).expect(201)
    assert answer["kind"] == "SelfSubjectReview"
    user = answer["status"]["userInfo"]
    assert user["username"]
    assert "system:masters" in user["groups"]


@contract
async def test_questions_are_posted(server: Server) -> None:
    (await server.call("GET", f"{ROOT}/selfsubjectaccessreviews")).refused(405, "MethodNotAllowed")
    answer = await server.call("POST", f"{ROOT}/selfsubjectaccessreviews", b"[]")
    assert answer.status == 400
