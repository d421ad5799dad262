from __future__ import annotations

from support.contract import Object, Server, allocation, claim, contract, pod, reservation, template

FINALIZER = "resource.kubernetes.io/delete-protection"
FROM_TEMPLATE = {"name": "gpu", "resourceClaimTemplateName": "template"}
BY_NAME = {"name": "gpu", "resourceClaimName": "claim"}


async def claim_of(server: Server, name: str = "pod") -> Object:
    """The generated claim of a pod, once the pod's status names it."""

    async def probe() -> Object | None:
        statuses = (await server.get(f"{server.pods}/{name}"))["status"].get("resourceClaimStatuses")
        if not statuses:
            return None
        return await server.get(f"{server.claims}/{statuses[0]['resourceClaimName']}")

    found: Object = await server.eventually(probe, "the claim of the pod")
    return found


async def allocate(server: Server, name: str, *consumers: Object, device: str = "gpu-0") -> Object:
    path = f"{server.claims}/{name}"
    await server.merge(path, {"metadata": {"finalizers": [FINALIZER]}})
    status = {"allocation": allocation(device), "reservedFor": [reservation(each) for each in consumers]}
    return await server.merge(f"{path}/status", {"status": status})


async def deallocated(server: Server, name: str) -> None:
    async def probe() -> bool:
        found = await server.get(f"{server.claims}/{name}")
        return found["status"] == {} and "finalizers" not in found["metadata"]

    await server.eventually(probe, "the deallocation")


async def end(server: Server, name: str = "pod", phase: str = "Succeeded") -> None:
    await server.merge(f"{server.pods}/{name}/status", {"status": {"phase": phase}})


@contract
async def test_a_claim_is_made_from_a_pods_template(server: Server) -> None:
    body = template()
    body["spec"]["metadata"] = {"labels": {"a": "b"}, "annotations": {"example.com/c": "d"}}
    await server.create(server.templates, body)
    made = await server.create(server.pods, pod(claims=[FROM_TEMPLATE]))
    found = await claim_of(server)
    metadata = found["metadata"]
    assert metadata["generateName"] == "pod-gpu-"
    assert metadata["name"].startswith("pod-gpu-")
    annotation = {"resource.kubernetes.io/pod-claim-name": "gpu"}
    assert metadata["annotations"] == {"example.com/c": "d", **annotation}
    assert metadata["labels"] == {"a": "b"}
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "pod", "uid": made["metadata"]["uid"], "controller": True}
    assert metadata["ownerReferences"] == [owner]
    assert found["spec"]["devices"]["requests"][0]["exactly"]["deviceClassName"] == "gpu"
    status = (await server.get(f"{server.pods}/pod"))["status"]
    assert status["resourceClaimStatuses"] == [{"name": "gpu", "resourceClaimName": metadata["name"]}]


@contract
async def test_every_entry_of_a_pod_gets_a_claim_of_its_own(server: Server) -> None:
    await server.create(server.templates, template())
    entries = [{**FROM_TEMPLATE, "name": name} for name in ("b", "a")]
    await server.create(server.pods, pod(claims=entries))

    async def probe() -> list[Object] | None:
        statuses = (await server.get(f"{server.pods}/pod"))["status"].get("resourceClaimStatuses") or []
        return statuses if len(statuses) == 2 else None

    statuses = await server.eventually(probe, "both claims")
    assert [each["name"] for each in statuses] == ["a", "b"]
    assert len({each["resourceClaimName"] for each in statuses}) == 2
    assert len((await server.get(server.claims))["items"]) == 2


@contract
async def test_a_template_that_comes_later_is_used(server: Server) -> None:
    await server.create(server.pods, pod(claims=[FROM_TEMPLATE]))
    await server.create(server.templates, template())
    assert (await claim_of(server))["metadata"]["generateName"] == "pod-gpu-"


@contract
async def test_a_missing_template_is_told_in_an_event_about_the_pod(server: Server) -> None:
    made = await server.create(server.pods, pod(claims=[FROM_TEMPLATE]))
    path = f"/api/v1/namespaces/{server.namespace}/events"
    selector = f"involvedObject.uid={made['metadata']['uid']},reason=FailedResourceClaimCreation,type=Warning"

    async def probe() -> list[Object]:
        found: list[Object] = (await server.get(path, fieldSelector=selector))["items"]
        return found

    events = await server.eventually(probe, "the event")
    assert events[0]["message"].startswith("PodResourceClaim gpu: ")
    assert '"template"' in events[0]["message"] or "/template " in events[0]["message"]
    assert events[0]["source"] == {"component": "resource_claim"}
    assert events[0]["metadata"]["name"].startswith("pod.")


