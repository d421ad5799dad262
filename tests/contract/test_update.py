from __future__ import annotations

from dra_api.transport import JSON_PATCH, STRATEGIC_MERGE_PATCH
from support.contract import DRA, Server, allocation, claim, contract, pod, reservation, template

FINALIZER = "resource.kubernetes.io/delete-protection"


@contract
async def test_an_update_with_the_current_version_is_stored_under_a_new_one(server: Server) -> None:
    created = await server.create(server.claims, claim())
    created["metadata"]["labels"] = {"a": "b"}
    updated = await server.put(f"{server.claims}/claim", created)
    assert updated["metadata"]["labels"] == {"a": "b"}
    assert int(updated["metadata"]["resourceVersion"]) > int(created["metadata"]["resourceVersion"])
    assert updated["metadata"]["uid"] == created["metadata"]["uid"]


@contract
async def test_an_update_with_an_old_version_conflicts(server: Server) -> None:
    created = await server.create(server.claims, claim())
    await server.merge(f"{server.claims}/claim", {"metadata": {"labels": {"a": "b"}}})
    answer = await server.call("PUT", f"{server.claims}/claim", created)
    status = answer.refused(409, "Conflict")
    assert status["details"] == {"name": "claim", "group": "resource.k8s.io", "kind": "resourceclaims"}
    assert "the object has been modified" in status["message"]


@contract
async def test_an_update_without_version_is_unconditional_where_the_kind_allows_it(server: Server) -> None:
    created = await server.create(server.claims, claim())
    del created["metadata"]["resourceVersion"]
    await server.put(f"{server.claims}/claim", created)
    path = f"/apis/coordination.k8s.io/v1/namespaces/{server.namespace}/leases"
    lease = await server.create(path, {"metadata": {"name": "lease"}, "spec": {"holderIdentity": "me"}})
    del lease["metadata"]["resourceVersion"]
    lease["spec"]["holderIdentity"] = "you"
    answer = await server.call("PUT", f"{path}/lease", lease)
    answer.refused(422, "Invalid", ("FieldValueInvalid", "metadata.resourceVersion"))
    assert answer.body["details"]["kind"] == "leases"


@contract
async def test_an_update_that_changes_nothing_writes_nothing(server: Server) -> None:
    created = await server.create(server.claims, claim())
    updated = await server.put(f"{server.claims}/claim", created)
    assert updated["metadata"]["resourceVersion"] == created["metadata"]["resourceVersion"]
    patched = await server.merge(f"{server.claims}/claim", {"metadata": {"labels": {}}})
    assert patched["metadata"]["resourceVersion"] == created["metadata"]["resourceVersion"]


@contract
async def test_an_update_of_another_uid_conflicts(server: Server) -> None:
    created = await server.create(server.claims, claim())
    created["metadata"]["uid"] = "00000000-0000-4000-8000-000000000000"
    answer = await server.call("PUT", f"{server.claims}/claim", created)
    assert "Precondition failed: UID in precondition" in answer.refused(409, "Conflict")["message"]


@contract
async def test_a_put_needs_an_object_unless_the_kind_creates_on_update(server: Server) -> None:
    (await server.call("PUT", f"{server.claims}/claim", claim())).refused(404, "NotFound")
    path = f"/apis/coordination.k8s.io/v1/namespaces/{server.namespace}/leases"
    answer = await server.call("PUT", f"{path}/lease", {"metadata": {"name": "lease"}, "spec": {}})
    assert answer.expect(201)["metadata"]["uid"]


@contract
async def test_the_name_of_body_and_path_must_agree(server: Server) -> None:
    created = await server.create(server.claims, claim())
    created["metadata"]["name"] = "other"
    (await server.call("PUT", f"{server.claims}/claim", created)).refused(400, "BadRequest")


@contract
async def test_spec_and_status_are_written_through_their_own_paths(server: Server) -> None:
    made = await server.create(server.pods, pod())
    path = f"{server.pods}/pod"
    made["status"]["phase"] = "Running"
    assert (await server.put(path, made))["status"]["phase"] == "Pending"
    current = await server.get(path)
    current["status"]["phase"] = "Running"
    current["spec"]["schedulerName"] = "somebody"
    current["metadata"]["labels"] = {"kept": "by-pods"}
    current = await server.put(f"{path}/status", current)
    assert current["status"]["phase"] == "Running"
    assert current["spec"]["schedulerName"] == "nobody"
    assert current["metadata"]["labels"] == {"kept": "by-pods"}


@contract
async def test_a_claim_status_takes_no_metadata_with_it(server: Server) -> None:
    await server.create(server.claims, claim())
    body = {"metadata": {"finalizers": [FINALIZER], "labels": {"a": "b"}}, "status": {"allocation": allocation()}}
    patched = await server.merge(f"{server.claims}/claim/status", body)
    assert patched["status"]["allocation"] == allocation()
    assert patched["metadata"].keys().isdisjoint({"finalizers", "labels"})


