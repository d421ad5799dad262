"""The scheduler while the API server is away, comes back, hangs, or does not let it in."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from dra_bench.controlplane.client import Client
from dra_bench.controlplane.cluster import ControlPlane, rbac_manifest
from dra_bench.controlplane.flags import Options
from support.eventually import eventually
from support.scheduler_process import SchedulerProcess
from support.workload import Workload

API_SERVER = "kube-apiserver"
UNREACHABLE = "API server not reachable"
SECONDS = 60.0
HANG = 3.0


@pytest.fixture(scope="module")
def control_plane(control_plane_binaries: None) -> Iterator[ControlPlane]:
    """A control plane of this file's own, because it is disturbed."""
    with ControlPlane(Options(manifests=(rbac_manifest(),))) as plane:
        yield plane


@pytest.fixture
def workload(admin: Client, namespace: str) -> Iterator[Workload]:
    made = Workload(admin, namespace, nodes=2, devices=4)
    yield made
    made.remove()


def bound(workload: Workload, count: int) -> None:
    eventually(lambda: workload.bound() == count, f"{count} bound pods", seconds=SECONDS)
    workload.check()


@contextmanager
def started(kubeconfig: Path, folder: Path) -> Iterator[SchedulerProcess]:
    """A scheduler that cannot become ready, at first or ever."""
    process = SchedulerProcess(kubeconfig, folder)
    process.start(ready=False)
    try:
        yield process
    finally:
        if not process.ended():
            process.kill()


def logged(process: SchedulerProcess) -> str:
    return process.log.read_text()


def test_an_api_server_that_is_not_there_yet_is_waited_for(
    control_plane: ControlPlane, workload: Workload, tmp_path: Path
) -> None:
    workload.create_pod("first")
    control_plane.stop_component(API_SERVER)
    with started(control_plane.kubeconfig("dra-scheduler"), tmp_path) as scheduler:
        eventually(lambda: UNREACHABLE in logged(scheduler), "the scheduler to say so")
        control_plane.start_component(API_SERVER)
        bound(workload, 1)
        assert logged(scheduler).count(UNREACHABLE) == 1
        assert "RBAC rule missing" not in logged(scheduler)
        assert scheduler.terminate() == 0


def test_after_an_outage_it_goes_on_where_it_was(
    control_plane: ControlPlane, workload: Workload, tmp_path: Path
) -> None:
    with SchedulerProcess(control_plane.kubeconfig("dra-scheduler"), tmp_path) as scheduler:
        workload.create_pod("before")
        bound(workload, 1)
        control_plane.stop_component(API_SERVER)
        eventually(lambda: UNREACHABLE in logged(scheduler), "the scheduler to say so")
        control_plane.start_component(API_SERVER)
        workload.create_pod("after")
        bound(workload, 2)
        eventually(lambda: "trouble ended trouble='unreachable'" in logged(scheduler), "the scheduler to say that too")
        assert logged(scheduler).count(UNREACHABLE) == 1
        assert "RBAC rule missing" not in logged(scheduler)
        assert "Traceback" not in logged(scheduler)
        assert scheduler.terminate() == 0


def test_an_api_server_that_hangs_for_a_while_delays_and_breaks_nothing(
    control_plane: ControlPlane, workload: Workload, tmp_path: Path
) -> None:
    with SchedulerProcess(control_plane.kubeconfig("dra-scheduler"), tmp_path) as scheduler:
        workload.create_pod("first")
        bound(workload, 1)
        for number in range(4):
            workload.create_pod(f"pod-{number}")
        control_plane.pause_component(API_SERVER)
        time.sleep(HANG)
        control_plane.resume_component(API_SERVER)
        bound(workload, 5)
        assert scheduler.terminate() == 0


def test_without_rights_each_missing_rule_is_named_and_it_keeps_trying(
    control_plane: ControlPlane, tmp_path: Path
) -> None:
    with started(control_plane.kubeconfig("nobody"), tmp_path) as scheduler:
        for resource in ("nodes", "pods", "resourceclaims", "resourceslices", "deviceclasses", "devicetaintrules"):
            text = f"resources=['{resource}'] verbs=['get', 'list', 'watch']"
            eventually(lambda text=text: text in logged(scheduler), f"the log to name {resource}")
        assert scheduler.terminate() == 0
