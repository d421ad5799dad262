"""PodGroups (scheduling.k8s.io/v1beta1) and their claims."""

from __future__ import annotations

from dra_api.transport import STRATEGIC_MERGE_PATCH
from support.contract import Object, Server, allocation, claim, contract, pod, template

FINALIZER = "resource.kubernetes.io/delete-protection"
FROM_TEMPLATE = {"name": "gpu", "resourceClaimTemplateName": "template"}
BY_NAME = {"name": "shared", "resourceClaimName": "claim"}


def groups(server: Server) -> str:
    return f"/apis/scheduling.k8s.io/v1beta1/namespaces/{server.namespace}/podgroups"


def group(**spec: object) -> Object:
    return {"metadata": {"name": "group"}, "spec": {"schedulingPolicy": {"gang": {"minCount": 2}}, **spec}}


def member(name: str, *claims: Object) -> Object:
    made = pod(name, claims=list(claims))
    made["spec"]["schedulingGroup"] = {"podGroupName": "group"}
    return made


@contract
async def test_a_group_gets_a_priority_and_a_mode_of_disruption(server: Server) -> None:
    made = await server.create(groups(server), {**group(), "status": {"conditions": [{"type": "X"}]}})
    assert made["spec"] == {
        "schedulingPolicy": {"gang": {"minCount": 2}},
        "disruptionMode": {"single": {}},
        "priority": 0,
    }
    assert made["status"] == {}
    assert "generation" not in made["metadata"]


@contract
async def test_a_group_has_exactly_one_policy_with_a_positive_count(server: Server) -> None:
    for policy in ({}, {"basic": {}, "gang": {"minCount": 1}}):
        answer = await server.call("POST", groups(server), group(schedulingPolicy=policy))
        answer.refused(422, "Invalid", ("FieldValueInvalid", "spec.schedulingPolicy"))
    answer = await server.call("POST", groups(server), group(schedulingPolicy={"gang": {"minCount": -1}}))
    answer.refused(422, "Invalid", ("FieldValueInvalid", "spec.schedulingPolicy.gang.minCount"))
    answer = await server.call("POST", groups(server), group(schedulingPolicy={"gang": {"minCount": 0}}))
    answer.refused(422, "Invalid", ("FieldValueRequired", "spec.schedulingPolicy.gang.minCount"))


@contract
async def test_claims_of_a_group_are_few_have_names_and_one_source(server: Server) -> None:
    path = "spec.resourceClaims"
    for entries, cause in (
        ([{"name": "a"}], ("FieldValueInvalid", f"{path}[0]")),
        ([{**FROM_TEMPLATE, "resourceClaimName": "x"}], ("FieldValueInvalid", f"{path}[0]")),
        ([BY_NAME, BY_NAME], ("FieldValueDuplicate", f"{path}[1]")),
        ([{**BY_NAME, "name": "Not_a_label"}], ("FieldValueInvalid", f"{path}[0].name")),
        ([{**BY_NAME, "name": f"n{i}"} for i in range(5)], ("FieldValueTooMany", path)),
    ):
        answer = await server.call("POST", groups(server), group(resourceClaims=entries))
        answer.refused(422, "Invalid", cause)


@contract
async def test_only_the_count_of_a_gang_may_change(server: Server) -> None:
    await server.create(groups(server), group(resourceClaims=[BY_NAME]))
    path = f"{groups(server)}/group"
    changed = await server.merge(path, {"spec": {"schedulingPolicy": {"gang": {"minCount": 3}}}})
    assert changed["spec"]["schedulingPolicy"] == {"gang": {"minCount": 3}}
    answer = await server.call(
        "PATCH", path, {"spec": {"resourceClaims": []}}, content_type="application/merge-patch+json"
    )
    answer.refused(422, "Invalid", ("FieldValueInvalid", "spec.resourceClaims"))
    body = {"spec": {"schedulingPolicy": {"gang": None, "basic": {}}}}
    answer = await server.call("PATCH", path, body, content_type="application/merge-patch+json")
    assert answer.status == 422, answer.text