@contract
async def test_the_two_writes_of_a_scheduler(server: Server) -> None:
    consumer = await server.create(server.pods, pod())
    created = await server.create(server.claims, claim())
    version = created["metadata"]["resourceVersion"]
    path = f"{server.claims}/claim"
    step = await server.merge(path, {"metadata": {"resourceVersion": version, "finalizers": [FINALIZER]}})
    assert step["metadata"]["finalizers"] == [FINALIZER]
    node = {"key": "metadata.name", "operator": "In", "values": ["node-1"]}
    wanted = {
        "allocation": {
            **allocation(),
            "nodeSelector": {"nodeSelectorTerms": [{"matchFields": [node]}]},
            "allocationTimestamp": "2026-01-01T00:00:00Z",
        },
        "reservedFor": [reservation(consumer)],
    }
    status = {"metadata": {"resourceVersion": step["metadata"]["resourceVersion"]}, "status": wanted}
    done = await server.merge(f"{path}/status", status)
    assert done["status"] == wanted
    status = {"metadata": {"resourceVersion": version}, "status": {"reservedFor": []}}
    stale = await server.call("PATCH", f"{path}/status", status, content_type="application/merge-patch+json")
    stale.refused(409, "Conflict")


@contract
async def test_a_claims_spec_and_allocation_do_not_change(server: Server) -> None:
    await server.create(server.claims, claim())
    path = f"{server.claims}/claim"
    changed = {"spec": {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "other"}}]}}}
    answer = await server.call("PATCH", path, changed, content_type="application/merge-patch+json")
    answer.refused(422, "Invalid", ("FieldValueInvalid", "spec"))
    await server.merge(f"{path}/status", {"status": {"allocation": allocation("gpu-0")}})
    other = {"status": {"allocation": allocation("gpu-1")}}
    answer = await server.call("PATCH", f"{path}/status", other, content_type="application/merge-patch+json")
    answer.refused(422, "Invalid", ("FieldValueInvalid", "status.allocation"))
    assert "allocation" not in (await server.merge(f"{path}/status", {"status": {"allocation": None}}))["status"]


@contract
async def test_a_reservation_needs_an_allocation(server: Server) -> None:
    await server.create(server.claims, claim())
    body = {"status": {"reservedFor": [{"resource": "pods", "name": "a", "uid": "b"}]}}
    answer = await server.call(
        "PATCH", f"{server.claims}/claim/status", body, content_type="application/merge-patch+json"
    )
    answer.refused(422, "Invalid", ("FieldValueForbidden", "status.reservedFor"))


@contract
async def test_a_templates_spec_does_not_change(server: Server) -> None:
    await server.create(server.templates, template())
    body = {"spec": {"metadata": {"labels": {"a": "b"}}}}
    path = f"{server.templates}/template"
    answer = await server.call("PATCH", path, body, content_type="application/merge-patch+json")
    answer.refused(422, "Invalid", ("FieldValueInvalid", "spec"))


@contract
async def test_little_of_a_pods_spec_changes(server: Server) -> None:
    await server.create(server.pods, pod(schedulingGates=[{"name": "example.com/a"}, {"name": "example.com/b"}]))
    path = f"{server.pods}/pod"
    answer = await server.call(
        "PATCH", path, {"spec": {"schedulerName": "x"}}, content_type="application/merge-patch+json"
    )
    answer.refused(422, "Invalid", ("FieldValueForbidden", "spec"))
    fewer = await server.merge(path, {"spec": {"schedulingGates": [{"name": "example.com/b"}]}})
    assert fewer["metadata"]["generation"] == 2
    more = {"spec": {"schedulingGates": [{"name": "example.com/b"}, {"name": "example.com/c"}]}}
    answer = await server.call("PATCH", path, more, content_type="application/merge-patch+json")
    answer.refused(422, "Invalid", ("FieldValueForbidden", "spec.schedulingGates[1].name"))
    none = await server.merge(path, {"spec": {"schedulingGates": None}})
    assert "schedulingGates" not in none["spec"]


