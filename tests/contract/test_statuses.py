"""Status subresources and what each write leaves alone, beyond claims."""

from __future__ import annotations

from dra_api.transport import STRATEGIC_MERGE_PATCH
from support.contract import DRA, Object, Server, contract, pod

MERGE = "application/merge-patch+json"


@contract
async def test_a_node_may_report_its_status_when_it_registers(server: Server) -> None:
    name = server.unique("node")
    capacity = {"cpu": "4000m", "memory": "8Gi", "pods": "110"}
    body = {"metadata": {"name": name}, "status": {"capacity": capacity}}
    created = await server.create("/api/v1/nodes", body)
    assert created["status"]["capacity"] == {"cpu": "4", "memory": "8Gi", "pods": "110"}
    assert created["status"]["allocatable"] == created["status"]["capacity"]
    path = f"/api/v1/nodes/{name}"
    changed = await server.merge(path, {"spec": {"unschedulable": True}, "status": {"capacity": {"cpu": "8"}}})
    assert changed["spec"]["unschedulable"] is True
    assert changed["status"]["capacity"]["cpu"] == "4"
    reported = await server.merge(f"{path}/status", {"status": {"capacity": {"cpu": "8"}}, "spec": {"podCIDR": "x"}})
    assert reported["status"]["capacity"]["cpu"] == "8"
    assert "podCIDR" not in reported["spec"]
    selector = f"metadata.name={name},spec.unschedulable=true"
    assert len((await server.get("/api/v1/nodes", fieldSelector=selector))["items"]) == 1
    await server.delete(path)


@contract
async def test_node_conditions_merge_by_type(server: Server) -> None:
    name = server.unique("node")
    await server.create("/api/v1/nodes", {"metadata": {"name": name}})
    path = f"/api/v1/nodes/{name}/status"
    for kind in ("Ready", "MemoryPressure"):
        body = {"status": {"conditions": [{"type": kind, "status": "True"}]}}
        (await server.call("PATCH", path, body, content_type=STRATEGIC_MERGE_PATCH)).expect(200)
    conditions = (await server.get(f"/api/v1/nodes/{name}"))["status"]["conditions"]
    assert sorted(each["type"] for each in conditions) == ["MemoryPressure", "Ready"]
    await server.delete(f"/api/v1/nodes/{name}")


@contract
async def test_a_status_can_be_read_by_its_own_path(server: Server) -> None:
    await server.create(server.pods, pod())
    read = await server.get(f"{server.pods}/pod/status")
    assert (read["kind"], read["status"]["phase"]) == ("Pod", "Pending")


@contract
async def test_a_pods_status_keeps_what_the_claim_controller_wrote(server: Server) -> None:
    await server.create(server.pods, pod(claims=[{"name": "gpu", "resourceClaimName": "claim"}]))
    path = f"{server.pods}/pod/status"
    statuses = [{"name": "gpu", "resourceClaimName": "claim"}]
    await server.merge(path, {"status": {"resourceClaimStatuses": statuses}})
    current = await server.get(f"{server.pods}/pod")
    current["status"] = {"phase": "Running"}
    updated = await server.put(path, current)
    assert updated["status"]["resourceClaimStatuses"] == statuses
    assert updated["status"]["qosClass"] == "BestEffort"
    assert updated["status"]["phase"] == "Running"


@contract
async def test_the_quality_of_service_of_a_pod_does_not_change(server: Server) -> None:
    await server.create(server.pods, pod())
    body = {"status": {"qosClass": "Guaranteed"}}
    answer = await server.call("PATCH", f"{server.pods}/pod/status", body, content_type=MERGE)
    answer.refused(422, "Invalid", ("FieldValueInvalid", "status.qosClass"))


