"""Our role on a real API server: every request that the scheduler makes is allowed, and little else is."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from dra_bench.controlplane.binaries import repository_root
from dra_bench.controlplane.client import Answer, Client
from dra_bench.controlplane.cluster import ControlPlane, rbac_manifest
from support.eventually import eventually

RESOURCE = "resource.k8s.io"
MERGE_PATCH = "application/merge-patch+json"

NEEDED = [
    ("", "pods", "get list watch"),
    ("", "nodes", "get list watch"),
    ("", "namespaces", "get list watch"),
    ("", "pods/binding", "create"),
    ("", "pods/status", "patch"),
    ("events.k8s.io", "events", "create patch update"),
    (RESOURCE, "resourceclaims", "get list watch create update patch delete"),
    ("", "resourcequotas", "get list watch"),
    (RESOURCE, "resourceclaims/status", "get update patch"),
    (RESOURCE, "resourceclaims/binding", "update patch"),
    (RESOURCE, "resourceslices", "get list watch"),
    (RESOURCE, "deviceclasses", "get list watch"),
    (RESOURCE, "devicetaintrules", "get list watch"),
    ("scheduling.k8s.io", "podgroups", "get list watch"),
    ("scheduling.k8s.io", "podgroups/status", "patch update"),
]

REFUSED = [
    ("", "secrets", "get list watch"),
    ("", "configmaps", "get list"),
    ("", "pods", "create update patch delete deletecollection"),
    ("", "pods/exec", "create get"),
    ("", "pods/eviction", "create"),
    ("", "nodes", "create update patch delete"),
    ("", "nodes/status", "update patch"),
    ("", "namespaces", "create update delete"),
    ("", "serviceaccounts", "get impersonate"),
    ("", "serviceaccounts/token", "create"),
    ("", "users", "impersonate"),
    (RESOURCE, "resourceslices", "create update patch delete"),
    (RESOURCE, "deviceclasses", "create update patch delete"),
    (RESOURCE, "devicetaintrules", "create update patch delete"),
    (RESOURCE, "resourceclaims", "deletecollection"),
    (RESOURCE, "resourceclaims/driver", "arbitrary-node:update associated-node:update"),
    ("rbac.authorization.k8s.io", "clusterroles", "get create bind escalate"),
    ("", "events", "get list create update patch"),
    ("", "persistentvolumes", "get list update patch"),
    ("", "persistentvolumeclaims", "get list update patch"),
    ("apps", "replicasets", "get list update delete"),
    ("storage.k8s.io", "storageclasses", "get list"),
    ("coordination.k8s.io", "leases", "get list watch create update"),
    ("*", "*", "*"),
]


def cases(table: list[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    return [(group, resource, verb) for group, resource, verbs in table for verb in verbs.split()]


@pytest.fixture
def scheduler(control_plane: ControlPlane) -> Client:
    return control_plane.client("dra-scheduler")


def may(client: Client, **attributes: str) -> bool:
    spec = {"resourceAttributes": attributes}
    answer = client.request("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", {"spec": spec})
    assert answer.status == 201, answer.message
    return bool(answer.body["status"]["allowed"])


def reviews(client: Client, table: list[tuple[str, str, str]]) -> dict[tuple[str, str, str], bool]:
    results = {}
    for group, resource, verb in cases(table):
        name, _, subresource = resource.partition("/")
        results[group, resource, verb] = may(client, group=group, resource=name, subresource=subresource, verb=verb)
    return results


def test_the_role_allows_everything_that_scheduling_needs(scheduler: Client) -> None:
    assert [case for case, allowed in reviews(scheduler, NEEDED).items() if not allowed] == []


def test_the_role_allows_nothing_that_scheduling_does_not_need(scheduler: Client) -> None:
    assert [case for case, allowed in reviews(scheduler, REFUSED).items() if allowed] == []


def test_every_rule_of_the_role_has_a_comment_that_says_what_it_is_for() -> None:
    lines = rbac_manifest().read_text().splitlines()
    rules = [number for number, line in enumerate(lines) if line.startswith("  - apiGroups:")]
    assert len(rules) > 10
    uncommented = [lines[number] + lines[number + 1] for number in rules if not _is_explained(lines, number)]
    assert uncommented == []


def _is_explained(lines: list[str], number: int) -> bool:
    """Whether a comment stands right above the rule, or above its role when it is the first of it."""
    if lines[number - 1].strip() == "rules:":
        document = max(index for index in range(number) if lines[index] == "---")
        return lines[document + 1].startswith("#")
    return lines[number - 1].strip().startswith("#")


# Real writes, in the order in which the scheduler does them.


def claims_path(namespace: str, *rest: str) -> str:
    return "/".join([f"/apis/{RESOURCE}/v1/namespaces/{namespace}/resourceclaims", *rest])


@pytest.fixture
def pod(admin: Client, namespace: str) -> dict[str, Any]:
    """A pod with a claim of its own, neither allocated nor bound."""
    request = {"name": "cat", "exactly": {"deviceClassName": "cats"}}
    claim = {"metadata": {"name": "cat"}, "spec": {"devices": {"requests": [request]}}}
    assert admin.request("POST", claims_path(namespace), claim).status == 201
    spec = {
        "schedulerName": "dra-scheduler",
        "containers": [{"name": "main", "image": "none"}],
        "resourceClaims": [{"name": "cat", "resourceClaimName": "cat"}],
    }
    answer = admin.request("POST", f"/api/v1/namespaces/{namespace}/pods", {"metadata": {"name": "p"}, "spec": spec})
    assert answer.status == 201, answer.message
    return answer.body


def allocate(client: Client, pod: dict[str, Any], headers: dict[str, str] | None = None) -> Answer:
    """Set the finalizer, then allocation and reservation, and return the second answer."""
    namespace = pod["metadata"]["namespace"]
    body: dict[str, Any] = {"metadata": {"finalizers": ["resource.kubernetes.io/delete-protection"]}}
    answer = client.request("PATCH", claims_path(namespace, "cat"), body, content_type=MERGE_PATCH, headers=headers)
    assert answer.status == 200, answer.message
    result = {"request": "cat", "driver": "cats.example.com", "pool": "n1", "device": "cat-0"}
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}
    body = {
        "metadata": {"resourceVersion": answer.body["metadata"]["resourceVersion"]},
        "status": {
            "allocation": {"devices": {"results": [result]}, "nodeSelector": {"nodeSelectorTerms": [term]}},
            "reservedFor": [{"resource": "pods", "name": "p", "uid": pod["metadata"]["uid"]}],
        },
    }
    path = claims_path(namespace, "cat", "status")
    return client.request("PATCH", path, body, content_type=MERGE_PATCH, headers=headers)


def test_the_role_can_allocate_bind_and_report(admin: Client, scheduler: Client, pod: dict[str, Any]) -> None:
    namespace = pod["metadata"]["namespace"]
    node = {"metadata": {"name": "n1"}}
    assert admin.request("POST", "/api/v1/nodes", node).status in {201, 409}
    allocated = allocate(scheduler, pod)
    assert allocated.status == 200, allocated.message
    assert allocated.body["status"]["reservedFor"][0]["name"] == "p"

    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
    path = f"/api/v1/namespaces/{namespace}/pods/p"
    content_type = "application/strategic-merge-patch+json"
    body: dict[str, Any] = {"status": {"conditions": [condition], "nominatedNodeName": "n1"}}
    assert scheduler.request("PATCH", f"{path}/status", body, content_type=content_type).status == 200

    binding = {"metadata": {"name": "p", "uid": pod["metadata"]["uid"]}, "target": {"kind": "Node", "name": "n1"}}
    bound = scheduler.request("POST", f"{path}/binding", binding)
    assert bound.status == 201, bound.message
    assert scheduler.request("GET", path).body["spec"]["nodeName"] == "n1"

    event = {
        "metadata": {"name": "p.scheduled"},
        "eventTime": "2026-01-01T00:00:00.000000Z",
        "reportingController": "dra-scheduler",
        "reportingInstance": "dra-scheduler-0",
        "action": "Binding",
        "reason": "Scheduled",
        "type": "Normal",
        "note": "assigned",
        "regarding": {"kind": "Pod", "namespace": namespace, "name": "p", "uid": pod["metadata"]["uid"]},
    }
    assert scheduler.request("POST", f"/apis/events.k8s.io/v1/namespaces/{namespace}/events", event).status == 201


def test_the_role_cannot_read_secrets_delete_pods_or_change_nodes(scheduler: Client, pod: dict[str, Any]) -> None:
    namespace = pod["metadata"]["namespace"]
    for method, path, body in (
        ("GET", f"/api/v1/namespaces/{namespace}/secrets", None),
        ("DELETE", f"/api/v1/namespaces/{namespace}/pods/p", None),
        ("POST", f"/api/v1/namespaces/{namespace}/pods", {"metadata": {"name": "another"}, "spec": pod["spec"]}),
        ("POST", "/api/v1/nodes", {"metadata": {"name": "forged"}}),
        ("POST", f"/apis/{RESOURCE}/v1/deviceclasses", {"metadata": {"name": "forged"}, "spec": {}}),
    ):
        answer = scheduler.request(method, path, body)
        assert answer.status == 403, f"{method} {path}: {answer.status} {answer.message}"


def test_the_scheduler_reads_which_feature_gates_are_on(control_plane: ControlPlane, scheduler: Client) -> None:
    status, text = scheduler.text("/metrics")
    assert status == 200
    assert 'kubernetes_feature_enabled{name="DRADeviceTaints"' in text
    assert control_plane.client("nobody").text("/metrics")[0] == 403


# The permission that is easily forgotten.


@pytest.fixture
def role_without_binding(admin: Client, namespace: str) -> dict[str, str]:
    """Headers of a user who has our role's rules except the one on `resourceclaims/binding`."""
    documents = yaml.safe_load_all(rbac_manifest().read_text())
    ours = next(d for d in documents if d["kind"] == "ClusterRole" and d["metadata"]["name"] == "dra-scheduler")
    rules = [rule for rule in ours["rules"] if rule["resources"] != ["resourceclaims/binding"]]
    assert len(rules) == len(ours["rules"]) - 1
    user = f"half-{namespace}"
    group = "rbac.authorization.k8s.io"
    for kind, spec in (
        ("clusterroles", {"rules": rules}),
        (
            "clusterrolebindings",
            {
                "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": user},
                "subjects": [{"apiGroup": group, "kind": "User", "name": user}],
            },
        ),
    ):
        created = admin.request("POST", f"/apis/{group}/v1/{kind}", {"metadata": {"name": user}, **spec})
        assert created.status == 201, created.message
    headers = {"Impersonate-User": user}
    eventually(
        lambda: admin.request("GET", f"/apis/{RESOURCE}/v1/resourceslices", headers=headers).status == 200,
        "the new role to count",
    )
    return headers


