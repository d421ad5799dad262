"""Faults that take some making, on a real API server: audit finds every one, and knows a name for each."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from dra_api.references import FINALIZER
from dra_bench.controlplane.client import Client
from dra_bench.controlplane.cluster import ControlPlane
from dra_scheduler.system_clock import SystemClock
from support.cli import run
from support.eventually import eventually
from support.workload import RESOURCE, Workload

JSON = dict[str, Any]
MERGE = "application/merge-patch+json"
TERM = "metadata.name"


@pytest.fixture
def work(admin: Client, namespace: str) -> Iterator[Workload]:
    workload = Workload(admin, namespace, nodes=2, devices=2)
    yield workload
    for claim in workload.claims():
        path = f"{RESOURCE}/namespaces/{namespace}/resourceclaims/{claim['metadata']['name']}"
        cleared = {"status": {"allocation": None, "reservedFor": None}}
        admin.request("PATCH", f"{path}/status", cleared, content_type=MERGE)
        admin.request("PATCH", path, {"metadata": {"finalizers": None}}, content_type=MERGE)
        admin.request("DELETE", path)
    workload.delete_pods()
    workload.remove()
    for suffix in ("counters", "parts", "incomplete", "invalid"):
        admin.request("DELETE", f"{RESOURCE}/resourceslices/{namespace}-{suffix}")


class Maker:
    """Makes devices and claims with whatever status a test wants."""

    def __init__(self, work: Workload) -> None:
        self.work = work
        self.node = work.nodes[0]

    def publish(self, suffix: str, *devices: JSON, slices: int = 1, pool: str = "", **spec: Any) -> None:
        body = {
            "driver": self.work.driver,
            "nodeName": self.node,
            "pool": {"name": pool or suffix, "generation": 1, "resourceSliceCount": slices},
            **({"devices": list(devices)} if devices else {}),
            **spec,
        }
        self._post(
            f"{RESOURCE}/resourceslices", {"metadata": {"name": f"{self.work.namespace}-{suffix}"}, "spec": body}
        )

    def allocated(self, name: str, pool: str, device: str, *, on: str = "", **result: Any) -> None:
        """A claim that is allocated as a scheduler does it: finalizer, timestamp."""
        self.work.create_claim(name)
        self.patch(name, {"metadata": {"finalizers": [FINALIZER]}})
        entry = {"request": "device", "driver": self.work.driver, "pool": pool, "device": device, **result}
        term = {"matchFields": [{"key": TERM, "operator": "In", "values": [on or self.node]}]}
        allocation = {
            "devices": {"results": [entry]},
            "nodeSelector": {"nodeSelectorTerms": [term]},
            "allocationTimestamp": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        }
        self.patch(name, {"status": {"allocation": allocation}}, "/status")

    def bound(self, pod: str, claim: str, node: str) -> None:
        """A pod that somebody bound by hand."""
        self.work.create_pod(pod, shared=claim)
        binding = {"metadata": {"name": pod}, "target": {"apiVersion": "v1", "kind": "Node", "name": node}}
        self._post(f"/api/v1/namespaces/{self.work.namespace}/pods/{pod}/binding", binding)

    def patch(self, name: str, body: JSON, subresource: str = "") -> None:
        path = f"{RESOURCE}/namespaces/{self.work.namespace}/resourceclaims/{name}{subresource}"
        answer = self.work.admin.request("PATCH", path, body, content_type=MERGE)
        assert answer.status == 200, answer.message

    def delete(self, name: str) -> None:
        self.work.admin.request("DELETE", f"{RESOURCE}/namespaces/{self.work.namespace}/resourceclaims/{name}")

    def _post(self, path: str, body: JSON) -> None:
        answer = self.work.admin.request("POST", path, body)
        assert answer.status == 201, answer.message


def test_every_fault_is_found(control_plane: ControlPlane, work: Workload, monkeypatch: pytest.MonkeyPatch) -> None:
    make = Maker(work)
    takes = [{"counterSet": "set", "counters": {"slots": {"value": "3"}}}]
    big = {"name": "big", "allowMultipleAllocations": True, "capacity": {"memory": {"value": "40Gi"}}}
    hot = {"name": "hot", "taints": [{"key": "heat", "effect": "NoExecute"}]}
    parts = [{"name": f"part-{number}", "consumesCounters": takes} for number in range(2)]
    counters = [{"name": "set", "counters": {"slots": {"value": "4"}}}]
    make.publish("counters", slices=2, pool="parts", sharedCounters=counters)
    make.publish("parts", *parts, big, hot, slices=2)
    make.publish("incomplete", {"name": "x"}, slices=2)
    make.publish("invalid", parts[0])
    for number in range(2):
        make.allocated(f"part-{number}", "parts", f"part-{number}")
        share = {"shareID": str(uuid.uuid4()), "consumedCapacity": {"memory": "30Gi"}}
        make.allocated(f"share-{number}", "parts", "big", **share)
    make.allocated("hot", "parts", "hot")
    work.create_claim("leaked")
    make.patch("leaked", {"metadata": {"finalizers": [FINALIZER]}})
    make.allocated("elsewhere", make.node, "device-0")
    make.bound("elsewhere", "elsewhere", work.nodes[1])
    work.create_claim("doomed")
    make.bound("doomed", "doomed", make.node)
    make.delete("doomed")
    eventually(lambda: "doomed" not in {c["metadata"]["name"] for c in work.claims()}, "the claim to be gone")
    later = datetime.now(UTC) + timedelta(minutes=3)
    monkeypatch.setattr(SystemClock, "now", lambda _: later)
    ran = run("audit", "--kubeconfig", str(control_plane.kubeconfig("admin")), "--settle", "0", "-o", "json")
    found = {finding["name"] for finding in json.loads(ran.out)["findings"]}
    assert ran.code == 1
    assert found >= {
        "bound-elsewhere",
        "bound-without-claim",
        "counters-exceeded",
        "device-tainted-noexecute",
        "finalizer-leaked",
        "pool-incomplete",
        "pool-invalid",
        "shares-exceed-capacity",
    }, ran.out
