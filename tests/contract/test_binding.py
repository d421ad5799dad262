from __future__ import annotations

from support.contract import Object, Server, contract, pod


def binding(node: str = "node-1", name: str = "pod", **metadata: object) -> Object:
    target = {"apiVersion": "v1", "kind": "Node", "name": node}
    return {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name, **metadata}, "target": target}


@contract
async def test_binding_sets_the_node_and_the_condition(server: Server) -> None:
    await server.create(server.pods, pod())
    await server.merge(f"{server.pods}/pod/status", {"status": {"nominatedNodeName": "node-1"}})
    answer = await server.call("POST", f"{server.pods}/pod/binding", binding())
    body = answer.expect(201)
    assert (body["kind"], body["status"]) == ("Status", "Success")
    bound = await server.get(f"{server.pods}/pod")
    assert bound["spec"]["nodeName"] == "node-1"
    (condition,) = bound["status"]["conditions"]
    assert (condition["type"], condition["status"]) == ("PodScheduled", "True")
    assert condition["lastTransitionTime"]
    assert "nominatedNodeName" not in bound["status"]
    assert bound["metadata"]["generation"] == 1


@contract
async def test_a_bound_pod_is_not_bound_again(server: Server) -> None:
    await server.create(server.pods, pod())
    await server.create(f"{server.pods}/pod/binding", binding())
    answer = await server.call("POST", f"{server.pods}/pod/binding", binding("node-2"))
    status = answer.refused(409, "Conflict")
    assert status["details"]["kind"] == "pods/binding"
    assert 'already assigned to node "node-1"' in status["message"]
    answer = await server.call("POST", f"{server.pods}/pod/binding", binding())
    answer.refused(409, "Conflict")


@contract
async def test_binding_checks_uid_and_version(server: Server) -> None:
    created = await server.create(server.pods, pod())
    other = "00000000-0000-4000-8000-000000000000"
    answer = await server.call("POST", f"{server.pods}/pod/binding", binding(uid=other))
    answer.refused(409, "Conflict")
    answer = await server.call("POST", f"{server.pods}/pod/binding", binding(resourceVersion="1"))
    answer.refused(409, "Conflict")
    metadata = created["metadata"]
    fine = binding(uid=metadata["uid"], resourceVersion=metadata["resourceVersion"])
    await server.create(f"{server.pods}/pod/binding", fine)


@contract
async def test_pods_that_are_gated_deleted_or_absent_are_not_bound(server: Server) -> None:
    await server.create(server.pods, pod("gated", schedulingGates=[{"name": "example.com/wait"}]))
    answer = await server.call("POST", f"{server.pods}/gated/binding", binding(name="gated"))
    answer.refused(409, "Conflict")
    body = pod("leaving")
    body["metadata"]["finalizers"] = ["example.com/keep"]
    await server.create(server.pods, body)
    await server.delete(f"{server.pods}/leaving")
    answer = await server.call("POST", f"{server.pods}/leaving/binding", binding(name="leaving"))
    answer.refused(409, "Conflict")
    await server.merge(f"{server.pods}/leaving", {"metadata": {"finalizers": None}})
    answer = await server.call("POST", f"{server.pods}/none/binding", binding(name="none"))
    answer.refused(404, "NotFound")


@contract
async def test_the_names_in_path_and_binding_must_agree(server: Server) -> None:
    await server.create(server.pods, pod())
    answer = await server.call("POST", f"{server.pods}/pod/binding", binding(name="other"))
    answer.refused(400, "BadRequest")


@contract
async def test_a_target_is_needed(server: Server) -> None:
    await server.create(server.pods, pod())
    answer = await server.call("POST", f"{server.pods}/pod/binding", {"metadata": {"name": "pod"}, "target": {}})
    assert answer.status == 500
    assert "target.name: Required value" in answer.body["message"]


@contract
async def test_annotations_of_the_binding_go_to_the_pod(server: Server) -> None:
    await server.create(server.pods, pod())
    await server.create(f"{server.pods}/pod/binding", binding(annotations={"example.com/a": "b"}))
    assert (await server.get(f"{server.pods}/pod"))["metadata"]["annotations"] == {"example.com/a": "b"}


@contract
async def test_zone_and_region_of_the_node_go_to_the_pod(server: Server) -> None:
    node = server.unique("node")
    labels = {"topology.kubernetes.io/zone": "z1", "topology.kubernetes.io/region": "r1", "other": "x"}
    await server.create("/api/v1/nodes", {"metadata": {"name": node, "labels": labels}})
    await server.create(server.pods, pod())
    await server.create(f"{server.pods}/pod/binding", binding(node))
    del labels["other"]
    assert (await server.get(f"{server.pods}/pod"))["metadata"]["labels"] == labels
    await server.delete(f"/api/v1/nodes/{node}")
