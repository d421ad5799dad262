"""What the server says of claims, classes and slices that are wrong; the rules in full are tested where they are."""

from __future__ import annotations

from support.contract import DRA, Object, Server, allocation, claim, contract, template

MERGE = "application/merge-patch+json"


def spec_of(devices: int = 1, **more: object) -> Object:
    pool = {"name": "pool", "generation": 1, "resourceSliceCount": 1}
    names = [{"name": f"gpu-{number}"} for number in range(devices)]
    return {"driver": "gpu.example.com", "pool": pool, "allNodes": True, "devices": names, **more}


@contract
async def test_requests_need_a_name_a_class_and_one_kind(server: Server) -> None:
    exact = {"deviceClassName": "gpu"}
    body = claim("one", {"exactly": exact}, {"name": "two"}, {"name": "three", "exactly": {}})
    answer = await server.call("POST", server.claims, body)
    answer.refused(
        422,
        "Invalid",
        ("FieldValueInvalid", "spec.devices.requests[0].name"),
        ("FieldValueRequired", "spec.devices.requests[1]"),
        ("FieldValueRequired", "spec.devices.requests[2].exactly.deviceClassName"),
    )


@contract
async def test_a_selector_that_does_not_compile_is_refused(server: Server) -> None:
    exact = {"deviceClassName": "gpu", "selectors": [{"cel": {"expression": "device.nothing == 1"}}]}
    answer = await server.call("POST", server.claims, claim("one", {"name": "gpu", "exactly": exact}))
    field = "spec.devices.requests[0].exactly.selectors[0].cel.expression"
    answer.refused(422, "Invalid", ("FieldValueInvalid", field))


@contract
async def test_constraints_name_requests_that_exist(server: Server) -> None:
    body = claim("one")
    body["spec"]["devices"]["constraints"] = [{"requests": ["other"], "matchAttribute": "gpu.example.com/model"}]
    answer = await server.call("POST", server.claims, body)
    answer.refused(422, "Invalid", ("FieldValueInvalid", "spec.devices.constraints[0].requests[0]"))


@contract
async def test_a_template_is_checked_like_the_claims_it_makes(server: Server) -> None:
    body = template()
    body["spec"]["spec"]["devices"]["requests"][0]["exactly"] = {}
    answer = await server.call("POST", server.templates, body)
    field = "spec.spec.devices.requests[0].exactly.deviceClassName"
    answer.refused(422, "Invalid", ("FieldValueRequired", field))


@contract
async def test_admin_access_needs_a_labelled_namespace(server: Server) -> None:
    admin = {"name": "gpu", "exactly": {"deviceClassName": "gpu", "adminAccess": True}}
    answer = await server.call("POST", server.claims, claim("one", admin))
    answer.refused(422, "Invalid", ("FieldValueForbidden", "spec.devices.requests[0].adminAccess"))
    labels = {"metadata": {"labels": {"resource.kubernetes.io/admin-access": "true"}}}
    await server.merge(f"/api/v1/namespaces/{server.namespace}", labels)

    async def accepted() -> bool:  # the server looks at its own, slightly older, view of the namespace
        return (await server.call("POST", server.claims, claim("one", admin))).status == 201

    await server.eventually(accepted, "admin access")


@contract
async def test_results_name_requests_of_the_claim(server: Server) -> None:
    await server.create(server.claims, claim())
    body = {"status": {"allocation": allocation(request="other")}}
    answer = await server.call("PATCH", f"{server.claims}/claim/status", body, content_type=MERGE)
    field = "status.allocation.devices.results[0].request"
    answer.refused(422, "Invalid", ("FieldValueInvalid", field))


@contract
async def test_reservations_are_unique_by_uid(server: Server) -> None:
    await server.create(server.claims, claim())
    consumer = {"resource": "pods", "name": "a", "uid": "u"}
    body = {"status": {"allocation": allocation(), "reservedFor": [consumer, {**consumer, "name": "b"}]}}
    answer = await server.call("PATCH", f"{server.claims}/claim/status", body, content_type=MERGE)
    answer.expect(422)
    assert answer.causes[0][0] == "FieldValueDuplicate"
    assert answer.causes[0][1].startswith("status.reservedFor[1]")


