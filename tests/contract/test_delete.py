from __future__ import annotations

from support.contract import Server, claim, contract, pod

BOUND = {"nodeName": "some-node"}


@contract
async def test_a_claim_goes_at_once_and_is_answered_with(server: Server) -> None:
    created = await server.create(server.claims, claim())
    deleted = await server.delete(f"{server.claims}/claim")
    assert deleted["kind"] == "ResourceClaim"
    assert deleted["metadata"]["uid"] == created["metadata"]["uid"]
    (await server.call("DELETE", f"{server.claims}/claim")).refused(404, "NotFound")


@contract
async def test_kinds_that_do_not_return_the_object_answer_with_a_status(server: Server) -> None:
    path = f"/apis/coordination.k8s.io/v1/namespaces/{server.namespace}/leases"
    created = await server.create(path, {"metadata": {"name": "lease"}, "spec": {}})
    answer = await server.delete(f"{path}/lease")
    assert (answer["kind"], answer["status"]) == ("Status", "Success")
    details = {"name": "lease", "group": "coordination.k8s.io", "kind": "leases", "uid": created["metadata"]["uid"]}
    assert answer["details"] == details


@contract
async def test_a_finalizer_keeps_a_deleted_object_until_it_is_removed(server: Server) -> None:
    body = claim()
    body["metadata"]["finalizers"] = ["example.com/keep"]
    await server.create(server.claims, body)
    path = f"{server.claims}/claim"
    marked = await server.delete(path)
    assert marked["metadata"]["deletionTimestamp"]
    assert marked["metadata"]["deletionGracePeriodSeconds"] == 0
    again = await server.delete(path)
    assert again["metadata"]["resourceVersion"] == marked["metadata"]["resourceVersion"]
    more = {"metadata": {"finalizers": ["example.com/keep", "example.com/more"]}}
    answer = await server.call("PATCH", path, more, content_type="application/merge-patch+json")
    answer.refused(422, "Invalid", ("FieldValueForbidden", "metadata.finalizers"))
    answer = await server.call("POST", server.claims, claim())
    assert "object is being deleted" in answer.refused(409, "AlreadyExists")["message"]
    last = await server.merge(path, {"metadata": {"finalizers": None}})
    assert "finalizers" not in last["metadata"]
    (await server.call("GET", path)).refused(404, "NotFound")


@contract
async def test_preconditions_are_checked(server: Server) -> None:
    created = await server.create(server.claims, claim())
    path = f"{server.claims}/claim"
    other = "00000000-0000-4000-8000-000000000000"
    (await server.call("DELETE", path, {"preconditions": {"uid": other}})).refused(409, "Conflict")
    (await server.call("DELETE", path, {"preconditions": {"resourceVersion": "1"}})).refused(409, "Conflict")
    metadata = created["metadata"]
    fine = {"uid": metadata["uid"], "resourceVersion": metadata["resourceVersion"]}
    await server.delete(path, {"preconditions": fine})


@contract
async def test_a_pod_that_is_not_bound_goes_at_once(server: Server) -> None:
    await server.create(server.pods, pod())
    async with server.watch(server.pods, resourceVersion=await server.version()) as events:
        deleted = await server.delete(f"{server.pods}/pod")
        assert deleted["kind"] == "Pod"
        kind, gone = await events.next()
        seen = [kind]
        if kind == "MODIFIED":
            kind, gone = await events.next()
            seen.append(kind)
        assert seen[-1] == "DELETED"
        assert gone["metadata"]["deletionGracePeriodSeconds"] == 0
        assert gone["metadata"]["deletionTimestamp"]
    (await server.call("GET", f"{server.pods}/pod")).refused(404, "NotFound")


@contract
async def test_a_bound_pod_waits_for_its_kubelet(server: Server) -> None:
    created = await server.create(server.pods, pod(**BOUND))
    path = f"{server.pods}/pod"
    marked = await server.delete(path)
    assert marked["metadata"]["deletionGracePeriodSeconds"] == 30
    assert marked["metadata"]["generation"] == created["metadata"]["generation"] + 1
    longer = await server.delete(path, {"gracePeriodSeconds": 60})
    assert longer["metadata"]["deletionGracePeriodSeconds"] == 30
    shorter = await server.delete(path, {"gracePeriodSeconds": 10})
    assert shorter["metadata"]["deletionGracePeriodSeconds"] == 10
    assert (await server.get(path))["metadata"]["deletionTimestamp"]
    await server.delete(path, {"gracePeriodSeconds": 0})
    (await server.call("GET", path)).refused(404, "NotFound")


@contract
async def test_a_pod_that_has_ended_goes_at_once(server: Server) -> None:
    await server.create(server.pods, pod(**BOUND))
    await server.merge(f"{server.pods}/pod/status", {"status": {"phase": "Succeeded"}})
    await server.delete(f"{server.pods}/pod")
    (await server.call("GET", f"{server.pods}/pod")).refused(404, "NotFound")


@contract
async def test_the_grace_period_may_be_in_the_query(server: Server) -> None:
    await server.create(server.pods, pod(**BOUND))
    answer = await server.call("DELETE", f"{server.pods}/pod", gracePeriodSeconds="0")
    answer.expect(200)
    (await server.call("GET", f"{server.pods}/pod")).refused(404, "NotFound")


