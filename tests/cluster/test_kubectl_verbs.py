"""Every verb of a kubectl of any version against the embedded cluster: it works, or it is refused with a reason.

DRA_KUBECTL names the program; without it, it is the one that is built with the control plane. What it prints differs
between versions, so only what matters is looked for; `test_kubectl.py` compares the rest for one version.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.kubectl import Kubectl, serving

CLUSTER = """
apiVersion: v1
kind: Node
metadata: {name: node-1}
status: {allocatable: {cpu: "8", memory: 32Gi, pods: "110"}, conditions: [{type: Ready, status: "True"}]}
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpus}
spec: {selectors: [{cel: {expression: 'device.driver == "gpu.example.com"'}}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: slice-1}
spec:
  driver: gpu.example.com
  nodeName: node-1
  pool: {name: node-1, generation: 1, resourceSliceCount: 1}
  devices: [{name: gpu-0}, {name: gpu-1}]
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: one-gpu}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpus}}]}}}
"""
POD = """
apiVersion: v1
kind: Pod
metadata: {name: one, labels: {app: one}}
spec:
  schedulerName: dra-scheduler
  containers: [{name: main, image: "registry.example/app:1", resources: {claims: [{name: gpu}]}}]
  resourceClaims: [{name: gpu, resourceClaimTemplateName: one-gpu}]
"""
DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}, annotations: {}}
    spec: {containers: [{name: main, image: "registry.example/app:1"}]}
"""
NO_CONTAINERS = "nothing runs in the pods of an embedded cluster"
Step = tuple[str, int, str]
"""A command line, its exit code, and a pattern that is in what it prints."""