@contract
async def test_a_bound_pod_is_not_nominated(server: Server) -> None:
    await server.create(server.pods, pod())
    path = f"{server.pods}/pod/status"
    assert (await server.merge(path, {"status": {"nominatedNodeName": "n1"}}))["status"]["nominatedNodeName"] == "n1"
    found = await server.get(server.pods, fieldSelector="status.nominatedNodeName=n1")
    assert len(found["items"]) == 1
    await server.create(f"{server.pods}/pod/binding", {"metadata": {"name": "pod"}, "target": {"name": "n1"}})
    answer = await server.call("PATCH", path, {"status": {"nominatedNodeName": "n2"}}, content_type=MERGE)
    answer.refused(422, "Invalid", ("FieldValueForbidden", "status.nominatedNodeName"))


@contract
async def test_a_pods_labels_are_written_through_its_status_and_its_owners_are_not(server: Server) -> None:
    await server.create(server.pods, pod())
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "x", "uid": "y"}
    body = {"metadata": {"labels": {"a": "b"}, "ownerReferences": [owner]}}
    patched = await server.merge(f"{server.pods}/pod/status", body)
    assert patched["metadata"]["labels"] == {"a": "b"}
    assert "ownerReferences" not in patched["metadata"]


@contract
async def test_a_pod_is_not_bound_by_patches(server: Server) -> None:
    await server.create(server.pods, pod())
    answer = await server.call("PATCH", f"{server.pods}/pod", {"spec": {"nodeName": "n"}}, content_type=MERGE)
    answer.refused(422, "Invalid", ("FieldValueForbidden", "spec"))
    patched = await server.merge(f"{server.pods}/pod/status", {"spec": {"nodeName": "n"}})
    assert "nodeName" not in patched["spec"]


@contract
async def test_tolerations_are_only_added(server: Server) -> None:
    made = await server.create(server.pods, pod())
    more = [*made["spec"]["tolerations"], {"key": "example.com/x", "operator": "Exists"}]
    patched = await server.merge(f"{server.pods}/pod", {"spec": {"tolerations": more}})
    assert len(patched["spec"]["tolerations"]) == len(more)
    again = await server.merge(f"{server.pods}/pod", {"spec": {"tolerations": more[1:]}})
    assert len(again["spec"]["tolerations"]) == len(more)
    fewer = {"spec": {"tolerations": more[:-1]}}
    answer = await server.call("PATCH", f"{server.pods}/pod", fewer, content_type=MERGE)
    answer.expect(422)
    assert {reason for reason, _ in answer.causes} == {"FieldValueForbidden"}


@contract
async def test_containers_are_not_added_to_a_pod(server: Server) -> None:
    made = await server.create(server.pods, pod())
    more = [*made["spec"]["containers"], {"name": "more", "image": "x"}]
    answer = await server.call("PATCH", f"{server.pods}/pod", {"spec": {"containers": more}}, content_type=MERGE)
    answer.refused(422, "Invalid", ("FieldValueForbidden", "spec.containers"))


@contract
async def test_a_gated_pod_may_be_narrowed_down(server: Server) -> None:
    await server.create(server.pods, pod(schedulingGates=[{"name": "example.com/wait"}]))
    narrowed = await server.merge(f"{server.pods}/pod", {"spec": {"nodeSelector": {"zone": "a"}}})
    assert narrowed["spec"]["nodeSelector"] == {"zone": "a"}
    body = {"spec": {"nodeSelector": {"zone": "b"}}}
    answer = await server.call("PATCH", f"{server.pods}/pod", body, content_type=MERGE)
    answer.refused(422, "Invalid", ("FieldValueInvalid", "spec.nodeSelector"))

    def required(*terms: object) -> Object:
        return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": list(terms)}}}

    zone = {"key": "zone", "operator": "In", "values": ["a"]}
    rack = {"key": "rack", "operator": "Exists"}
    one = required({"matchExpressions": [zone]})
    await server.merge(f"{server.pods}/pod", {"spec": {"affinity": one}})
    more = required({"matchExpressions": [zone, rack]})
    await server.merge(f"{server.pods}/pod", {"spec": {"affinity": more}})
    terms = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
    for affinity, field in ((one, f"{terms}[0]"), (required(), terms)):
        change = {"spec": {"affinity": affinity}}
        answer = await server.call("PATCH", f"{server.pods}/pod", change, content_type=MERGE)
        assert ("FieldValueInvalid", field) in answer.causes, answer.body


