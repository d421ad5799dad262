from __future__ import annotations

import re

from support.contract import DRA, Server, claim, contract, pod

UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")


@contract
async def test_a_created_object_gets_uid_version_time_and_its_kind(server: Server) -> None:
    created = await server.create(server.claims, claim("one"))
    metadata = created["metadata"]
    assert (created["kind"], created["apiVersion"]) == ("ResourceClaim", "resource.k8s.io/v1")
    assert metadata["namespace"] == server.namespace
    assert UID.fullmatch(metadata["uid"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", metadata["creationTimestamp"])
    assert int(metadata["resourceVersion"]) > 0
    assert "generation" not in metadata
    assert created["status"] == {}
    got = await server.get(f"{server.claims}/one")
    for each in (created, got):
        each["metadata"].pop("managedFields", None)
    assert got == created


@contract
async def test_a_claim_gets_the_defaults_of_its_requests(server: Server) -> None:
    created = await server.create(server.claims, claim("one"))
    exactly = {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1}
    assert created["spec"] == {"devices": {"requests": [{"name": "gpu", "exactly": exactly}]}}


@contract
async def test_a_pod_gets_the_defaults_that_schedulers_see(server: Server) -> None:
    body = pod("one")
    body["spec"]["containers"][0]["resources"] = {"limits": {"cpu": "1000m", "memory": "1024Mi"}}
    created = await server.create(server.pods, body)
    spec, status = created["spec"], created["status"]
    assert spec["schedulerName"] == "nobody"
    assert (spec["priority"], spec["preemptionPolicy"]) == (0, "PreemptLowerPriority")
    assert (spec["restartPolicy"], spec["terminationGracePeriodSeconds"]) == ("Always", 30)
    assert (spec["dnsPolicy"], spec["enableServiceLinks"], spec["securityContext"]) == ("ClusterFirst", True, {})
    limits = {"cpu": "1", "memory": "1Gi"}
    assert spec["containers"][0]["resources"] == {"limits": limits, "requests": limits}
    assert spec["containers"][0]["imagePullPolicy"] == "IfNotPresent"
    assert spec["containers"][0]["terminationMessagePath"] == "/dev/termination-log"
    assert spec["containers"][0]["terminationMessagePolicy"] == "File"
    assert status == {"phase": "Pending", "qosClass": "Guaranteed"}
    assert created["metadata"]["generation"] == 1
    tolerated = {(each["key"], each["effect"], each["tolerationSeconds"]) for each in spec["tolerations"]}
    prefix = "node.kubernetes.io"
    assert tolerated == {(f"{prefix}/{word}", "NoExecute", 300) for word in ("not-ready", "unreachable")}


@contract
async def test_the_default_scheduler_is_named_when_none_is(server: Server) -> None:
    body = pod("one")
    del body["spec"]["schedulerName"]
    assert (await server.create(server.pods, body))["spec"]["schedulerName"] == "default-scheduler"


@contract
async def test_what_only_the_server_may_set_is_ignored_on_create(server: Server) -> None:
    body = claim("one")
    body["metadata"] |= {"uid": "mine", "creationTimestamp": "2001-01-01T00:00:00Z"}
    body["metadata"] |= {"deletionTimestamp": "2001-01-01T00:00:00Z", "deletionGracePeriodSeconds": 3}
    body["status"] = {"reservedFor": [{"resource": "pods", "name": "a", "uid": "b"}]}
    created = await server.create(server.claims, body)
    metadata = created["metadata"]
    assert UID.fullmatch(metadata["uid"])
    assert not metadata["creationTimestamp"].startswith("2001")
    assert metadata.keys().isdisjoint({"deletionTimestamp", "deletionGracePeriodSeconds"})
    assert created["status"] == {}


@contract
async def test_generated_names_differ_and_keep_their_base(server: Server) -> None:
    body = claim()
    body["metadata"] = {"generateName": "gpu-of-"}
    names = {(await server.create(server.claims, body))["metadata"]["name"] for _ in range(5)}
    assert len(names) == 5
    assert all(re.fullmatch(r"gpu-of-[bcdfghjklmnpqrstvwxz2456789]{5}", name) for name in names)


@contract
async def test_a_taken_name_conflicts(server: Server) -> None:
    await server.create(server.claims, claim("one"))
    answer = await server.call("POST", server.claims, claim("one"))
    status = answer.refused(409, "AlreadyExists")
    assert status["details"] == {"name": "one", "group": "resource.k8s.io", "kind": "resourceclaims"}
    assert status["message"] == 'resourceclaims.resource.k8s.io "one" already exists'


@contract
async def test_nothing_is_created_in_a_namespace_that_is_not_there(server: Server) -> None:
    answer = await server.call("POST", "/api/v1/namespaces/no-such-namespace/pods", pod())
    assert answer.refused(404, "NotFound")["details"] == {"name": "no-such-namespace", "kind": "namespaces"}


@contract
async def test_the_namespace_of_body_and_path_must_agree(server: Server) -> None:
    body = pod()
    body["metadata"]["namespace"] = "other"
    (await server.call("POST", server.pods, body)).refused(400, "BadRequest")


@contract
async def test_a_name_is_needed_and_must_be_well_formed(server: Server) -> None:
    nameless = claim()
    nameless["metadata"] = {}
    answer = await server.call("POST", server.claims, nameless)
    answer.refused(422, "Invalid", ("FieldValueRequired", "metadata.name"))
    assert answer.body["details"]["kind"] == "ResourceClaim"
    assert answer.body["message"].startswith(
        'ResourceClaim.resource.k8s.io "" is invalid: metadata.name: Required value'
    )
    answer = await server.call("POST", server.claims, claim("Not_Fine"))
    answer.refused(422, "Invalid", ("FieldValueInvalid", "metadata.name"))


@contract
async def test_a_resource_version_is_refused_on_create(server: Server) -> None:
    body = claim()
    body["metadata"]["resourceVersion"] = "1"
    answer = await server.call("POST", server.claims, body)
    assert answer.status == 500
    assert "resourceVersion should not be set" in answer.body["message"]


@contract
async def test_a_pod_with_gates_says_so_in_its_conditions(server: Server) -> None:
    created = await server.create(server.pods, pod(schedulingGates=[{"name": "example.com/wait"}]))
    (condition,) = created["status"]["conditions"]
    assert (condition["type"], condition["status"], condition["reason"]) == ("PodScheduled", "False", "SchedulingGated")


@contract
async def test_a_pod_needs_containers_and_sound_claims(server: Server) -> None:
    body = pod(claims=[{"name": "gpu", "resourceClaimName": "a"}, {"name": "gpu", "resourceClaimName": "b"}])
    body["spec"]["resourceClaims"] += [{"name": "none"}, {"name": "two"}]
    body["spec"]["resourceClaims"][-1] |= {"resourceClaimName": "x", "resourceClaimTemplateName": "y"}
    body["spec"]["containers"][0]["resources"]["claims"] = [{"name": "gpu"}, {"name": "unknown"}]
    answer = await server.call("POST", server.pods, body)
    answer.refused(
        422,
        "Invalid",
        ("FieldValueDuplicate", "spec.resourceClaims[1].name"),
        ("FieldValueInvalid", "spec.resourceClaims[2]"),
        ("FieldValueInvalid", "spec.resourceClaims[3]"),
        ("FieldValueNotFound", "spec.containers[0].resources.claims[1]"),
    )
    answer = await server.call("POST", server.pods, {"metadata": {"name": "empty"}, "spec": {"containers": []}})
    answer.refused(422, "Invalid", ("FieldValueRequired", "spec.containers"))


@contract
async def test_a_pod_without_a_spec_lacks_what_a_spec_must_have(server: Server) -> None:
    answer = await server.call("POST", server.pods, {"metadata": {"name": server.unique("pod")}})
    answer.refused(422, "Invalid", ("FieldValueRequired", "spec.containers"))


@contract
async def test_a_priority_class_sets_the_priority(server: Server) -> None:
    name = server.unique("class")
    path = "/apis/scheduling.k8s.io/v1/priorityclasses"
    await server.create(path, {"metadata": {"name": name}, "value": 1234, "preemptionPolicy": "Never"})
    created = await server.create(server.pods, pod(priorityClassName=name))
    assert (created["spec"]["priority"], created["spec"]["preemptionPolicy"]) == (1234, "Never")
    (await server.call("POST", server.pods, pod("other", priorityClassName="no-such"))).refused(403, "Forbidden")
    (await server.call("POST", server.pods, pod("other", priority=5))).refused(403, "Forbidden")
    await server.delete(f"{path}/{name}")


@contract
async def test_a_dry_run_creates_nothing(server: Server) -> None:
    answer = await server.call("POST", server.claims, claim("dry"), dryRun="All")
    answer.expect(201)
    (await server.call("GET", f"{server.claims}/dry")).refused(404, "NotFound")


@contract
async def test_cluster_scoped_kinds_of_dra_count_their_generation(server: Server) -> None:
    name = server.unique("class")
    created = await server.create(f"{DRA}/deviceclasses", {"metadata": {"name": name}, "spec": {}})
    assert created["metadata"]["generation"] == 1
    assert "namespace" not in created["metadata"]
    selector = {"cel": {"expression": "device.driver == 'x'"}}
    changed = await server.merge(f"{DRA}/deviceclasses/{name}", {"spec": {"selectors": [selector]}})
    assert changed["metadata"]["generation"] == 2
    labelled = await server.merge(f"{DRA}/deviceclasses/{name}", {"metadata": {"labels": {"a": "b"}}})
    assert labelled["metadata"]["generation"] == 2
    await server.delete(f"{DRA}/deviceclasses/{name}")
