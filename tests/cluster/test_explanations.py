"""What `kubectl describe pod` says about pods that do not fit: the same as the golden files of the scenarios have."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from dra_bench.controlplane.client import Client
from dra_bench.controlplane.cluster import ControlPlane, rbac_manifest
from dra_bench.controlplane.flags import Options
from support.eventually import eventually
from support.explanations import NAMES, SCENARIOS
from support.scheduler_process import SchedulerProcess

JSON = dict[str, Any]
GOLDEN = SCENARIOS.parent / "golden"
PATHS = {
    "Node": "/api/v1/nodes",
    "DeviceClass": "/apis/resource.k8s.io/v1/deviceclasses",
    "ResourceSlice": "/apis/resource.k8s.io/v1/resourceslices",
    "ResourceClaim": "/apis/resource.k8s.io/v1/namespaces/{namespace}/resourceclaims",
    "Pod": "/api/v1/namespaces/{namespace}/pods",
}


def documents(name: str) -> list[JSON]:
    return list(yaml.safe_load_all((SCENARIOS / f"{name}.yaml").read_text()))


def fits_beside_others(name: str) -> bool:
    """Whether a scenario only adds claims and one pod to the shared GPUs, so that all of them can be there at once."""
    kinds = [document["kind"] for document in documents(name)]
    return set(kinds) <= {"DeviceClass", "ResourceClaim", "Pod"} and kinds.count("Pod") == 1


SCENARIOS_AT_ONCE = [
    name
    for name in NAMES
    if "# with: gpus.yaml" in (SCENARIOS / f"{name}.yaml").read_text() and fits_beside_others(name)
]


@pytest.fixture(scope="module")
def control_plane(control_plane_binaries: None) -> Iterator[ControlPlane]:
    """A control plane of this file's own: its ResourceSlices are for everybody to see."""
    with ControlPlane(Options(manifests=(rbac_manifest(),))) as plane:
        yield plane


def create(admin: Client, obj: JSON, namespace: str = "") -> None:
    obj["metadata"].pop("namespace", None)
    if obj["kind"] == "Pod":
        obj["spec"]["schedulerName"] = "dra-scheduler"
    answer = admin.request("POST", PATHS[obj["kind"]].format(namespace=namespace), obj)
    assert answer.status == 201, answer.message


def described(control_plane: ControlPlane, namespace: str) -> str | None:
    """The note of the pod's FailedScheduling event as kubectl prints it."""
    text = control_plane.kubectl("describe", "pod", "mine", "-n", namespace)
    found = re.search(r"Warning +FailedScheduling +\S+( \([^)]*\))? +dra-scheduler +(.*)", text)
    return found.group(2).strip() if found else None


def test_kubectl_describe_alone_tells_why_each_of_these_pods_does_not_fit(
    admin: Client, control_plane: ControlPlane, tmp_path: Path
) -> None:
    assert len(SCENARIOS_AT_ONCE) >= 15
    for document in documents("gpus"):
        create(admin, document)
    with SchedulerProcess(control_plane.kubeconfig("dra-scheduler"), tmp_path) as scheduler:
        for name in SCENARIOS_AT_ONCE:
            assert (
                admin.request("POST", PATHS["Node"].replace("nodes", "namespaces"), {"metadata": {"name": name}}).status
                == 201
            )
            for document in documents(name):
                create(admin, document, name)
        differences = {}
        for name in SCENARIOS_AT_ONCE:
            said = eventually(lambda name=name: described(control_plane, name), name, seconds=40)
            expected = (GOLDEN / f"{name}.txt").read_text().splitlines()[3].strip()
            if _comparable(said, name) != _comparable(expected, name):
                differences[name] = said, expected
        assert differences == {}
        assert scheduler.terminate() == 0


def _comparable(note: str, namespace: str) -> str:
    """On which of several equal nodes something was found first is by chance; so is the namespace's name."""
    return re.sub(r"node-\d", "node-N", note.replace(f"{namespace}/mine", "default/mine"))