@contract
async def test_conditions_of_a_group_merge_by_type(server: Server) -> None:
    await server.create(groups(server), group(resourceClaims=[FROM_TEMPLATE]))
    path = f"{groups(server)}/group/status"
    condition = {
        "type": "PodGroupInitiallyScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": "",
        "observedGeneration": 1,
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }
    for changed in (condition, {**condition, "type": "Other"}, {**condition, "status": "True", "reason": "Scheduled"}):
        body = {"status": {"conditions": [changed]}}
        (await server.call("PATCH", path, body, content_type=STRATEGIC_MERGE_PATCH)).expect(200)
    found = {each["type"]: each["status"] for each in (await server.get(path))["status"]["conditions"]}
    assert found == {"PodGroupInitiallyScheduled": "True", "Other": "False"}
    body = {"status": {"resourceClaimStatuses": [{"name": "unknown", "resourceClaimName": "x"}]}}
    answer = await server.call("PATCH", path, body, content_type=STRATEGIC_MERGE_PATCH)
    answer.refused(422, "Invalid", ("FieldValueInvalid", "status.resourceClaimStatuses[0].name"))


@contract
async def test_a_groups_claim_is_made_from_its_template_for_all_of_its_pods(server: Server) -> None:
    await server.create(server.templates, template())
    made = await server.create(groups(server), group(resourceClaims=[FROM_TEMPLATE]))
    for name in ("a", "b"):
        await server.create(server.pods, member(name, FROM_TEMPLATE))

    async def names() -> set[str] | None:
        paths = [f"{groups(server)}/group", f"{server.pods}/a", f"{server.pods}/b"]
        statuses = [(await server.get(path))["status"].get("resourceClaimStatuses") for path in paths]
        return {each[0]["resourceClaimName"] for each in statuses if each} if all(statuses) else None

    (name,) = await server.eventually(names, "the claim's name in the group and its pods")
    metadata = (await server.get(f"{server.claims}/{name}"))["metadata"]
    assert metadata["generateName"] == "group-gpu-"
    assert metadata["annotations"] == {"resource.kubernetes.io/pod-claim-name": "gpu"}
    owner = {"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup", "name": "group"}
    assert metadata["ownerReferences"] == [{**owner, "uid": made["metadata"]["uid"], "controller": True}]


@contract
async def test_a_claim_of_a_pod_that_is_not_equal_to_one_of_the_group_is_the_pods_own(server: Server) -> None:
    await server.create(server.templates, template())
    await server.create(groups(server), group(resourceClaims=[{**FROM_TEMPLATE, "name": "other"}]))
    made = await server.create(server.pods, member("a", FROM_TEMPLATE))

    async def owner() -> str | None:
        statuses = (await server.get(f"{server.pods}/a"))["status"].get("resourceClaimStatuses")
        if not statuses:
            return None
        found = await server.get(f"{server.claims}/{statuses[0]['resourceClaimName']}")
        return str(found["metadata"]["ownerReferences"][0]["uid"])

    assert await server.eventually(owner, "the claim of the pod") == made["metadata"]["uid"]


@contract
async def test_a_reservation_for_a_group_stays_until_the_group_is_gone(server: Server) -> None:
    await server.create(server.claims, claim())
    made = await server.create(groups(server), group(resourceClaims=[BY_NAME]))
    await server.create(server.pods, member("a", BY_NAME))
    path = f"{server.claims}/claim"
    await server.merge(path, {"metadata": {"finalizers": [FINALIZER]}})
    user = {"apiGroup": "scheduling.k8s.io", "resource": "podgroups", "name": "group", "uid": made["metadata"]["uid"]}
    await server.merge(f"{path}/status", {"status": {"allocation": allocation("gpu-0"), "reservedFor": [user]}})
    await server.merge(f"{server.pods}/a/status", {"status": {"phase": "Succeeded"}})
    await server.delete(f"{server.pods}/a")
    assert (await server.get(path))["status"]["reservedFor"] == [user]
    await server.merge(f"{groups(server)}/group", {"metadata": {"finalizers": None}})
    await server.delete(f"{groups(server)}/group")

    async def freed() -> bool:
        return (await server.get(path))["status"] == {}

    await server.eventually(freed, "the deallocation")