READING: list[Step] = [
    ("version", 0, r"Server Version: v1\.37\.2"),
    ("cluster-info", 0, "is running at"),
    ("api-resources", 0, r"resourceclaims .* resource.k8s.io/v1 .* ResourceClaim"),
    ("api-versions", 0, "resource.k8s.io/v1beta1"),
    ("explain pod.spec.resourceClaims", 0, "resourceClaimTemplateName"),
    ("explain resourceclaims --recursive", 0, "deviceClassName"),
    ("get pods", 0, r"one +1/1 +Running"),
    ("get pods -o wide", 0, r"one +1/1 .* node-1"),
    ("get pod one -o yaml", 0, "resourceClaimTemplateName: one-gpu"),
    ("get pod one -o json", 0, '"kind": "Pod"'),
    ("get pod one -o jsonpath={.spec.nodeName}", 0, "^node-1$"),
    ("get pods -o custom-columns=N:.metadata.name,W:.spec.nodeName", 0, "one +node-1"),
    ("get pods -o name", 0, "^pod/one$"),
    ("get pods --sort-by=.metadata.name --show-labels", 0, "app=one"),
    ("get pods --field-selector=spec.nodeName=node-1 -l app=one -A", 0, "default +one"),
    ("get all", 0, "pod/one"),
    ("get nodes,namespaces,deviceclasses,resourceslices,resourceclaimtemplates", 0, "resourceslice.resource.k8s.io/"),
    ("get resourceclaims", 0, "allocated,reserved"),
    ("get resourceclaims.v1beta1.resource.k8s.io -o yaml", 0, "apiVersion: resource.k8s.io/v1beta1"),
    ("get events", 0, "Scheduled"),
    ("events", 0, "Scheduled"),
    ("events --for=pod/one", 0, "Scheduled"),
    ("describe pod one", 0, "Successfully assigned default/one to node-1"),
    ("describe node node-1", 0, "Non-terminated Pods: +.1 in total"),
    ("describe resourceclaims,resourceslices,deviceclasses,resourceclaimtemplates", 0, "gpu-0"),
    ("describe namespace default", 0, "Active"),
    ("get pod nobody", 1, 'pods "nobody" not found'),
    ("get widgets", 1, 'have a resource type "widgets"'),
    ("get pods --field-selector=spec.none=x", 1, "field label not supported: spec.none"),
    ("auth can-i create pods", 0, "yes"),
    ("auth can-i --list", 0, r"\*\.\*"),
    ("auth whoami", 0, "embedded-admin"),
    ("wait pod/one --for=condition=Ready --timeout=10s", 0, "condition met"),
    ("wait pod/one --for=jsonpath={.status.phase}=Running --timeout=10s", 0, "condition met"),
    ("wait pod/one --for=condition=Never --timeout=1s", 1, "timed out waiting for the condition"),
    ("cluster-info dump", 0, '"kind": "PodList"'),
]
WRITING: list[Step] = [
    ("label pod one color=blue", 0, "labeled"),
    ("annotate pod one note=this", 0, "annotated"),
    ('patch pod one -p {"metadata":{"labels":{"color":"red"}}}', 0, "patched"),
    ('patch pod one --type=merge -p {"metadata":{"labels":{"color":null}}}', 0, "patched"),
    ('patch pod one --type=json -p [{"op":"add","path":"/metadata/labels/a","value":"b"}]', 0, "patched"),
    ("set image pod/one main=registry.example/app:2", 0, "image updated"),
    ("run two --image=registry.example/app:1", 0, "pod/two created"),
    ("expose pod one --port=80", 0, "service/one exposed"),
    ("taint node node-1 key=value:NoSchedule", 0, "tainted"),
    ("taint node node-1 key-", 0, "untainted"),
    ("delete pod two --dry-run=server", 0, "server dry run"),
    ("get pod two", 0, "Running"),
    ("drain node-1 --force --timeout=20s", 0, "drained"),
    ("get pods", 0, "No resources found"),
    ("uncordon node-1", 0, "uncordoned"),
    ("wait pod/two --for=delete --timeout=10s", 0, ""),
    ("delete service one", 0, "deleted"),
    ("delete pod nobody", 1, 'pods "nobody" not found'),
    ("delete pods,resourceclaims --all", 0, "No resources found"),
    ("delete namespace default", 1, "may not be deleted"),
]
REFUSED: list[Step] = [
    ("logs one", 1, NO_CONTAINERS),
    ("exec one -- ls", 1, NO_CONTAINERS),
    ("attach one", 1, NO_CONTAINERS),
    ("cp one:/file /tmp/never-written", 1, NO_CONTAINERS),
    ("port-forward pod/one :80", 1, NO_CONTAINERS),
    ("debug one --image=x", 1, NO_CONTAINERS),
    ("top pods", 1, "Metrics API not available"),
    ("top nodes", 1, "Metrics API not available"),
    ("certificate approve none", 1, "certificatesigningrequests"),
    ("create token default", 1, "could not find the requested resource"),
    ("rollout undo deployment/none", 1, "not found"),
]


@pytest.fixture
def kubectl(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Kubectl]:
    """kubectl on a cluster with a node, devices, and a pod that has one of them."""
    named = os.environ.get("DRA_KUBECTL")
    if named is None:
        request.getfixturevalue("control_plane_binaries")
    with serving(tmp_path, "serve") as (kubeconfig, _):
        found = Kubectl(kubeconfig, "default", None if named is None else Path(named))
        for body in (CLUSTER, POD):
            ran = found.run(["create", "-f", "-"], body)
            assert ran.returncode == 0, ran.stderr
        ran = found.run(["wait", "pod/one", "--for=condition=Ready", "--timeout=20s"])
        assert ran.returncode == 0, ran.stderr
        yield found


def differences(kubectl: Kubectl, steps: list[Step]) -> list[str]:
    """Run the lines one after the other; those that did something else than expected, with what they printed."""
    found = []
    for line, code, pattern in steps:
        ran = kubectl.run(line.split())
        printed = ran.stdout + ran.stderr
        if ran.returncode != code or not re.search(pattern, printed, re.MULTILINE) or "panic" in printed:
            found.append(f"kubectl {line}: {ran.returncode}, expected {code} and {pattern!r}: {printed[:2000]}")
    return found


