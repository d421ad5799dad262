"""`dra-scheduler doctor` on clusters that are well, and on those that are not."""

from __future__ import annotations

import json
import re
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import orjson
import pytest

from dra_api.transport import Request, Response
from dra_embedded.server import EmbeddedServer
from dra_scheduler.doctor.server import compared
from support.fake_clock import START, FakeClock
from support.golden import check_golden
from support.stage import claim, device_class, node, pod, resource_slice, template
from support.survey import Served, allocated, run_on, serve

Raw = dict[str, Any]
REVIEW = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
METRICS = b"""kubernetes_feature_enabled{name="DynamicResourceAllocation",stage=""} 1
kubernetes_feature_enabled{name="DRAAdminAccess",stage=""} 1
kubernetes_feature_enabled{name="DRADerivedAttributes",stage="ALPHA"} 0
"""


class Answering(Served):
    """A server that also answers questions for rights, its metrics and the time."""

    def __init__(self, served: Served, *, denied: frozenset[str] = frozenset(), version: str = "v1") -> None:
        super().__init__(served.server, served.forbidden)
        self.denied = denied
        self.version = version
        self.skew = timedelta()

    async def send(self, request: Request) -> Response:
        if request.path == REVIEW:
            self.methods.add("ask")
            asked = orjson.loads(request.body or b"{}")["spec"]["resourceAttributes"]
            name = "/".join(filter(None, (asked["resource"], asked.get("subresource"))))
            allowed = f"{asked['verb']} {name}" not in self.denied
            return Response(201, orjson.dumps({"status": {"allowed": allowed}}))
        if request.path == "/metrics":
            return Response(200, METRICS)
        if request.path == "/apis/resource.k8s.io" and self.version != "v1":
            versions = [{"version": self.version}]
            return Response(200, orjson.dumps({"versions": versions}))
        answer = await super().send(request)
        if request.path == "/version":
            when = (NOW + self.skew).strftime("%a, %d %b %Y %H:%M:%S GMT")
            return Response(answer.status, answer.body, {**answer.headers, "date": when})
        return answer


NOW: datetime = START + timedelta(hours=1)


def healthy() -> list[Raw]:
    made = pod("p", template="gpu")
    made["metadata"]["uid"] = "uid-p"
    made["status"] = {"resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": "p-gpu"}]}
    return [node("a"), device_class(), resource_slice("a", 2), template(), made]


def statuses(served: Served) -> dict[str, tuple[str, str]]:
    ran = run_on(served, "doctor", "-o", "json")
    return {check["name"]: (check["status"], check["text"]) for check in json.loads(ran.out)["checks"]}


def test_a_healthy_cluster_has_no_problem() -> None:
    served = Answering(serve(*healthy()))
    ran = run_on(served, "doctor")
    assert (ran.code, ran.err) == (0, "")
    assert served.methods == {"GET", "ask"}
    check_golden(Path(__file__), "doctor.txt", re.sub(r"all \d+ permissions", "all N permissions", ran.out))


def test_a_cluster_without_the_api_is_told_what_to_do() -> None:
    served = Served(EmbeddedServer(FakeClock(), Random(0), dra_versions=()))
    ran = run_on(served, "doctor")
    assert ran.code == 1
    assert "Dynamic Resource Allocation is off" in ran.out


def test_an_empty_cluster_lacks_a_driver_and_a_class() -> None:
    found = statuses(Answering(serve()))
    assert found["drivers"] == ("problem", "no driver publishes a device")
    assert found["classes"] == ("problem", "there is no DeviceClass")
    assert found["claim-controller"][0] == "unknown"


def test_pods_that_wait_for_their_claims_are_a_problem_of_the_controller() -> None:
    waiting = pod("p", template="gpu")
    waiting["metadata"]["creationTimestamp"] = "2026-01-01T00:00:00Z"
    found = statuses(Answering(serve(*healthy()[:4], waiting)))
    assert found["claim-controller"][0] == "problem"
    assert "such as default/p" in found["claim-controller"][1]


def test_a_pool_that_cannot_be_used_and_a_class_without_devices_are_warnings() -> None:
    found = statuses(Answering(serve(*healthy(), resource_slice("b", 1, slices=2), device_class("none", "false"))))
    assert found["drivers"][0] == "warning"
    assert "1 device: pool incomplete: 1 of 2 slices" in found["drivers"][1]
    assert found["classes"] == ("warning", "no device is of none")


def test_two_schedulers_on_one_driver_are_a_warning() -> None:
    users: list[Raw] = []
    for name, scheduler in (("one", "default-scheduler"), ("two", "dra-scheduler")):
        user = pod(name, claim=name, nodeName="a", schedulerName=scheduler)
        user["metadata"]["uid"] = f"uid-{name}"
        users += [user, allocated(claim(name), "a", f"gpu-0-{len(users) // 2}", pods=(name,))]
    found = statuses(Answering(serve(*healthy()[:3], *users)))
    assert found["rivals"] == (
        "warning",
        "several schedulers allocate from one driver: gpu.example.com: default-scheduler (1 pod), "
        "dra-scheduler (1 pod)",
    )


def test_kube_scheduler_is_alive_while_it_renews_its_lease() -> None:
    lease = {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": "kube-scheduler", "namespace": "kube-system"},
        "spec": {
            "holderIdentity": "master-1",
            "leaseDurationSeconds": 15,
            "renewTime": (NOW - timedelta(seconds=4)).isoformat(),
        },
    }
    assert "kube-scheduler is alive (master-1, 4 s ago)" in statuses(Answering(serve(*healthy(), lease)))["rivals"][1]


def test_missing_rights_are_a_problem_for_looking_and_a_warning_for_scheduling() -> None:
    denied = frozenset({"list resourceslices", "create pods/binding", "patch resourceclaims/binding"})
    ran = run_on(Answering(serve(*healthy()), denied=denied), "doctor", "-o", "json")
    assert ran.code == 1
    found = {check["name"]: check for check in json.loads(ran.out)["checks"]}
    assert found["rights-reading"]["status"] == "problem"
    assert "list resourceslices.resource.k8s.io" in found["rights-reading"]["text"]
    assert found["rights-scheduling"]["status"] == "warning"
    assert "patch resourceclaims.resource.k8s.io/binding" in found["rights-scheduling"]["text"]


def test_who_does_not_say_what_we_may_is_no_problem() -> None:
    found = statuses(serve(*healthy(), forbidden=(REVIEW,)))
    assert found["rights-reading"][0] == "unknown"
    assert found["gates"][0] == "unknown"
    assert found["clock"][0] == "unknown"


def test_writers_of_versions_that_go_away_are_named() -> None:
    published = resource_slice("b", 1)
    published["metadata"]["managedFields"] = [{"manager": "old-driver", "apiVersion": "resource.k8s.io/v1beta1"}]
    served = Answering(serve(*healthy()), version="v1beta2")
    served.server.restore(published)
    found = statuses(served)
    assert found["api-versions"][0] == "warning"
    assert "resource.k8s.io/v1beta2 (gone in Kubernetes 1.39): this scheduler" in found["api-versions"][1]


@pytest.mark.parametrize(
    ("seconds", "status"), [(0.0, "ok"), (0.9, "ok"), (10.0, "warning"), (-10.0, "warning"), (3600.0, "problem")]
)
def test_the_clocks_are_compared_with_the_time_that_the_request_took(seconds: float, status: str) -> None:
    told = (START + timedelta(seconds=seconds)).replace(microsecond=0)
    assert compared(told, START - timedelta(seconds=0.2), START + timedelta(seconds=0.2)).status == status