@contract
async def test_long_names_are_cut_in_proportion(server: Server) -> None:
    await server.create(server.templates, template())
    name, entry = "p" * 60, "c" * 30
    await server.create(server.pods, pod(name, claims=[{**FROM_TEMPLATE, "name": entry}]))
    base = (await claim_of(server, name))["metadata"]["generateName"]
    total = len(name) + len(entry) + 2
    assert base == "p" * (60 * 57 // total) + "-" + "c" * (30 * 57 // total)


@contract
async def test_a_generated_claim_deleted_before_it_was_used_is_not_made_again_soon(server: Server) -> None:
    await server.create(server.templates, template())
    await server.create(server.pods, pod(claims=[FROM_TEMPLATE]))
    name = (await claim_of(server))["metadata"]["name"]
    await server.delete(f"{server.claims}/{name}")
    await server.wait_collector()
    assert (await server.get(server.claims))["items"] == []


@contract
async def test_a_claim_is_deallocated_when_its_last_pod_has_ended(server: Server) -> None:
    await server.create(server.claims, claim())
    made = await server.create(server.pods, pod(claims=[BY_NAME], nodeName="node-1"))
    await allocate(server, "claim", made)
    await end(server, phase="Failed")
    await deallocated(server, "claim")


@contract
async def test_a_claim_stays_allocated_while_another_pod_uses_it(server: Server) -> None:
    await server.create(server.claims, claim())
    one = await server.create(server.pods, pod("one", claims=[BY_NAME], nodeName="node-1"))
    two = await server.create(server.pods, pod("two", claims=[BY_NAME], nodeName="node-1"))
    await allocate(server, "claim", one, two)
    await server.delete(f"{server.pods}/one", {"gracePeriodSeconds": 0})

    async def only_two() -> bool:
        status = (await server.get(f"{server.claims}/claim"))["status"]
        return [each["name"] for each in status["reservedFor"]] == ["two"]

    await server.eventually(only_two, "the end of the reservation")
    found = await server.get(f"{server.claims}/claim")
    assert found["status"]["allocation"]
    assert found["metadata"]["finalizers"] == [FINALIZER]
    await server.delete(f"{server.pods}/two", {"gracePeriodSeconds": 0})
    await deallocated(server, "claim")


@contract
async def test_a_pod_deleted_before_it_was_bound_frees_its_claim(server: Server) -> None:
    await server.create(server.claims, claim())
    made = await server.create(server.pods, pod(claims=[BY_NAME]))
    await allocate(server, "claim", made)
    await server.delete(f"{server.pods}/pod")
    await deallocated(server, "claim")


@contract
async def test_a_reservation_for_a_pod_that_never_was_is_removed(server: Server) -> None:
    await server.create(server.claims, claim())
    never = {"metadata": {"name": "never", "uid": "00000000-0000-4000-8000-00000000abcd"}}
    await allocate(server, "claim", never)
    await deallocated(server, "claim")


@contract
async def test_a_hand_bound_pod_is_reserved_for_once_its_claim_is_allocated(server: Server) -> None:
    await server.create(server.claims, claim())
    made = await server.create(server.pods, pod(claims=[BY_NAME], nodeName="node-1"))
    await server.merge(f"{server.claims}/claim", {"metadata": {"finalizers": [FINALIZER]}})
    await server.merge(f"{server.claims}/claim/status", {"status": {"allocation": allocation()}})

    async def reserved() -> bool:
        status = (await server.get(f"{server.claims}/claim"))["status"]
        return bool(status.get("reservedFor") == [reservation(made)])

    await server.eventually(reserved, "the reservation")


@contract
async def test_a_pod_without_node_is_not_reserved_for(server: Server) -> None:
    await server.create(server.claims, claim())
    await server.create(server.pods, pod("waiting", claims=[BY_NAME]))
    await server.merge(f"{server.claims}/claim", {"metadata": {"finalizers": [FINALIZER]}})
    await server.merge(f"{server.claims}/claim/status", {"status": {"allocation": allocation()}})
    other = await server.create(server.pods, pod("bound", claims=[BY_NAME], nodeName="node-1"))

    async def reserved() -> bool:
        status = (await server.get(f"{server.claims}/claim"))["status"]
        return bool(status.get("reservedFor"))

    await server.eventually(reserved, "the reservation of the bound pod")
    found = await server.get(f"{server.claims}/claim")
    assert found["status"]["reservedFor"] == [reservation(other)]


@contract
async def test_an_allocated_claim_nobody_uses_is_left_alone_until_it_is_deleted(server: Server) -> None:
    await server.create(server.claims, claim())
    await server.merge(f"{server.claims}/claim", {"metadata": {"finalizers": [FINALIZER]}})
    await server.merge(f"{server.claims}/claim/status", {"status": {"allocation": allocation()}})
    await server.wait_collector()
    assert (await server.get(f"{server.claims}/claim"))["status"]["allocation"]
    await server.delete(f"{server.claims}/claim")
    await server.gone(f"{server.claims}/claim")


@contract
async def test_a_deleted_claim_stays_while_a_pod_uses_it(server: Server) -> None:
    await server.create(server.claims, claim())
    made = await server.create(server.pods, pod(claims=[BY_NAME], nodeName="node-1"))
    await allocate(server, "claim", made)
    await server.delete(f"{server.claims}/claim")
    await server.wait_collector()
    assert (await server.get(f"{server.claims}/claim"))["status"]["allocation"]
    await server.delete(f"{server.pods}/pod", {"gracePeriodSeconds": 0})
    await server.gone(f"{server.claims}/claim")


@contract
async def test_a_generated_claim_goes_when_its_pod_has_ended(server: Server) -> None:
    await server.create(server.templates, template())
    made = await server.create(server.pods, pod(claims=[FROM_TEMPLATE], nodeName="node-1"))
    found = await claim_of(server)
    name = found["metadata"]["name"]
    await allocate(server, name, made)
    await end(server)
    await server.gone(f"{server.claims}/{name}")


@contract
async def test_a_generated_claim_goes_with_its_pod(server: Server) -> None:
    await server.create(server.templates, template())
    await server.create(server.pods, pod(claims=[FROM_TEMPLATE]))
    name = (await claim_of(server))["metadata"]["name"]
    await server.delete(f"{server.pods}/pod")
    await server.gone(f"{server.claims}/{name}")


@contract
async def test_the_claims_name_in_a_pods_status_belongs_to_one_of_its_entries(server: Server) -> None:
    await server.create(server.pods, pod(claims=[BY_NAME]))
    body = {"status": {"resourceClaimStatuses": [{"name": "other", "resourceClaimName": "claim"}]}}
    answer = await server.call("PATCH", f"{server.pods}/pod/status", body, content_type="application/merge-patch+json")
    answer.refused(422, "Invalid", ("FieldValueInvalid", "status.resourceClaimStatuses[0].name"))
