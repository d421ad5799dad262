"""The read-only commands on a cluster of kube-scheduler, under a role that may get, list and watch."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dra_bench.controlplane.binaries import repository_root
from dra_bench.controlplane.client import Client
from dra_bench.controlplane.cluster import ControlPlane
from dra_bench.controlplane.flags import Options
from dra_bench.controlplane.kubeconfig import User
from support.cli import Ran, run
from support.eventually import eventually
from support.workload import RESOURCE, Workload

KUBE = "default-scheduler"
MERGE = "application/merge-patch+json"
JSON = dict[str, Any]


@pytest.fixture(scope="module")
def kube(control_plane_binaries: None) -> Iterator[ControlPlane]:
    """A control plane with kube-scheduler, and a user who may only look."""
    role = repository_root() / "manifests" / "rbac-readonly.yaml"
    reader = User("reader", "reader", ("dra-scheduler-readers",))
    with ControlPlane(Options(kube_scheduler=True, extra_users=(reader,), manifests=(role,))) as plane:
        yield plane


@pytest.fixture
def work(kube: ControlPlane) -> Iterator[Workload]:
    """Two nodes with two devices each."""
    client, name = kube.client("admin"), f"test-{uuid.uuid4().hex[:10]}"
    assert client.request("POST", "/api/v1/namespaces", {"metadata": {"name": name}}).status == 201
    workload = Workload(client, name, nodes=2, devices=2)
    yield workload
    workload.delete_pods()
    for claim in workload.claims():
        release(client, workload, claim["metadata"]["name"])
    eventually(lambda: workload.claims() == [], "the claims to be gone")
    workload.remove()
    client.request("DELETE", f"/api/v1/namespaces/{name}")


def look(kube: ControlPlane, *words: str) -> Ran:
    return run(words[0], "--kubeconfig", str(kube.kubeconfig("reader")), *words[1:])


def findings(kube: ControlPlane) -> set[str]:
    ran = look(kube, "audit", "--settle", "0.2", "-o", "json")
    assert ran.code in (0, 1), ran.err
    return {finding["name"] for finding in json.loads(ran.out)["findings"]}


def patch_claim(client: Client, work: Workload, name: str, body: JSON, subresource: str = "") -> None:
    path = f"{RESOURCE}/namespaces/{work.namespace}/resourceclaims/{name}{subresource}"
    answer = client.request("PATCH", path, body, content_type=MERGE)
    assert answer.status == 200, answer.message


def release(client: Client, work: Workload, name: str) -> None:
    """Let a claim go, whatever the test has done to it; controllers may do so at the same moment."""
    path = f"{RESOURCE}/namespaces/{work.namespace}/resourceclaims/{name}"
    client.request("PATCH", f"{path}/status", {"status": {"allocation": None, "reservedFor": None}}, content_type=MERGE)
    client.request("PATCH", path, {"metadata": {"finalizers": None}}, content_type=MERGE)
    client.request("DELETE", path)


def bound_claim(work: Workload) -> JSON:
    """The claim of the one pod, once kube-scheduler has bound it."""
    eventually(lambda: work.bound() == 1, "the pod to be bound")
    (claim,) = work.claims()
    return claim


def test_devices_of_pods_of_kube_scheduler_are_listed(kube: ControlPlane, work: Workload) -> None:
    work.create_pod("p", scheduler=KUBE)
    claim = bound_claim(work)["metadata"]["name"]
    ran = look(kube, "devices", "--driver", work.driver, "-o", "json")
    assert (ran.code, ran.err) == (0, "")
    devices = json.loads(ran.out)["devices"]
    held = [one for one in devices if one["state"] == "held"]
    assert (len(devices), len(held)) == (4, 1)
    assert held[0]["heldBy"][0]["claim"] == f"{work.namespace}/{claim}"
    assert held[0]["heldBy"][0]["pods"] == [f"{work.namespace}/p"]


def test_doctor_knows_gates_and_rights_of_a_user_who_may_only_look(kube: ControlPlane, work: Workload) -> None:
    work.create_pod("p", scheduler=KUBE)
    bound_claim(work)
    ran = look(kube, "doctor", "-o", "json")
    checks = {check["name"]: check for check in json.loads(ran.out)["checks"]}
    assert ran.code == 0, ran.out
    assert "on: " in checks["gates"]["text"]
    assert "DynamicResourceAllocation" in checks["gates"]["text"]
    assert checks["rights-reading"]["status"] == "ok"
    assert checks["rights-scheduling"]["status"] == "warning"
    assert checks["clock"]["status"] == "ok"
    assert checks["claim-controller"]["status"] == "ok"
    assert f"{KUBE}" in checks["rivals"]["text"]


def test_nobody_without_the_role_learns_anything(kube: ControlPlane) -> None:
    ran = run("devices", "--kubeconfig", str(kube.kubeconfig("nobody")))
    assert "may not be listed" in ran.err
    assert run("audit", "--kubeconfig", str(kube.kubeconfig("nobody"))).code == 2


def test_audit_finds_nothing_in_a_cluster_that_is_well(kube: ControlPlane, work: Workload) -> None:
    work.create_pod("p", scheduler=KUBE)
    bound_claim(work)
    assert findings(kube) == set()


def test_audit_finds_a_device_that_two_claims_hold(kube: ControlPlane, work: Workload) -> None:
    work.create_pod("p", scheduler=KUBE)
    first = bound_claim(work)
    work.create_claim("rival")
    patch_claim(work.admin, work, "rival", {"status": {"allocation": first["status"]["allocation"]}}, "/status")
    assert {"device-held-twice", "finalizer-missing"} <= findings(kube)


def test_audit_finds_a_claim_taken_from_a_bound_pod(kube: ControlPlane, work: Workload) -> None:
    kube.stop_component("kube-controller-manager", grace=5)
    try:
        _taken(kube, work)
    finally:
        kube.start_component("kube-controller-manager")


def _taken(kube: ControlPlane, work: Workload) -> None:
    # Nobody makes claims of templates now, so the pods name theirs.
    work.create_claim("one")
    work.create_pod("p", shared="one", scheduler=KUBE)
    bound_claim(work)
    patch_claim(work.admin, work, "one", {"status": {"reservedFor": None}}, "/status")
    assert findings(kube) == {"bound-not-reserved"}
    patch_claim(work.admin, work, "one", {"status": {"allocation": None}}, "/status")
    assert findings(kube) == {"bound-not-allocated"}
    work.create_claim("two")
    gone = [{"resource": "pods", "name": "gone", "uid": "0f3a5c0e-8b62-4c0a-9f5e-1a2b3c4d5e6f"}]
    results = [{"request": "device", "driver": work.driver, "pool": work.nodes[0], "device": "device-7"}]
    status = {"allocation": {"devices": {"results": results}}, "reservedFor": gone}
    patch_claim(work.admin, work, "two", {"status": status}, "/status")
    assert {"reserved-for-gone-pod", "device-vanished", "allocation-without-timestamp"} <= findings(kube)


def test_audit_finds_taints_of_rules(kube: ControlPlane, work: Workload) -> None:
    work.create_pod("p", scheduler=KUBE)
    bound_claim(work)
    rule = {
        "metadata": {"name": work.namespace},
        "spec": {"deviceSelector": {"driver": work.driver}, "taint": {"key": "repair", "effect": "NoSchedule"}},
    }
    assert work.admin.request("POST", f"{RESOURCE}/devicetaintrules", rule).status == 201
    try:
        assert findings(kube) == {"device-tainted-noschedule"}
    finally:
        work.admin.request("DELETE", f"{RESOURCE}/devicetaintrules/{work.namespace}")


def test_a_dump_of_the_cluster_replays(kube: ControlPlane, work: Workload, tmp_path: Path) -> None:
    for number in range(5):
        work.create_pod(f"p-{number}", scheduler=KUBE)
    eventually(lambda: work.bound() == 4, "four pods to be bound")
    file = tmp_path / "dump.json"
    ran = look(kube, "dump", "-o", str(file))
    assert ran.code == 0, ran.err
    assert "warning" not in ran.err
    replayed = run("simulate", "-f", str(file), "-o", "json")
    assert replayed.code == 1, replayed.err  # one pod has no device left
    nodes = {
        i["metadata"]["name"]: i["spec"].get("nodeName")
        for i in json.loads(replayed.out)["items"]
        if i["kind"] == "Pod" and i["metadata"]["namespace"] == work.namespace
    }
    assert nodes == {pod["metadata"]["name"]: pod["spec"].get("nodeName") for pod in work.pods()}
    assert run("audit", "-f", str(file)).code == 0


def test_looking_takes_less_than_two_seconds(kube: ControlPlane) -> None:
    begin = time.monotonic()
    assert look(kube, "devices").code == 0
    assert time.monotonic() - begin < 2


def test_explain_tells_of_placed_and_pending_pods_of_kube_scheduler(kube: ControlPlane, work: Workload) -> None:
    for number in range(5):
        work.create_pod(f"p-{number}", scheduler=KUBE)
    eventually(lambda: work.bound() == 4, "four pods to be bound")
    eventually(lambda: any(map(_refused, work.pods())), "kube-scheduler to refuse the fifth")
    for pod in work.pods():
        ran = look(kube, "explain", f"pod/{pod['metadata']['name']}", "-n", work.namespace)
        assert (ran.code, ran.err) == (0, "")
        if "nodeName" in pod["spec"]:
            assert f'selector of the class holds: device.driver == "{work.driver}"' in ran.out
        else:
            assert "condition PodScheduled: Unschedulable: " in ran.out
            assert "0/2 nodes are available" in ran.out
            assert "in use by" in ran.out


def _refused(pod: JSON) -> bool:
    conditions = pod.get("status", {}).get("conditions", [])
    return any(c["type"] == "PodScheduled" and c["status"] == "False" for c in conditions)


def test_a_shadow_of_kube_scheduler_agrees_with_it_and_writes_nothing(
    kube: ControlPlane, work: Workload, tmp_path: Path
) -> None:
    command = [str(Path(sys.executable).with_name("dra-scheduler")), "run", "--shadow", "-o", "json"]
    log = tmp_path / "shadow.jsonl"
    with log.open("wb") as out:
        shadow = subprocess.Popen(
            [*command, "--kubeconfig", str(kube.kubeconfig("reader")), "--shadow-for", "12"], stdout=out
        )
        try:
            eventually(lambda: "began" in log.read_text(), "the shadow to begin")
            for number in range(5):
                work.create_pod(f"p-{number}", scheduler=KUBE)
            eventually(lambda: work.bound() == 4, "four pods to be bound")
            assert shadow.wait(60) == 0
        finally:
            shadow.kill()
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    summary = lines[-1]["summary"]
    assert not [line for line in lines[1:-1] if line["serious"]]
    seen = summary["pods"]
    assert sum(seen.get(kind, 0) for kind in ("same", "other-node", "other-devices", "first")) == 4, summary
    assert summary["milliseconds"]["deciding"]["p50"] < 50
    print(f"shadow: {summary}")
