"""Nodes, devices and pods for tests on a real API server, all named after one test's namespace."""

from __future__ import annotations

from collections import Counter
from typing import Any

from dra_bench.controlplane.client import Client

JSON = dict[str, Any]
RESOURCE = "/apis/resource.k8s.io/v1"
PODS_PER_NODE = "110"


class Workload:
    """`nodes` nodes with `devices` devices each, one class, one template, created at once and removed by `remove`."""

    def __init__(self, admin: Client, namespace: str, *, nodes: int, devices: int) -> None:
        self.admin = admin
        self.namespace = namespace
        self.driver = f"{namespace}.example.com"
        self.nodes = [f"{namespace}-node-{number}" for number in range(nodes)]
        self.total = nodes * devices
        for node in self.nodes:
            self._create("/api/v1/nodes", _node(node, namespace))
            self._create(f"{RESOURCE}/resourceslices", _slice(node, self.driver, devices))
        self._create(f"{RESOURCE}/deviceclasses", _class(namespace, self.driver))
        self._create(
            self._path("resourceclaimtemplates"), {"metadata": {"name": "one"}, "spec": {"spec": self._spec()}}
        )

    def remove(self) -> None:
        """Delete what is outside the namespace."""
        for node in self.nodes:
            self.admin.request("DELETE", f"{RESOURCE}/resourceslices/{node}")
            self.admin.request("DELETE", f"/api/v1/nodes/{node}")
        self.admin.request("DELETE", f"{RESOURCE}/deviceclasses/{self.namespace}")

    def create_claim(self, name: str) -> None:
        """A claim for pods to share."""
        self._create(self._path("resourceclaims"), {"metadata": {"name": name}, "spec": self._spec()})

    def create_pod(self, name: str, *, shared: str = "", scheduler: str = "dra-scheduler", group: str = "") -> None:
        """A pod with a claim of its own, or one that shares the named claim; `group` is its PodGroup."""
        source = {"resourceClaimName": shared} if shared else {"resourceClaimTemplateName": "one"}
        container = {"name": "main", "image": "none.invalid/none", "resources": {"claims": [{"name": "device"}]}}
        spec = {
            "schedulerName": scheduler,
            "nodeSelector": {"test": self.namespace},
            "containers": [container],
            "resourceClaims": [{"name": "device", **source}],
            **({"schedulingGroup": {"podGroupName": group}} if group else {}),
        }
        self._create(f"/api/v1/namespaces/{self.namespace}/pods", {"metadata": {"name": name}, "spec": spec})

    def pods(self) -> list[JSON]:
        """All pods of the namespace."""
        return self._items(f"/api/v1/namespaces/{self.namespace}/pods")

    def claims(self) -> list[JSON]:
        """All claims of the namespace."""
        return self._items(self._path("resourceclaims"))

    def bound(self) -> int:
        """How many pods have a node."""
        return sum("nodeName" in pod["spec"] for pod in self.pods())

    def delete_pods(self) -> None:
        """Delete all pods at once; there is no kubelet that would end them."""
        path = f"/api/v1/namespaces/{self.namespace}/pods"
        answer = self.admin.request("DELETE", path, {"gracePeriodSeconds": 0})
        assert answer.status == 200, answer.message

    def check(self) -> None:
        """What must hold at any time: no device twice, nothing bound that is not allocated and reserved."""
        claims = {claim["metadata"]["name"]: claim for claim in self.claims()}
        held = Counter(device for claim in claims.values() for device in devices(claim))
        assert [device for device, count in held.items() if count > 1] == []
        for pod in self.pods():
            if "nodeName" in pod["spec"]:
                self._check_bound(pod, claims)

    def _check_bound(self, pod: JSON, claims: dict[str, JSON]) -> None:
        (entry,) = pod["spec"]["resourceClaims"]
        statuses = {s["name"]: s["resourceClaimName"] for s in pod.get("status", {}).get("resourceClaimStatuses", [])}
        claim = claims[entry.get("resourceClaimName") or statuses[entry["name"]]]
        who = f"{pod['metadata']['name']} with {claim['metadata']['name']}"
        assert devices(claim), f"{who}: bound, but not allocated"
        reserved = [reference["uid"] for reference in claim["status"].get("reservedFor", [])]
        assert pod["metadata"]["uid"] in reserved, f"{who}: bound, but not reserved"
        assert all(pool == pod["spec"]["nodeName"] for _, pool, _ in devices(claim)), f"{who}: on another node"

    def _spec(self) -> JSON:
        return {"devices": {"requests": [{"name": "device", "exactly": {"deviceClassName": self.namespace}}]}}

    def _path(self, plural: str) -> str:
        return f"{RESOURCE}/namespaces/{self.namespace}/{plural}"

    def _create(self, path: str, obj: JSON) -> None:
        answer = self.admin.request("POST", path, obj)
        assert answer.status == 201, answer.message

    def _items(self, path: str) -> list[JSON]:
        answer = self.admin.request("GET", path)
        assert answer.status == 200, answer.message
        items: list[JSON] = answer.body["items"]
        return items


def devices(claim: JSON) -> list[tuple[str, str, str]]:
    """The devices that a claim holds."""
    results = (claim.get("status", {}).get("allocation") or {}).get("devices", {}).get("results", [])
    return [(result["driver"], result["pool"], result["device"]) for result in results]


def _node(name: str, test: str) -> JSON:
    allocatable = {"cpu": "64", "memory": "256Gi", "pods": PODS_PER_NODE}
    conditions = [{"type": "Ready", "status": "True"}]
    labels = {"kubernetes.io/hostname": name, "test": test}
    return {
        "metadata": {"name": name, "labels": labels},
        "status": {"capacity": allocatable, "allocatable": allocatable, "conditions": conditions},
    }


def _slice(node: str, driver: str, count: int) -> JSON:
    pool = {"name": node, "generation": 1, "resourceSliceCount": 1}
    names = [{"name": f"device-{number}"} for number in range(count)]
    return {"metadata": {"name": node}, "spec": {"driver": driver, "nodeName": node, "pool": pool, "devices": names}}


def _class(name: str, driver: str) -> JSON:
    return {
        "metadata": {"name": name},
        "spec": {"selectors": [{"cel": {"expression": f'device.driver == "{driver}"'}}]},
    }
