"""The PodScheduled condition, word for word: for each reason one pod of kube-scheduler's and one of ours."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dra_bench.controlplane.client import Client
from dra_bench.controlplane.cluster import ControlPlane, rbac_manifest
from dra_bench.controlplane.flags import Options
from support.eventually import eventually
from support.scheduler_process import SchedulerProcess

JSON = dict[str, Any]
RESOURCE = "/apis/resource.k8s.io/v1"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
SELECTORS = {
    "none": "false",
    "some": 'device.attributes["test.example.com"].model == "other"',
    "error": 'device.attributes["test.example.com"].missing == "x"',
}


def named(*names: str) -> JSON:
    fields = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]} for name in names]}]
    return {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": fields}}}}


def asking(**requests: str) -> JSON:
    resources = {"requests": requests, "limits": requests}
    return {"containers": [{"name": "main", "image": "none.invalid/none", "resources": resources}]}


def claiming(claim: str) -> JSON:
    return {"resourceClaims": [{"name": "device", "resourceClaimName": claim}]}


CASES: dict[str, JSON] = {
    "no device is chosen by the selector": claiming("some"),
    "the selector is false": claiming("none"),
    "the class does not exist": claiming("classless"),
    "the claim is allocated for another node and in use": claiming("elsewhere"),
    "the node selector matches nothing": {"nodeSelector": {"no": "where"}},
    "more cpu than any node has": asking(cpu="100"),
    "more cpu than is left": asking(cpu="3"),
    "an extended resource that nobody has": asking(**{"test.example.com/thing": "1"}),
    "a named node that does not exist": named("nowhere"),
    "a named node that is cordoned": named("cordoned"),
    "a selector that fails on every node": claiming("error"),
    "a host port in use": {
        "containers": [{"name": "main", "image": "none.invalid/none", "ports": [{"containerPort": 1, "hostPort": 99}]}],
        "nodeSelector": {"kubernetes.io/hostname": "busy"},
    },
    "apart from a pod that is there": {
        "affinity": {
            "podAntiAffinity": {REQUIRED: [{"topologyKey": "all", "labelSelector": {"matchLabels": {"app": "filler"}}}]}
        }
    },
    "near a pod that is nowhere": {
        "affinity": {
            "podAffinity": {REQUIRED: [{"topologyKey": "all", "labelSelector": {"matchLabels": {"app": "none"}}}]}
        }
    },
    "repelled by a pod that is there": {"labels": {"app": "repelled"}},
    "a pod that never preempts": asking(cpu="3") | {"priorityClassName": "polite"},
}


@pytest.fixture(scope="module")
def control_plane(control_plane_binaries: None) -> Iterator[ControlPlane]:
    """A control plane with kube-scheduler, for the tests of this file."""
    with ControlPlane(Options(manifests=(rbac_manifest(),), kube_scheduler=True)) as plane:
        yield plane


class Cases:
    """Nodes of all kinds, claims of all kinds, and pods in pairs."""

    def __init__(self, admin: Client, namespace: str) -> None:
        self.admin = admin
        self.pods = f"/api/v1/namespaces/{namespace}/pods"
        self.claims = f"{RESOURCE}/namespaces/{namespace}/resourceclaims"

    def create(self, path: str, obj: JSON) -> JSON:
        answer = self.admin.request("POST", path, obj)
        assert answer.status == 201, answer.message
        return answer.body

    def node(self, name: str, spec: JSON | None = None) -> None:
        amounts = {"cpu": "4", "memory": "8Gi", "pods": "110"}
        labels = {"kubernetes.io/hostname": name, "all": "one"}
        status = {"capacity": amounts, "allocatable": amounts, "conditions": [{"type": "Ready", "status": "True"}]}
        self.create(
            "/api/v1/nodes", {"metadata": {"name": name, "labels": labels}, "spec": spec or {}, "status": status}
        )
        pool = {"name": name, "generation": 1, "resourceSliceCount": 1}
        device = {"name": "device", "attributes": {"test.example.com/model": {"string": "a"}}}
        spec = {"driver": "test.example.com", "nodeName": name, "pool": pool, "devices": [device]}
        self.create(f"{RESOURCE}/resourceslices", {"metadata": {"name": name}, "spec": spec})

    def claim(self, name: str, of: str) -> None:
        spec = {"devices": {"requests": [{"name": "device", "exactly": {"deviceClassName": of}}]}}
        self.create(self.claims, {"metadata": {"name": name}, "spec": spec})

    def pod(self, name: str, scheduler: str, spec: JSON) -> JSON:
        labels = spec.get("labels", {})
        plain = {"containers": [{"name": "main", "image": "none.invalid/none"}], "schedulerName": scheduler}
        rest = {key: value for key, value in spec.items() if key != "labels"}
        return self.create(self.pods, {"metadata": {"name": name, "labels": labels}, "spec": plain | rest})

    def prepare(self) -> None:
        self.node("plain")
        self.node("busy")
        self.node("cordoned", {"unschedulable": True})
        self.node("tainted", {"taints": [{"key": "dedicated", "value": "db", "effect": "NoSchedule"}]})
        for name, expression in SELECTORS.items():
            spec = {"selectors": [{"cel": {"expression": expression}}]}
            self.create(f"{RESOURCE}/deviceclasses", {"metadata": {"name": name}, "spec": spec})
            self.claim(name, name)
        self.claim("classless", "no-such-class")
        polite = {"metadata": {"name": "polite"}, "value": 10, "preemptionPolicy": "Never"}
        self.create("/apis/scheduling.k8s.io/v1/priorityclasses", polite)
        repels = [{"topologyKey": "all", "labelSelector": {"matchLabels": {"app": "repelled"}}}]
        ports = [{"containerPort": 1, "hostPort": 99}]
        filler = asking(cpu="2")
        filler["containers"][0]["ports"] = ports
        filler |= {"labels": {"app": "filler"}, "affinity": {"podAntiAffinity": {REQUIRED: repels}}}
        user = self.pod("busy-filler", "nobody", filler | {"nodeName": "busy"})
        self.pod("plain-filler", "nobody", asking(cpu="2") | {"nodeName": "plain"})
        self.allocate_elsewhere(user)

    def allocate_elsewhere(self, user: JSON) -> None:
        self.claim("elsewhere", "some")
        result = {"request": "device", "driver": "test.example.com", "pool": "gone", "device": "device"}
        term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["gone"]}]}
        allocation = {"devices": {"results": [result]}, "nodeSelector": {"nodeSelectorTerms": [term]}}
        reserved = [{"resource": "pods", "name": "busy-filler", "uid": user["metadata"]["uid"]}]
        claim = self.admin.request("GET", f"{self.claims}/elsewhere").body
        claim["status"] = {"allocation": allocation, "reservedFor": reserved}
        answer = self.admin.request("PUT", f"{self.claims}/elsewhere/status", claim)
        assert answer.status == 200, answer.message

    def condition(self, name: str) -> tuple[str, str, str] | None:
        for condition in self.admin.request("GET", f"{self.pods}/{name}").body["status"].get("conditions", []):
            if condition["type"] == "PodScheduled" and condition.get("message"):
                return condition["status"], condition["reason"], condition["message"]
        return None


def test_conditions_are_kube_schedulers_to_the_letter(
    admin: Client, namespace: str, control_plane: ControlPlane, tmp_path: Path
) -> None:
    cases = Cases(admin, namespace)
    cases.prepare()
    with SchedulerProcess(control_plane.kubeconfig("dra-scheduler"), tmp_path) as scheduler:
        for number, spec in enumerate(CASES.values()):
            cases.pod(f"theirs-{number}", "default-scheduler", spec)
            cases.pod(f"ours-{number}", "dra-scheduler", spec)
        differences = {}
        for number, case in enumerate(CASES):
            theirs = eventually(lambda name=f"theirs-{number}": cases.condition(name), f"kube-scheduler: {case}")
            ours = eventually(lambda name=f"ours-{number}": cases.condition(name), f"our scheduler: {case}")
            if _same_device(ours) != _same_device(theirs):
                differences[case] = (theirs, ours)
        assert differences == {}
        assert scheduler.terminate() == 0


def _same_device(condition: tuple[str, str, str]) -> tuple[str, str, str]:
    """On which node's device a selector failed first is by chance, in both schedulers."""
    status, reason, message = condition
    return status, reason, re.sub(r"device test.example.com/[a-z]+/device", "device ANY", message)
