"""Requests that nobody sends on purpose, and what they are answered with."""

from __future__ import annotations

from dra_api.transport import JSON_PATCH, STRATEGIC_MERGE_PATCH
from support.contract import Server, claim, contract, pod

MERGE = "application/merge-patch+json"


@contract
async def test_parameters_that_are_no_numbers_are_bad_requests(server: Server) -> None:
    await server.create(server.claims, claim())
    for parameter in ("limit", "timeoutSeconds"):
        (await server.call("GET", server.claims, **{parameter: "many"})).refused(400, "BadRequest")
    answer = await server.call("DELETE", f"{server.claims}/claim", gracePeriodSeconds="soon")
    answer.refused(400, "BadRequest")


@contract
async def test_a_put_without_a_name_is_a_bad_request(server: Server) -> None:
    created = await server.create(server.claims, claim())
    del created["metadata"]["name"]
    (await server.call("PUT", f"{server.claims}/claim", created)).refused(400, "BadRequest")


@contract
async def test_a_put_into_another_namespace_is_a_bad_request(server: Server) -> None:
    created = await server.create(server.claims, claim())
    created["metadata"]["namespace"] = "default"
    (await server.call("PUT", f"{server.claims}/claim", created)).refused(400, "BadRequest")


@contract
async def test_names_and_namespaces_are_not_patched(server: Server) -> None:
    await server.create(server.claims, claim())
    change = {"metadata": {"namespace": "default"}}
    answer = await server.call("PATCH", f"{server.claims}/claim", change, content_type=MERGE)
    answer.refused(400, "BadRequest")
    change = {"metadata": {"name": "other"}}
    answer = await server.call("PATCH", f"{server.claims}/claim", change, content_type=MERGE)
    answer.refused(400, "BadRequest")


@contract
async def test_merge_patches_are_objects(server: Server) -> None:
    await server.create(server.pods, pod())
    for content_type in (MERGE, STRATEGIC_MERGE_PATCH):
        answer = await server.call("PATCH", f"{server.pods}/pod", [], content_type=content_type)
        answer.refused(400, "BadRequest")
    answer = await server.call("PATCH", f"{server.pods}/pod", {}, content_type=JSON_PATCH)
    answer.refused(400, "BadRequest")


@contract
async def test_a_patch_of_the_wrong_type_is_refused(server: Server) -> None:
    await server.create(server.claims, claim())
    change = {"metadata": {"labels": "none"}}
    answer = await server.call("PATCH", f"{server.claims}/claim", change, content_type=MERGE)
    answer.refused(422, "Invalid", ("FieldValueInvalid", "patch"))


@contract
async def test_an_empty_patch_changes_nothing(server: Server) -> None:
    created = await server.create(server.claims, claim())
    patched = await server.merge(f"{server.claims}/claim", {})
    assert patched["metadata"]["resourceVersion"] == created["metadata"]["resourceVersion"]


@contract
async def test_dry_runs_of_updates_and_deletions_change_nothing(server: Server) -> None:
    await server.create(server.claims, claim())
    path = f"{server.claims}/claim"
    before = await server.get(path)
    change = {"metadata": {"labels": {"a": "b"}}}
    dry = await server.call("PATCH", path, change, content_type=MERGE, dryRun="All")
    assert dry.expect(200)["metadata"]["labels"] == {"a": "b"}
    (await server.call("DELETE", path, dryRun="All")).expect(200)
    (await server.call("DELETE", server.claims, dryRun="All")).expect(200)
    assert await server.get(path) == before


@contract
async def test_a_dry_deletion_may_be_asked_for_in_its_options(server: Server) -> None:
    await server.create(server.claims, claim())
    path = f"{server.claims}/claim"
    before = await server.get(path)
    options = {"kind": "DeleteOptions", "apiVersion": "v1", "dryRun": ["All"]}
    (await server.call("DELETE", path, options)).expect(200)
    (await server.call("DELETE", server.claims, options)).expect(200)
    assert await server.get(path) == before


@contract
async def test_a_dry_run_is_of_everything(server: Server) -> None:
    await server.create(server.claims, claim())
    path = f"{server.claims}/claim"
    before = await server.get(path)
    problem = ("FieldValueNotSupported", "dryRun")
    for method, place, body in (
        ("POST", server.claims, claim("other")),
        ("PUT", path, before),
        ("DELETE", path, None),
        ("DELETE", server.claims, None),
    ):
        (await server.call(method, place, body, dryRun="Some")).refused(422, "Invalid", problem)
    change = {"metadata": {"labels": {"a": "b"}}}
    answer = await server.call("PATCH", path, change, content_type=MERGE, dryRun="Some")
    answer.refused(422, "Invalid", problem)
    (await server.call("DELETE", path, {"dryRun": ["Some"]})).refused(422, "Invalid", problem)
    assert await server.get(path) == before
    assert (await server.call("GET", f"{server.claims}/other")).status == 404


@contract
async def test_delete_options_are_delete_options(server: Server) -> None:
    await server.create(server.claims, claim())
    wrong = {"kind": "Pod", "apiVersion": "v1"}
    (await server.call("DELETE", f"{server.claims}/claim", wrong)).refused(400, "BadRequest")
    fine = {"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Background"}
    (await server.call("DELETE", f"{server.claims}/claim", fine)).expect(200)


