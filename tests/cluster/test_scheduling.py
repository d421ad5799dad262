"""The scheduler as users run it, on a real control plane, beside a kube-scheduler."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from dra_bench.controlplane.binaries import repository_root
from dra_bench.controlplane.client import Client
from dra_bench.controlplane.cluster import ControlPlane, rbac_manifest
from dra_bench.controlplane.flags import Options
from support.cutting_proxy import CuttingProxy
from support.eventually import eventually
from support.scheduler_process import SchedulerProcess
from support.workload import RESOURCE, Workload, devices

EXAMPLES = repository_root() / "manifests" / "examples"
PODS = 200
SHARING = 5
SECONDS = 120.0


@pytest.fixture(scope="module")
def control_plane(control_plane_binaries: None) -> Iterator[ControlPlane]:
    """A control plane with kube-scheduler, for the tests of this file."""
    with ControlPlane(Options(manifests=(rbac_manifest(),), kube_scheduler=True)) as plane:
        yield plane


@pytest.fixture
def workload(admin: Client, namespace: str) -> Iterator[Workload]:
    """20 nodes with 10 devices each."""
    made = Workload(admin, namespace, nodes=20, devices=10)
    yield made
    made.remove()


@pytest.fixture
def kubeconfig(control_plane: ControlPlane) -> Path:
    """Our own rights, never an admin's."""
    return control_plane.kubeconfig("dra-scheduler")


def fill(workload: Workload) -> None:
    """As many pods as there are devices: one claim is shared by several pods, each other pod has its own."""
    workload.create_claim("shared")
    for number in range(SHARING):
        workload.create_pod(f"sharing-{number}", shared="shared")
    for number in range(workload.total - 1):
        workload.create_pod(f"pod-{number}")


def all_bound(workload: Workload, count: int) -> None:
    eventually(lambda: workload.bound() == count, f"{count} bound pods", seconds=SECONDS, pause=0.5)
    workload.check()


def all_free_again(workload: Workload) -> None:
    workload.delete_pods()

    def left() -> list[str]:
        return [claim["metadata"]["name"] for claim in workload.claims() if claim["metadata"]["name"] != "shared"]

    eventually(lambda: not left(), "the generated claims to go", seconds=SECONDS, pause=0.5)

    def free() -> bool:
        (claim,) = workload.claims()
        return not claim.get("status", {}).get("allocation") and not claim["metadata"].get("finalizers")

    eventually(free, "the shared claim to be free", seconds=SECONDS)


def test_the_example_runs_as_it_is(admin: Client, kubeconfig: Path, tmp_path: Path) -> None:
    plurals = {
        "Node": "/api/v1/nodes",
        "Pod": "/api/v1/namespaces/default/pods",
        "ResourceSlice": f"{RESOURCE}/resourceslices",
        "DeviceClass": f"{RESOURCE}/deviceclasses",
        "ResourceClaimTemplate": f"{RESOURCE}/namespaces/default/resourceclaimtemplates",
    }
    objects = [
        o for name in ("cats-cluster", "cats") for o in yaml.safe_load_all((EXAMPLES / f"{name}.yaml").read_text())
    ]
    with SchedulerProcess(kubeconfig, tmp_path) as scheduler:
        for obj in objects:
            created = admin.request("POST", plurals[obj["kind"]], obj)
            assert created.status == 201, created.message
        path = f"{plurals['Pod']}/pod-with-cats"
        eventually(lambda: admin.request("GET", path).body["spec"].get("nodeName"), "the example pod to be bound")
        claims = admin.request("GET", f"{RESOURCE}/namespaces/default/resourceclaims").body["items"]
        cats = [device for claim in claims for device in devices(claim)]
        assert len(cats) == len(set(cats)) == 2
        assert scheduler.terminate() == 0
    for obj in objects:
        admin.request("DELETE", f"{plurals[obj['kind']]}/{obj['metadata']['name']}", {"gracePeriodSeconds": 0})


def test_as_many_pods_as_devices_all_get_one_and_give_it_back(
    workload: Workload, kubeconfig: Path, tmp_path: Path
) -> None:
    with SchedulerProcess(kubeconfig, tmp_path) as scheduler:
        fill(workload)
        all_bound(workload, workload.total - 1 + SHARING)
        workload.create_pod("joins", shared="shared", scheduler="default-scheduler")
        all_bound(workload, workload.total + SHARING)
        all_free_again(workload)
        assert scheduler.terminate() == 0


def test_a_scheduler_that_is_killed_is_continued_by_the_next_one(
    workload: Workload, kubeconfig: Path, tmp_path: Path
) -> None:
    fill(workload)
    with SchedulerProcess(kubeconfig, tmp_path) as first:
        eventually(lambda: workload.bound() >= 40, "some bound pods", seconds=SECONDS, pause=0.02)
        first.kill()
        assert workload.bound() < workload.total
        workload.check()
    with SchedulerProcess(kubeconfig, tmp_path):
        all_bound(workload, workload.total - 1 + SHARING)
        all_free_again(workload)


def test_a_binding_whose_answer_is_lost_is_looked_up_not_guessed(
    workload: Workload, control_plane: ControlPlane, tmp_path: Path
) -> None:
    lose = 10
    seen: list[str] = []

    def cut(method: str, path: str) -> bool:
        if method == "POST" and path.endswith("/binding"):
            seen.append(path)
        return method == "POST" and path.endswith("/binding") and len(seen) <= lose

    fill(workload)
    with (
        CuttingProxy(control_plane.connection("dra-scheduler"), cut) as proxy,
        SchedulerProcess(proxy.kubeconfig(tmp_path), tmp_path),
    ):
        all_bound(workload, workload.total - 1 + SHARING)
        assert proxy.lost == lose
        assert len(seen) == len(set(seen)), "a binding that had been done was sent again"
        all_free_again(workload)


def test_watches_that_are_cut_every_second_lose_nothing(
    workload: Workload, control_plane: ControlPlane, tmp_path: Path
) -> None:
    pods = 40
    with (
        CuttingProxy(control_plane.connection("dra-scheduler"), watch_seconds=1.0) as proxy,
        SchedulerProcess(proxy.kubeconfig(tmp_path), tmp_path) as scheduler,
    ):
        for number in range(pods):
            workload.create_pod(f"pod-{number}")
        all_bound(workload, pods)
        eventually(lambda: proxy.lost >= 10, "ten cut watches")
        workload.create_pod("late")
        all_bound(workload, pods + 1)
        assert scheduler.get("/livez") == scheduler.get("/readyz") == 200