@contract
async def test_a_claim_has_at_most_256_consumers(server: Server) -> None:
    await server.create(server.claims, claim())
    consumers = [{"resource": "pods", "name": f"p{number}", "uid": f"u{number}"} for number in range(257)]
    path = f"{server.claims}/claim/status"
    body = {"status": {"allocation": allocation(), "reservedFor": consumers}}
    answer = await server.call("PATCH", path, body, content_type=MERGE)
    answer.refused(422, "Invalid", ("FieldValueTooMany", "status.reservedFor"))
    body["status"]["reservedFor"] = consumers[:-1]
    await server.merge(path, body)


@contract
async def test_device_statuses_go_with_their_allocation(server: Server) -> None:
    await server.create(server.claims, claim())
    path = f"{server.claims}/claim/status"
    device = {"driver": "gpu.example.com", "pool": "pool", "device": "gpu-0"}
    both = await server.merge(path, {"status": {"allocation": allocation(), "devices": [device]}})
    assert both["status"]["devices"] == [{**device, "conditions": None}]
    assert (await server.merge(path, {"status": {"allocation": None}}))["status"] == {}


@contract
async def test_slices_say_where_their_devices_are_once(server: Server) -> None:
    slices, name = f"{DRA}/resourceslices", server.unique("slice")
    body = {"metadata": {"name": name}, "spec": spec_of(nodeName="node-1")}
    (await server.call("POST", slices, body)).refused(422, "Invalid", ("FieldValueInvalid", "spec"))
    del body["spec"]["nodeName"], body["spec"]["allNodes"]
    (await server.call("POST", slices, body)).refused(422, "Invalid", ("FieldValueRequired", "spec"))
    body["spec"]["nodeName"] = "node-1"
    created = await server.create(slices, body)
    assert created["metadata"]["generation"] == 1
    other = {"spec": {"nodeName": "node-2"}}
    answer = await server.call("PATCH", f"{slices}/{name}", other, content_type=MERGE)
    answer.refused(422, "Invalid", ("FieldValueInvalid", "spec.nodeName"))
    more = {"spec": {"devices": [{"name": "a"}]}}
    assert (await server.merge(f"{slices}/{name}", more))["metadata"]["generation"] == 2
    await server.delete(f"{slices}/{name}")


@contract
async def test_slices_hold_at_most_128_devices_each_once(server: Server) -> None:
    slices, name = f"{DRA}/resourceslices", server.unique("slice")
    body = {"metadata": {"name": name}, "spec": spec_of(devices=129)}
    (await server.call("POST", slices, body)).refused(422, "Invalid", ("FieldValueTooMany", "spec.devices"))
    body["spec"]["devices"] = [{"name": "same"}, {"name": "same"}]
    answer = await server.call("POST", slices, body)
    answer.expect(422)
    assert ("FieldValueDuplicate") in {reason for reason, _ in answer.causes}


@contract
async def test_quantities_come_back_in_their_canonical_form(server: Server) -> None:
    slices, name = f"{DRA}/resourceslices", server.unique("slice")
    device = {"name": "gpu-0", "capacity": {"memory": {"value": "1024Mi"}, "cores": {"value": "1500m"}}}
    body = {"metadata": {"name": name}, "spec": {**spec_of(), "devices": [device]}}
    created = await server.create(slices, body)
    capacity = created["spec"]["devices"][0]["capacity"]
    assert capacity == {"memory": {"value": "1Gi"}, "cores": {"value": "1500m"}}
    await server.delete(f"{slices}/{name}")


@contract
async def test_a_class_with_a_selector_that_does_not_compile_is_refused(server: Server) -> None:
    body = {"metadata": {"name": "bad"}, "spec": {"selectors": [{"cel": {"expression": "1 +"}}]}}
    answer = await server.call("POST", f"{DRA}/deviceclasses", body)
    answer.refused(422, "Invalid", ("FieldValueInvalid", "spec.selectors[0].cel.expression"))