@contract
async def test_leases_have_sensible_numbers(server: Server) -> None:
    path = f"/apis/coordination.k8s.io/v1/namespaces/{server.namespace}/leases"
    spec = {"leaseDurationSeconds": 0, "leaseTransitions": -1}
    answer = await server.call("POST", path, {"metadata": {"name": "lease"}, "spec": spec})
    answer.refused(
        422,
        "Invalid",
        ("FieldValueInvalid", "spec.leaseDurationSeconds"),
        ("FieldValueInvalid", "spec.leaseTransitions"),
    )


@contract
async def test_containers_need_names_and_images(server: Server) -> None:
    body = pod()
    body["spec"]["containers"] = [
        {"name": "a"},
        {"image": "i"},
        {"name": "a", "image": "i"},
        {"name": "A", "image": "i"},
    ]
    answer = await server.call("POST", server.pods, body)
    answer.refused(
        422,
        "Invalid",
        ("FieldValueRequired", "spec.containers[0].image"),
        ("FieldValueRequired", "spec.containers[1].name"),
        ("FieldValueDuplicate", "spec.containers[2].name"),
        ("FieldValueInvalid", "spec.containers[3].name"),
    )


@contract
async def test_a_pod_has_a_known_restart_policy_and_a_node_with_a_sound_name(server: Server) -> None:
    answer = await server.call("POST", server.pods, pod(restartPolicy="Sometimes"))
    answer.refused(422, "Invalid", ("FieldValueNotSupported", "spec.restartPolicy"))
    answer = await server.call("POST", server.pods, pod(nodeName="Not_A_Node"))
    answer.refused(422, "Invalid", ("FieldValueInvalid", "spec.nodeName"))
    gated = pod(nodeName="node", schedulingGates=[{"name": "example.com/wait"}])
    answer = await server.call("POST", server.pods, gated)
    answer.refused(422, "Invalid", ("FieldValueForbidden", "spec.nodeName"))


@contract
async def test_resources_of_containers_are_sound_quantities(server: Server) -> None:
    body = pod()
    body["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "two"}}
    (await server.call("POST", server.pods, body)).refused(400, "BadRequest")
    body["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}
    answer = await server.call("POST", server.pods, body)
    answer.refused(422, "Invalid", ("FieldValueInvalid", "spec.containers[0].resources.requests"))
    body["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "-1"}}
    answer = await server.call("POST", server.pods, body)
    answer.refused(422, "Invalid", ("FieldValueInvalid", "spec.containers[0].resources.requests[cpu]"))


@contract
async def test_extended_resources_are_whole_and_limits_equal_requests(server: Server) -> None:
    body = pod()
    body["spec"]["containers"][0]["resources"] = {"limits": {"example.com/gpu": "1500m"}}
    answer = await server.call("POST", server.pods, body)
    answer.expect(422)
    assert ("FieldValueInvalid", "spec.containers[0].resources.limits[example.com/gpu]") in answer.causes
    body["spec"]["containers"][0]["resources"] = {"requests": {"example.com/gpu": "1"}}
    answer = await server.call("POST", server.pods, body)
    answer.refused(422, "Invalid", ("FieldValueRequired", "spec.containers[0].resources.limits"))


@contract
async def test_tolerations_and_gates_are_checked(server: Server) -> None:
    tolerations = [{"key": "a", "operator": "Exists", "value": "x"}, {"operator": "Equal", "value": "x"}]
    answer = await server.call("POST", server.pods, pod(tolerations=tolerations))
    answer.expect(422)
    assert {field.split("]")[0] for _, field in answer.causes} == {"spec.tolerations[0", "spec.tolerations[1"}
    gates = [{"name": "not fine"}, {"name": "a"}, {"name": "a"}]
    answer = await server.call("POST", server.pods, pod(schedulingGates=gates))
    answer.expect(422)
    assert "FieldValueDuplicate" in {reason for reason, _ in answer.causes}


@contract
async def test_node_affinity_is_checked(server: Server) -> None:
    term = {"matchExpressions": [{"key": "zone", "operator": "In", "values": []}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    answer = await server.call("POST", server.pods, pod(affinity={"nodeAffinity": required}))
    answer.expect(422)
    assert answer.causes[0][1].startswith("spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution")
    none = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": []}}
    answer = await server.call("POST", server.pods, pod(affinity={"nodeAffinity": none}))
    answer.expect(422)
    assert answer.causes[0][0] == "FieldValueRequired"


@contract
async def test_taints_of_nodes_are_checked(server: Server) -> None:
    name = server.unique("node")
    body = {"metadata": {"name": name}, "spec": {"taints": [{"key": "a", "effect": "NoThing"}]}}
    answer = await server.call("POST", "/api/v1/nodes", body)
    answer.refused(422, "Invalid", ("FieldValueNotSupported", "metadata.taints[0].effect"))


@contract
async def test_a_node_keeps_its_provider(server: Server) -> None:
    name = server.unique("node")
    path = f"/api/v1/nodes/{name}"
    await server.create("/api/v1/nodes", {"metadata": {"name": name}, "spec": {"providerID": "a"}})
    answer = await server.call("PATCH", path, {"spec": {"providerID": "b"}}, content_type=MERGE)
    answer.refused(422, "Invalid", ("FieldValueInvalid", "spec.providerID"))
    await server.delete(path)