@contract
async def test_an_unknown_propagation_policy_is_refused(server: Server) -> None:
    await server.create(server.claims, claim())
    answer = await server.call("DELETE", f"{server.claims}/claim", {"propagationPolicy": "Sideways"})
    answer.refused(422, "Invalid", ("FieldValueNotSupported", "propagationPolicy"))
    assert answer.body["details"]["kind"] == "DeleteOptions"


@contract
async def test_a_collection_is_deleted_by_selector(server: Server) -> None:
    for name, label in (("a", "x"), ("b", "y"), ("c", "x")):
        body = claim(name)
        body["metadata"]["labels"] = {"part": label}
        await server.create(server.claims, body)
    answer = await server.call("DELETE", server.claims, labelSelector="part=x")
    assert answer.expect(200)["kind"] == "ResourceClaimList"
    left = (await server.get(server.claims))["items"]
    assert [each["metadata"]["name"] for each in left] == ["b"]


@contract
async def test_dependents_go_with_their_owner_in_the_background(server: Server) -> None:
    owner = await server.create(server.claims, claim("owner"))
    await server.create(server.claims, owned("dependent", owner))
    await server.delete(f"{server.claims}/owner")
    await server.gone(f"{server.claims}/dependent")


@contract
async def test_dependents_of_nobody_are_collected(server: Server) -> None:
    owner = {"metadata": {"name": "never-was", "uid": "00000000-0000-4000-8000-00000000abcd"}}
    await server.create(server.claims, owned("dependent", owner))
    await server.gone(f"{server.claims}/dependent")


@contract
async def test_foreground_deletion_takes_the_dependents_first(server: Server) -> None:
    owner = await server.create(server.claims, claim("owner"))
    dependent = owned("dependent", owner)
    dependent["metadata"]["finalizers"] = ["example.com/keep"]
    dependent["metadata"]["ownerReferences"][0]["blockOwnerDeletion"] = True
    await server.create(server.claims, dependent)
    await server.wait_collector()
    marked = await server.delete(f"{server.claims}/owner", {"propagationPolicy": "Foreground"})
    assert marked["metadata"]["finalizers"] == ["foregroundDeletion"]

    async def deleting() -> bool:
        return "deletionTimestamp" in (await server.get(f"{server.claims}/dependent"))["metadata"]

    await server.eventually(deleting, "the deletion of the dependent")
    assert (await server.get(f"{server.claims}/owner"))["metadata"]["deletionTimestamp"]
    await server.merge(f"{server.claims}/dependent", {"metadata": {"finalizers": None}})
    await server.gone(f"{server.claims}/owner")


@contract
async def test_orphans_lose_their_owner_reference_and_stay(server: Server) -> None:
    owner = await server.create(server.claims, claim("owner"))
    await server.create(server.claims, owned("dependent", owner))
    await server.wait_collector()
    await server.delete(f"{server.claims}/owner", {"propagationPolicy": "Orphan"})
    await server.gone(f"{server.claims}/owner")
    assert "ownerReferences" not in (await server.get(f"{server.claims}/dependent"))["metadata"]


@contract
async def test_an_object_with_another_owner_left_only_loses_the_reference(server: Server) -> None:
    first = await server.create(server.claims, claim("first"))
    second = await server.create(server.claims, claim("second"))
    body = owned("dependent", first)
    body["metadata"]["ownerReferences"] += owned("x", second)["metadata"]["ownerReferences"]
    await server.create(server.claims, body)
    await server.wait_collector()
    await server.delete(f"{server.claims}/first")

    async def one_owner() -> bool:
        owners = (await server.get(f"{server.claims}/dependent"))["metadata"]["ownerReferences"]
        return [each["name"] for each in owners] == ["second"]

    await server.eventually(one_owner, "the end of the reference")


@contract
async def test_a_namespace_is_emptied_and_goes(server: Server) -> None:
    name = server.unique("doomed")
    path = f"/api/v1/namespaces/{name}"
    made = await server.create("/api/v1/namespaces", {"metadata": {"name": name}})
    assert made["status"] == {"phase": "Active"}
    assert made["spec"] == {"finalizers": ["kubernetes"]}
    assert made["metadata"]["labels"] == {"kubernetes.io/metadata.name": name}
    kept = claim()
    kept["metadata"]["finalizers"] = ["example.com/keep"]
    claims = f"/apis/resource.k8s.io/v1/namespaces/{name}/resourceclaims"
    await server.create(claims, kept)
    await server.create(f"{path}/pods", pod())
    marked = await server.delete(path)
    assert marked["status"]["phase"] == "Terminating"
    answer = await server.call("POST", f"{path}/pods", pod("late"))
    answer.refused(403, "Forbidden", ("NamespaceTerminating", "metadata.namespace"))
    await server.gone(f"{path}/pods/pod")
    assert (await server.get(path))["status"]["phase"] == "Terminating"
    await server.merge(f"{claims}/claim", {"metadata": {"finalizers": None}})
    await server.gone(path)


@contract
async def test_some_namespaces_may_not_be_deleted(server: Server) -> None:
    (await server.call("DELETE", "/api/v1/namespaces/default")).refused(403, "Forbidden")


def owned(name: str, owner: dict[str, dict[str, str]]) -> dict[str, dict[str, object]]:
    body = claim(name)
    reference = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim"}
    reference |= {"name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"]}
    body["metadata"]["ownerReferences"] = [reference]
    return body
