"""PodGroups on a real control plane with the gates on, under our own role, in a process as users run it."""

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
from support.workload import Workload

JSON = dict[str, Any]
GATES = {"GenericWorkload": True, "DRAWorkloadResourceClaims": True}
FLAG = ("--feature-gates", ",".join(f"{name}=true" for name in GATES))


@pytest.fixture(scope="module")
def control_plane(control_plane_binaries: None) -> Iterator[ControlPlane]:
    """A control plane that serves PodGroups, for the tests of this file."""
    versions = {"scheduling.k8s.io/v1beta1": True}
    with ControlPlane(Options(manifests=(rbac_manifest(),), feature_gates=GATES, runtime_config=versions)) as plane:
        yield plane


@pytest.fixture
def workload(admin: Client, namespace: str) -> Iterator[Workload]:
    """Three nodes with a device each."""
    made = Workload(admin, namespace, nodes=3, devices=1)
    yield made
    made.remove()


@pytest.fixture
def kubeconfig(control_plane: ControlPlane) -> Path:
    """Our own rights, never an admin's."""
    return control_plane.kubeconfig("dra-scheduler")


def groups(workload: Workload) -> str:
    return f"/apis/scheduling.k8s.io/v1beta1/namespaces/{workload.namespace}/podgroups"


def create_group(workload: Workload, name: str, count: int, **spec: Any) -> JSON:
    body = {"metadata": {"name": name}, "spec": {"schedulingPolicy": {"gang": {"minCount": count}}, **spec}}
    answer = workload.admin.request("POST", groups(workload), body)
    assert answer.status == 201, answer.message
    return answer.body


def condition(workload: Workload, name: str) -> tuple[str, str, str]:
    status = workload.admin.request("GET", f"{groups(workload)}/{name}").body.get("status") or {}
    for each in status.get("conditions") or ():
        if each["type"] == "PodGroupInitiallyScheduled":
            return each["status"], each["reason"], each["message"]
    return "", "", ""


def test_a_gang_is_bound_all_or_none_and_its_condition_says_so(
    workload: Workload, kubeconfig: Path, tmp_path: Path
) -> None:
    with SchedulerProcess(kubeconfig, tmp_path, *FLAG) as scheduler:
        create_group(workload, "large", 4)
        for number in range(4):
            workload.create_pod(f"large-{number}", group="large")
        text = "minCount (4) cannot be satisfied: 3 scheduled, 0 remaining"
        eventually(lambda: condition(workload, "large") == ("False", "Unschedulable", text), "the condition")
        assert workload.bound() == 0
        assert not any((claim.get("status") or {}).get("allocation") for claim in workload.claims())
        create_group(workload, "small", 3)
        for number in range(3):
            workload.create_pod(f"small-{number}", group="small")
        eventually(lambda: workload.bound() == 3, "three bound pods")
        eventually(lambda: condition(workload, "small") == ("True", "Scheduled", ""), "the condition")
        assert all(pod["spec"].get("nodeName") for pod in workload.pods() if "small" in pod["metadata"]["name"])
        workload.check()
        assert scheduler.terminate() == 0


def test_a_claim_made_for_a_group_is_reserved_for_the_group(
    workload: Workload, kubeconfig: Path, tmp_path: Path
) -> None:
    with SchedulerProcess(kubeconfig, tmp_path, *FLAG) as scheduler:
        entry = {"name": "device", "resourceClaimTemplateName": "one"}
        group = create_group(workload, "team", 2, resourceClaims=[entry])
        for number in range(2):
            workload.create_pod(f"team-{number}", group="team")
        eventually(lambda: workload.bound() == 2, "two bound pods")
        (claim,) = workload.claims()
        (user,) = claim["status"]["reservedFor"]
        assert (user["resource"], user["uid"]) == ("podgroups", group["metadata"]["uid"])
        assert len({pod["spec"]["nodeName"] for pod in workload.pods()}) == 1
        assert scheduler.terminate() == 0