@pytest.mark.parametrize("steps", [READING, WRITING, REFUSED], ids=["reading", "writing", "refused"])
def test_verbs_do_what_they_are_for_or_say_why_not(kubectl: Kubectl, steps: list[Step]) -> None:
    assert differences(kubectl, steps) == []


def test_manifests_are_applied_changed_compared_and_edited(kubectl: Kubectl, tmp_path: Path) -> None:
    pod = POD.replace("name: one", "name: two")

    def run(line: str, stdin: str | None = None, editor: str = "false") -> tuple[int, str]:
        ran = kubectl.run(line.split(), stdin, editor)
        return ran.returncode, ran.stdout + ran.stderr

    for changed, word in ((pod, "created"), (pod, "unchanged"), (pod.replace("app: one", "app: two"), "configured")):
        code, printed = run("apply -f -", changed)
        assert (code, word in printed) == (0, True), printed
    assert run("diff -f -", pod)[0] == 1
    assert run("diff -f -", pod.replace("app: one", "app: two")) == (0, "")
    code, printed = run("apply -f -", pod.replace("containers", "containerz"))
    assert code == 1
    assert 'unknown field "spec.containerz"' in printed
    code, printed = run("apply --server-side -f -", pod)
    assert code == 1
    assert "leave out --server-side" in printed
    script = tmp_path / "editor"
    script.write_text('#!/bin/sh\nsed -i "s/app: two/app: three/" "$1"\n')
    script.chmod(0o755)
    assert "edited" in run("edit pod two", editor=str(script))[1]
    assert run("get pod two -o jsonpath={.metadata.labels.app}") == (0, "three")
    code, printed = run("replace --force -f -", pod)
    assert (code, "replaced" in printed) == (0, True), printed
    assert run("delete -f -", pod)[0] == 0


def test_a_rollout_is_not_waited_for_in_vain(kubectl: Kubectl) -> None:
    for image in ("app:1", "app:2"):
        ran = kubectl.run(["apply", "-f", "-"], DEPLOYMENT.replace("app:1", image))
        assert ran.returncode == 0, ran.stderr
        ran = kubectl.run(["rollout", "status", "deployment/web", "--timeout=20s"])
        assert ran.returncode == 1
        assert "exceeded its progress deadline" in ran.stderr
    for verb, word in (("restart", "restarted"), ("pause", "paused"), ("resume", "resumed"), ("history", "web")):
        ran = kubectl.run(["rollout", verb, "deployment/web"])
        assert (ran.returncode, word in ran.stdout) == (0, True), ran.stderr
    assert "no controllers for workloads" in kubectl.run(["get", "deployment", "web", "-o", "yaml"]).stdout


def test_watches_tell_of_changes(kubectl: Kubectl, tmp_path: Path) -> None:
    with kubectl.watching("get pods -w", tmp_path, 4):
        kubectl.run(["label", "pod", "one", "seen=yes"])
        kubectl.run(["delete", "pod", "one", "--wait=false"])


def test_kinds_are_generated_or_what_to_do_instead_is_said(kubectl: Kubectl) -> None:
    """Versions from 1.32 on send protobuf for them, which is refused; earlier ones send JSON."""
    for line in ("namespace team", "configmap c --from-literal=a=b", "deployment d --image=i", "secret generic s"):
        ran = kubectl.run(["create", *line.split()])
        if ran.returncode:
            assert "add --dry-run=client -o yaml and pipe that into kubectl create -f -" in ran.stderr
        dry = kubectl.run(["create", *line.split(), "--dry-run=client", "-o", "yaml"])
        piped = kubectl.run(["apply", "-f", "-"], dry.stdout)
        assert piped.returncode == 0, piped.stderr