@contract
async def test_a_taint_rule_needs_a_version_to_be_updated(server: Server) -> None:
    name = server.unique("rule")
    rules = f"{DRA}/devicetaintrules"
    spec = {"deviceSelector": {"driver": "none.example.com"}, "taint": {"key": "example.com/t", "effect": "NoSchedule"}}
    created = await server.create(rules, {"metadata": {"name": name}, "spec": spec})
    assert created["spec"]["taint"]["timeAdded"]
    del created["metadata"]["resourceVersion"]
    created["metadata"]["labels"] = {"a": "b"}
    answer = await server.call("PUT", f"{rules}/{name}", created)
    answer.refused(422, "Invalid", ("FieldValueInvalid", "metadata.resourceVersion"))

    async def updated() -> bool:  # a controller may be writing the status at the same time
        current = await server.get(f"{rules}/{name}")
        current["metadata"]["labels"] = {"a": "b"}
        answer = await server.call("PUT", f"{rules}/{name}", current)
        assert answer.status in (200, 409)
        return answer.status == 200

    await server.eventually(updated, "the update of the rule")
    await server.delete(f"{rules}/{name}")


@contract
async def test_merge_patches_remove_with_null_and_replace_lists(server: Server) -> None:
    body = claim()
    body["metadata"] |= {"labels": {"a": "1", "b": "2"}, "finalizers": ["example.com/x", "example.com/y"]}
    await server.create(server.claims, body)
    change = {"metadata": {"labels": {"a": None, "c": "3"}, "finalizers": ["example.com/z"]}}
    patched = await server.merge(f"{server.claims}/claim", change)
    assert patched["metadata"]["labels"] == {"b": "2", "c": "3"}
    assert patched["metadata"]["finalizers"] == ["example.com/z"]
    await server.merge(f"{server.claims}/claim", {"metadata": {"finalizers": None}})


@contract
async def test_strategic_patches_merge_lists_by_key(server: Server) -> None:
    await server.create(server.pods, pod())
    path = f"{server.pods}/pod"

    async def patch(where: str, body: object) -> dict[str, object]:
        return (await server.call("PATCH", where, body, content_type=STRATEGIC_MERGE_PATCH)).expect(200)

    ready = {"type": "Ready", "status": "False"}
    scheduled = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
    await patch(f"{path}/status", {"status": {"conditions": [ready]}})
    both = await patch(f"{path}/status", {"status": {"conditions": [scheduled]}})
    assert [each["type"] for each in both["status"]["conditions"]] == ["PodScheduled", "Ready"]  # type: ignore[index]
    changed = await patch(f"{path}/status", {"status": {"conditions": [{"type": "Ready", "status": "True"}]}})
    assert [each["status"] for each in changed["status"]["conditions"]] == ["False", "True"]  # type: ignore[index]
    gone = {"status": {"conditions": [{"type": "Ready", "$patch": "delete"}]}}
    left = await patch(f"{path}/status", gone)
    assert [each["type"] for each in left["status"]["conditions"]] == ["PodScheduled"]  # type: ignore[index]
    image = {"spec": {"containers": [{"name": "main", "image": "registry.example/app:2"}]}}
    new = await patch(path, image)
    assert len(new["spec"]["containers"]) == 1  # type: ignore[index]
    await patch(path, {"metadata": {"finalizers": ["example.com/a"]}})
    twice = await patch(path, {"metadata": {"finalizers": ["example.com/b"]}})
    assert twice["metadata"]["finalizers"] == ["example.com/b", "example.com/a"]  # type: ignore[index]
    none = await patch(path, {"metadata": {"$deleteFromPrimitiveList/finalizers": ["example.com/a", "example.com/b"]}})
    assert "finalizers" not in none["metadata"]  # type: ignore[operator]


@contract
async def test_json_patches_apply_in_order_or_not_at_all(server: Server) -> None:
    body = claim()
    body["metadata"]["labels"] = {"a": "1"}
    await server.create(server.claims, body)
    path = f"{server.claims}/claim"
    operations = [
        {"op": "test", "path": "/metadata/labels/a", "value": "1"},
        {"op": "add", "path": "/metadata/labels/b~1c", "value": "2"},
        {"op": "remove", "path": "/metadata/labels/a"},
    ]
    patched = (await server.call("PATCH", path, operations, content_type=JSON_PATCH)).expect(200)
    assert patched["metadata"]["labels"] == {"b/c": "2"}
    answer = await server.call("PATCH", path, operations, content_type=JSON_PATCH)
    answer.refused(422, "Invalid")
    assert (await server.get(path))["metadata"]["labels"] == {"b/c": "2"}


@contract
async def test_a_patch_may_name_the_version_it_was_made_for(server: Server) -> None:
    created = await server.create(server.claims, claim())
    version = created["metadata"]["resourceVersion"]
    path = f"{server.claims}/claim"
    await server.merge(path, {"metadata": {"resourceVersion": version, "labels": {"a": "1"}}})
    stale = {"metadata": {"resourceVersion": version, "labels": {"a": "2"}}}
    answer = await server.call("PATCH", path, stale, content_type="application/merge-patch+json")
    answer.refused(409, "Conflict")
    missing = await server.call("PATCH", f"{server.claims}/none", stale, content_type="application/merge-patch+json")
    missing.refused(404, "NotFound")
