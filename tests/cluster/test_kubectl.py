"""kubectl, as it is built from Kubernetes, against the embedded cluster and against the real API server.

One script runs against both, and what it prints is one golden file: where the two differ, the embedded one is wrong.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from dra_bench.controlplane.cluster import ControlPlane
from support.golden import check_golden
from support.kubectl import Kubectl, serving

HERE = Path(__file__)


def compact(value: object) -> str:
    """JSON without a space, as one word of a line."""
    return json.dumps(value, separators=(",", ":"))


NAMESPACE = "kubectl-golden"
OBJECTS = """
apiVersion: v1
kind: Node
metadata: {name: golden-node, labels: {golden: "yes"}}
status: {allocatable: {cpu: "8", memory: 32Gi, pods: "110"}, capacity: {cpu: "8", memory: 32Gi, pods: "110"}}
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: golden-class, labels: {golden: "yes"}}
spec: {selectors: [{cel: {expression: 'device.driver == "golden.example.com"'}}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: golden-slice, labels: {golden: "yes"}}
spec:
  driver: golden.example.com
  nodeName: golden-node
  pool: {name: golden-pool, generation: 1, resourceSliceCount: 1}
  devices:
  - {name: gpu-0, attributes: {model: {string: a}}, capacity: {memory: {value: 40960Mi}}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: template}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: golden-class}}]}}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: claim}
spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: golden-class}}]}}
"""
POD = """
apiVersion: v1
kind: Pod
metadata: {name: one, labels: {app: one}}
spec:
  schedulerName: nobody
  containers:
  - {name: main, image: "registry.example/app:1", resources: {claims: [{name: gpu}], requests: {cpu: "2"}}}
  resourceClaims: [{name: gpu, resourceClaimName: claim}]