@contract
async def test_conditions_of_a_taint_rule_are_its_status(server: Server) -> None:
    name = server.unique("rule")
    spec = {"deviceSelector": {"driver": "none.example.com"}, "taint": {"key": "example.com/t", "effect": "None"}}
    created = await server.create(f"{DRA}/devicetaintrules", {"metadata": {"name": name}, "spec": spec})
    assert created["metadata"]["generation"] == 1
    path = f"{DRA}/devicetaintrules/{name}"
    condition = {"type": "Example", "status": "True", "reason": "Because", "message": ""}
    condition["lastTransitionTime"] = "2026-01-01T00:00:00Z"

    async def written() -> bool:  # a controller may be writing the status at the same time
        current = await server.get(path)
        current["status"] = {"conditions": [condition]}
        current["spec"]["taint"]["effect"] = "NoExecute"
        answer = await server.call("PUT", f"{path}/status", current)
        assert answer.status in (200, 409)
        return answer.status == 200 and answer.body["spec"]["taint"]["effect"] == "None"

    await server.eventually(written, "the status of the rule")
    await server.delete(path)


@contract
async def test_kinds_of_other_groups_are_kept_as_they_are(server: Server) -> None:
    path = f"/apis/apps/v1/namespaces/{server.namespace}/replicasets"
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {"replicas": 0, "selector": {"matchLabels": {"a": "b"}}, "template": template}
    created = await server.create(path, {"metadata": {"name": "rs"}, "spec": spec})
    assert (created["kind"], created["apiVersion"]) == ("ReplicaSet", "apps/v1")
    assert created["spec"]["selector"] == spec["selector"]
    assert created["metadata"]["generation"] == 1
    changed = await server.merge(f"{path}/rs", {"metadata": {"labels": {"x": "y"}}})
    assert changed["metadata"]["labels"] == {"x": "y"}
    assert [each["metadata"]["name"] for each in (await server.get(path))["items"]] == ["rs"]
    await server.delete(f"{path}/rs")


@contract
async def test_the_special_claim_of_a_pod_is_named_with_what_it_serves_and_never_taken_back(server: Server) -> None:
    body = pod()
    body["spec"]["containers"][0]["resources"] = {
        "requests": {"example.com/gpu": "1"},
        "limits": {"example.com/gpu": "1"},
    }
    container = body["spec"]["containers"][0]["name"]
    await server.create(server.pods, body)
    path = f"{server.pods}/pod/status"
    mapping = {"containerName": container, "resourceName": "example.com/gpu", "requestName": "container-0-request-0"}
    for wrong, field in (
        ({"requestMappings": [], "resourceClaimName": "c"}, "status.extendedResourceClaimStatus.requestMappings"),
        (
            {"requestMappings": [mapping | {"containerName": "x"}], "resourceClaimName": "c"},
            "status.extendedResourceClaimStatus.requestMappings[0].containerName",
        ),
        (
            {"requestMappings": [mapping | {"resourceName": "x"}], "resourceClaimName": "c"},
            "status.extendedResourceClaimStatus.requestMappings[0].resourceName",
        ),
    ):
        refused = await server.call(
            "PATCH", path, {"status": {"extendedResourceClaimStatus": wrong}}, content_type=MERGE
        )
        causes = refused.expect(422)["details"]["causes"]
        assert [cause["field"] for cause in causes] == [field]
    named = {"requestMappings": [mapping], "resourceClaimName": "c"}
    await server.merge(path, {"status": {"extendedResourceClaimStatus": named}})
    kept = await server.merge(path, {"status": {"extendedResourceClaimStatus": None}})
    assert kept["status"]["extendedResourceClaimStatus"] == named
    replaced = await server.merge(path, {"status": {"extendedResourceClaimStatus": {"resourceClaimName": "d"}}})
    assert replaced["status"]["extendedResourceClaimStatus"] == named | {"resourceClaimName": "d"}
