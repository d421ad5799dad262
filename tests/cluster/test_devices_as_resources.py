"""Extended resources and what devices take of their nodes, on a real control plane, under our own role."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dra_bench.controlplane.client import Client
from dra_bench.controlplane.cluster import ControlPlane, rbac_manifest
from dra_bench.controlplane.flags import Options
from support.eventually import eventually
from support.scheduler_process import SchedulerProcess
from support.workload import RESOURCE

JSON = dict[str, Any]
NAME = "example.com/thing"
MERGE = "application/merge-patch+json"
GATE = "DRANodeAllocatableResources"


@pytest.fixture(scope="module")
def control_plane(control_plane_binaries: None) -> Iterator[ControlPlane]:
    """A control plane on which devices can take resources of their nodes."""
    with ControlPlane(Options(manifests=(rbac_manifest(),), feature_gates={GATE: True})) as plane:
        yield plane


@pytest.fixture
def scheduler(control_plane: ControlPlane, tmp_path: Path) -> Iterator[SchedulerProcess]:
    process = SchedulerProcess(control_plane.kubeconfig("dra-scheduler"), tmp_path, "--feature-gates", f"{GATE}=true")
    with process:
        yield process


@pytest.fixture
def cluster(admin: Client, namespace: str) -> Iterator[str]:
    """One node with two devices that take one cpu each, for the class `thing`, and one whose devices take nothing."""
    create(admin, "/api/v1/nodes", node(namespace))
    declared = {"status": {"declaredFeatures": [GATE]}}
    assert admin.request("PATCH", f"/api/v1/nodes/{namespace}/status", declared, content_type=MERGE).status == 200
    taking = {"cpu": {"mapping": {"deviceMultiplier": "1"}}}
    for kind, resources in (("plain", {}), ("taking", {"nodeAllocatableResources": taking})):
        driver = f"{kind}.{namespace}.example.com"
        devices = [{"name": f"d{number}", **resources} for number in range(2)]
        pool = {"name": namespace, "generation": 1, "resourceSliceCount": 1}
        spec = {"driver": driver, "nodeName": namespace, "pool": pool, "devices": devices}
        create(admin, f"{RESOURCE}/resourceslices", {"metadata": {"name": f"{namespace}-{kind}"}, "spec": spec})
        selector = {"cel": {"expression": f'device.driver == "{driver}"'}}
        stands_for = {"extendedResourceName": NAME} if kind == "plain" else {}
        body = {"metadata": {"name": f"{namespace}-{kind}"}, "spec": {"selectors": [selector], **stands_for}}
        create(admin, f"{RESOURCE}/deviceclasses", body)
    yield namespace
    for kind in ("plain", "taking"):
        admin.request("DELETE", f"{RESOURCE}/resourceslices/{namespace}-{kind}")
        admin.request("DELETE", f"{RESOURCE}/deviceclasses/{namespace}-{kind}")
    admin.request("DELETE", f"/api/v1/nodes/{namespace}")


def create(admin: Client, path: str, body: JSON) -> None:
    answer = admin.request("POST", path, body)
    assert answer.status == 201, answer.message


def node(name: str) -> JSON:
    amounts = {"cpu": "4", "memory": "8Gi", "pods": "110"}
    return {"metadata": {"name": name, "labels": {"test": name}}, "status": {"allocatable": amounts}}


def pod(namespace: str, name: str, resources: JSON, **spec: Any) -> JSON:
    container = {"name": "main", "image": "none.invalid/none", "resources": resources}
    selector = {"test": namespace}
    base = {"schedulerName": "dra-scheduler", "nodeSelector": selector, "containers": [container]}
    return {"metadata": {"name": name, "namespace": namespace}, "spec": base | spec}


def asking(namespace: str, name: str, count: int) -> JSON:
    amounts = {NAME: str(count)}
    return pod(namespace, name, {"requests": amounts, "limits": amounts})


def read(admin: Client, namespace: str, name: str) -> JSON:
    body: JSON = admin.request("GET", f"/api/v1/namespaces/{namespace}/pods/{name}").body
    return body


def bound(admin: Client, namespace: str, name: str) -> JSON:
    eventually(lambda: bool(read(admin, namespace, name)["spec"].get("nodeName")), f"{name} to be bound", seconds=30)
    return read(admin, namespace, name)


def message(admin: Client, namespace: str, name: str) -> str:
    conditions = read(admin, namespace, name)["status"].get("conditions") or ()
    return next((c.get("message", "") for c in conditions if c["type"] == "PodScheduled"), "")


def claims(admin: Client, namespace: str) -> list[JSON]:
    items: list[JSON] = admin.request("GET", f"{RESOURCE}/namespaces/{namespace}/resourceclaims").body["items"]
    return items


def test_devices_serve_an_extended_resource(admin: Client, cluster: str, scheduler: SchedulerProcess) -> None:
    pods = f"/api/v1/namespaces/{cluster}/pods"
    create(admin, pods, asking(cluster, "p", 2))
    there = bound(admin, cluster, "p")
    (claim,) = claims(admin, cluster)
    assert there["status"]["extendedResourceClaimStatus"] == {
        "resourceClaimName": claim["metadata"]["name"],
        "requestMappings": [
            {"containerName": "main", "resourceName": NAME, "requestName": "container-0-request-0"},
        ],
    }
    assert claim["metadata"]["generateName"] == "p-extended-resources-"
    assert len(claim["status"]["allocation"]["devices"]["results"]) == 2
    create(admin, pods, asking(cluster, "q", 1))
    eventually(lambda: "1 cannot allocate all claims" in message(admin, cluster, "q"), "q to wait", seconds=30)
    admin.request("DELETE", f"{pods}/p", {"gracePeriodSeconds": 0})
    bound(admin, cluster, "q")


def test_a_quota_for_the_devices_of_a_class_keeps_the_pod_waiting(
    admin: Client, cluster: str, scheduler: SchedulerProcess
) -> None:
    hard = {f"{cluster}-plain.deviceclass.resource.k8s.io/devices": "0"}
    quotas = f"/api/v1/namespaces/{cluster}/resourcequotas"
    create(admin, quotas, {"metadata": {"name": "none"}, "spec": {"hard": hard}})
    status = {"status": {"hard": hard, "used": dict.fromkeys(hard, "0")}}
    assert admin.request("PATCH", f"{quotas}/none/status", status, content_type=MERGE).status == 200
    create(admin, f"/api/v1/namespaces/{cluster}/pods", asking(cluster, "p", 1))
    eventually(lambda: "exceeded quota: none" in message(admin, cluster, "p"), "the quota to be told of", seconds=30)
    conditions = read(admin, cluster, "p")["status"]["conditions"]
    assert [c["reason"] for c in conditions if c["type"] == "PodScheduled"] == ["Unschedulable"]
    assert claims(admin, cluster) == []
    admin.request("DELETE", f"{quotas}/none")
    bound(admin, cluster, "p")


def test_what_devices_take_of_the_node_is_told_and_counted(
    admin: Client, cluster: str, scheduler: SchedulerProcess
) -> None:
    pods = f"/api/v1/namespaces/{cluster}/pods"
    request = {"name": "r", "exactly": {"deviceClassName": f"{cluster}-taking", "count": 2}}
    spec = {"devices": {"requests": [request]}}
    create(admin, f"{RESOURCE}/namespaces/{cluster}/resourceclaims", {"metadata": {"name": "c"}, "spec": spec})
    own = {"requests": {"cpu": "1"}, "claims": [{"name": "c"}]}
    create(admin, pods, pod(cluster, "p", own, resourceClaims=[{"name": "c", "resourceClaimName": "c"}]))
    there = bound(admin, cluster, "p")
    entry = {"resourceClaimName": "c", "containers": ["main"], "mapping": [{"name": "cpu", "quantity": "2"}]}
    assert there["status"]["nodeAllocatableResourceClaimStatuses"] == [entry]
    create(admin, pods, pod(cluster, "q", {"requests": {"cpu": "2"}}))
    eventually(lambda: "1 Insufficient cpu" in message(admin, cluster, "q"), "q to find no room", seconds=30)