"""
EVENT = f"""
apiVersion: v1
kind: Event
metadata: {{name: one.event}}
involvedObject: {{kind: Pod, namespace: {NAMESPACE}, name: one, apiVersion: v1}}
type: Warning
reason: FailedScheduling
message: no devices
reportingComponent: nobody
source: {{component: nobody}}
count: 3
firstTimestamp: "2026-01-01T00:00:00Z"
lastTimestamp: "2026-01-01T00:00:00Z"
"""
RESULT = {"request": "gpu", "driver": "golden.example.com", "pool": "golden-pool", "device": "gpu-0"}
ALLOCATED = compact({"status": {"allocation": {"devices": {"results": [RESULT]}}}})
READY = compact({"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}})
DEVICE = ".status.allocation.devices.results[0].device"
SIMPLE = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, image: i}]}"


@pytest.fixture(params=["embedded", "real"])
def kubectl(request: pytest.FixtureRequest, tmp_path: Path, control_plane_binaries: None) -> Iterator[Kubectl]:
    """kubectl with a namespace of its own, on each of the two servers; none of them has a scheduler for its pods."""
    if request.param == "embedded":
        with serving(tmp_path, "serve", "--no-scheduler") as (kubeconfig, _):
            yield prepared(Kubectl(kubeconfig, NAMESPACE))
        return
    plane: ControlPlane = request.getfixturevalue("control_plane")
    found = prepared(Kubectl(plane.kubeconfig("admin"), NAMESPACE))
    try:
        yield found
    finally:
        found.run(["delete", "node,deviceclass,resourceslice", "-l", "golden=yes"])
        found.run(["delete", "namespace", NAMESPACE, "--wait=true", "--timeout=50s"])


def prepared(kubectl: Kubectl) -> Kubectl:
    body = yaml.safe_dump({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    ran = kubectl.run(["create", "-f", "-"], body)
    assert ran.returncode == 0, ran.stderr
    return kubectl


def golden(name: str, kubectl: Kubectl) -> None:
    check_golden(HERE, f"kubectl-{name}.txt", "\n".join(kubectl.transcript))


def test_objects_are_created_shown_and_deleted(kubectl: Kubectl) -> None:
    kubectl("create -f -", OBJECTS)
    kubectl("create -f -", OBJECTS)
    kubectl("create -f -", EVENT)
    kubectl("get nodes -l golden=yes")
    kubectl("get nodes -l golden=yes -o wide")
    kubectl(f"get namespace {NAMESPACE}")
    kubectl("get deviceclasses -l golden=yes")
    kubectl("get resourceslices -l golden=yes")
    kubectl("get resourceslice golden-slice -o yaml")
    kubectl("get resourceclaims,resourceclaimtemplates")
    kubectl("get resourceclaim claim -o json")
    kubectl("get events")
    kubectl("get events -o wide")
    kubectl("get resourceclaims --show-labels -A --field-selector metadata.name=claim")
    kubectl("patch resourceclaim claim --subresource=status --type=merge -p " + ALLOCATED)
    kubectl("get resourceclaim claim")
    kubectl(
        "get resourceclaims -o custom-columns=NAME:.metadata.name,DEVICE:.status.allocation.devices.results[0].device"
    )
    kubectl("get resourceclaims -o jsonpath={.items[*].status.allocation.devices.results[*].device}")
    kubectl("describe resourceclaim claim")
    kubectl("describe node golden-node")
    kubectl("delete resourceclaim claim")
    kubectl("delete resourceclaimtemplate,resourceclaim --all")
    kubectl("get resourceclaims")
    kubectl("delete node,deviceclass,resourceslice -l golden=yes")
    golden("objects", kubectl)


def test_pods_are_applied_changed_and_waited_for(kubectl: Kubectl, tmp_path: Path) -> None:
    kubectl("apply -f -", OBJECTS)
    kubectl("apply -f -", POD)
    kubectl("apply -f -", POD)
    kubectl("apply -f -", POD.replace("app: one", "app: two"))
    kubectl("get pods")
    kubectl("get pods -o wide")
    kubectl("get pod one -o name")
    kubectl("get pod one -o yaml")
    kubectl("label pod one color=blue")
    kubectl("label pod one color=red")
    kubectl("label pod one color=red --overwrite")
    kubectl("annotate pod one note=this")
    kubectl("get pods --show-labels")
    kubectl("get pods -l color=blue")
    kubectl('patch pod one -p {"metadata":{"labels":{"color":null}}}')
    kubectl("patch pod one --subresource=status -p " + READY)
    kubectl("wait pod/one --for=condition=Ready --timeout=10s")
    kubectl("wait pod/one --for=jsonpath={.status.phase}=Running --timeout=10s")
    with kubectl.watching("get pods -w", tmp_path, 3):
        kubectl.run(["label", "pod", "one", "seen=yes"])
    kubectl("describe pod one")
    kubectl("apply -f -", POD.replace("one", "bad").replace("containers", "containerz"))
    kubectl("apply --validate=warn -f - --dry-run=server", POD + "  hostNam: x\n")
    kubectl("apply --validate=ignore -f - --dry-run=server", POD + "  hostNam: x\n")
    kubectl("apply -f -", POD.replace("registry.example/app:1", ""))
    kubectl("get pod nobody")
    kubectl("get widgets")
    kubectl("delete pod one --grace-period=0 --force")
    kubectl("wait pod/one --for=delete --timeout=10s")
    golden("pods", kubectl)


def test_the_demo_does_what_it_says(control_plane_binaries: None, tmp_path: Path) -> None:
    with serving(tmp_path, "demo", "--keep", "--seed", "0") as (kubeconfig, log):
        kubectl = Kubectl(kubeconfig, "default")
        fits, too_big = (line.split(";")[0].split()[-1] for line in log.read_text().splitlines() if "apply" in line)
        assert kubectl.run(["wait", "pod/pod-with-cats", "--for=condition=Ready", "--timeout=20s"]).returncode == 0
        assert kubectl.run(["apply", "-f", fits]).returncode == 0
        assert kubectl.run(["wait", "pod/fits", "--for=condition=Ready", "--timeout=20s"]).returncode == 0
        assert kubectl.run(["apply", "-f", too_big]).returncode == 0
        waiting = ["wait", "pod/too-big", "--for=condition=PodScheduled=false", "--timeout=20s"]
        assert kubectl.run(waiting).returncode == 0
        described = kubectl.run(["describe", "pod", "too-big"]).stdout
        assert "9 devices are wanted on one node, and no node has more than 8" in described
        assert kubectl.run(["delete", "pod", "pod-with-cats"]).returncode == 0
        assert "pod-with-cats" not in kubectl.run(["get", "resourceclaims"]).stdout
        folder = Path(fits).parent
        assert folder.exists()
    assert not folder.exists()


def test_what_the_embedded_cluster_has_not_is_refused_with_a_reason(
    control_plane_binaries: None, tmp_path: Path
) -> None:
    with serving(tmp_path, "serve") as (kubeconfig, _):
        kubectl = Kubectl(kubeconfig, "default")
        kubectl("create -f -", SIMPLE)
        kubectl("logs p")
        kubectl("exec p -- ls")
        kubectl("port-forward p 8080")
        kubectl("create namespace team")
        kubectl("apply --server-side -f -", POD)
        kubectl("explain resourceclaims.spec.devices.constraints")
        kubectl("explain pods")
        golden("refused", kubectl)