def test_without_resourceclaims_binding_an_allocation_is_invalid_not_forbidden(
    admin: Client, pod: dict[str, Any], role_without_binding: dict[str, str]
) -> None:
    answer = allocate(admin, pod, role_without_binding)
    assert answer.status == 422
    assert "status.allocation: Forbidden" in answer.message
    assert "resourceclaims/binding" in answer.message


def test_resourceclaims_binding_in_a_namespace_only_does_not_count(
    admin: Client, pod: dict[str, Any], role_without_binding: dict[str, str]
) -> None:
    namespace = pod["metadata"]["namespace"]
    base = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}"
    rule = {"apiGroups": [RESOURCE], "resources": ["resourceclaims/binding"], "verbs": ["update", "patch"]}
    assert admin.request("POST", f"{base}/roles", {"metadata": {"name": "b"}, "rules": [rule]}).status == 201
    user = role_without_binding["Impersonate-User"]
    binding = {
        "metadata": {"name": "b"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "b"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}],
    }
    assert admin.request("POST", f"{base}/rolebindings", binding).status == 201
    spec = {
        "user": user,
        "resourceAttributes": {
            "namespace": namespace,
            "group": RESOURCE,
            "resource": "resourceclaims",
            "subresource": "binding",
            "verb": "patch",
        },
    }
    path = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
    eventually(
        lambda: admin.request("POST", path, {"spec": spec}).body["status"]["allowed"], "the namespaced role to count"
    )
    assert allocate(admin, pod, role_without_binding).status == 422


# The Deployment.


def test_the_deployment_is_accepted_and_its_pod_meets_the_restricted_standard(admin: Client) -> None:
    deployment = yaml.safe_load((repository_root() / "manifests" / "deployment.yaml").read_text())
    query = {"dryRun": "All", "fieldValidation": "Strict"}
    path = "/apis/apps/v1/namespaces/dra-scheduler/deployments"
    answer = admin.request("POST", path, deployment, query=query)
    assert answer.status == 201, answer.message
    template = deployment["spec"]["template"]
    pod = {"metadata": {"name": "trial", **template["metadata"]}, "spec": template["spec"]}
    answer = admin.request("POST", "/api/v1/namespaces/dra-scheduler/pods", pod, query=query)
    assert answer.status == 201, answer.message
    pod["spec"]["securityContext"]["runAsNonRoot"] = False
    refused = admin.request("POST", "/api/v1/namespaces/dra-scheduler/pods", pod, query=query)
    assert refused.status == 403
    assert "restricted" in refused.message
