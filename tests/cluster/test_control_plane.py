"""The control plane itself: that it is a real one, and that it can be disturbed and recovers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from dra_bench.controlplane import guard
from dra_bench.controlplane.client import Client
from dra_bench.controlplane.cluster import ControlPlane
from dra_bench.controlplane.errors import ComponentFailedError, ConfigurationError, RequestFailedError
from dra_bench.controlplane.flags import (
    APISERVER,
    CONTROLLER_MANAGER,
    ETCD,
    SCHEDULER,
    THROUGHPUT,
    Options,
)
from dra_bench.controlplane.kubeconfig import User
from support.eventually import eventually

SOURCE_ROOT = Path(guard.__file__).parents[2]
TEMPLATE = {
    "metadata": {"name": "one-cat"},
    "spec": {"spec": {"devices": {"requests": [{"name": "cat", "exactly": {"deviceClassName": "cats"}}]}}},
}
POD = {
    "metadata": {"name": "feeder"},
    "spec": {
        "schedulerName": "nobody-at-all",
        "containers": [{"name": "main", "image": "none", "resources": {"claims": [{"name": "cat"}]}}],
        "resourceClaims": [{"name": "cat", "resourceClaimTemplateName": "one-cat"}],
    },
}


def claims_of(admin: Client, namespace: str) -> list[dict[str, object]]:
    path = f"/apis/resource.k8s.io/v1/namespaces/{namespace}/resourceclaims"
    items: list[dict[str, object]] = admin.request("GET", path).body["items"]
    return items


def make_pod_with_claim(admin: Client, namespace: str) -> None:
    templates = f"/apis/resource.k8s.io/v1/namespaces/{namespace}/resourceclaimtemplates"
    assert admin.request("POST", templates, TEMPLATE).status == 201
    assert admin.request("POST", f"/api/v1/namespaces/{namespace}/pods", POD).status == 201


def test_it_is_the_pinned_version_and_serves_the_resource_api(admin: Client) -> None:
    assert admin.request("GET", "/version").body["gitVersion"] == "v1.37.2"
    resources = admin.request("GET", "/apis/resource.k8s.io/v1").body["resources"]
    names = {resource["name"] for resource in resources}
    assert {"deviceclasses", "resourceclaims", "resourceclaims/status", "resourceclaimtemplates"} <= names
    assert {"resourceslices", "devicetaintrules"} <= names
    assert admin.request("GET", "/apis/resource.k8s.io/v1beta1").status == 404


def test_it_asks_who_comes_and_whether_they_may(control_plane: ControlPlane) -> None:
    nobody = control_plane.client("nobody").request("GET", "/api/v1/nodes")
    assert nobody.status == 403
    assert 'User "nobody" cannot list resource "nodes"' in nobody.message
    anonymous = control_plane.client("nobody").raw("GET", "/api/v1/nodes", None, {})
    assert anonymous[0] == 401
    assert control_plane.client("admin").request("GET", "/api/v1/nodes").status == 200


def test_the_controller_makes_a_claim_from_the_template_of_a_pod(admin: Client, namespace: str) -> None:
    make_pod_with_claim(admin, namespace)
    claims = eventually(lambda: claims_of(admin, namespace), "a claim made from the template")
    assert len(claims) == 1
    pod = eventually(
        lambda: (
            admin.request("GET", f"/api/v1/namespaces/{namespace}/pods/feeder")
            .body["status"]
            .get("resourceClaimStatuses")
        ),
        "the claim's name in the pod's status",
    )
    assert pod[0]["resourceClaimName"] == claims[0]["metadata"]["name"]  # type: ignore[index]


def test_a_deleted_namespace_goes_away_with_what_is_in_it(admin: Client, namespace: str) -> None:
    make_pod_with_claim(admin, namespace)
    admin.request("DELETE", f"/api/v1/namespaces/{namespace}")
    eventually(
        lambda: admin.request("GET", f"/api/v1/namespaces/{namespace}").status == 404, "the end of the namespace"
    )


def test_kubectl_works_as_each_user_and_its_error_is_reported(control_plane: ControlPlane, namespace: str) -> None:
    assert "dra-scheduler" in control_plane.kubectl("get", "clusterroles", "-o", "name")
    assert control_plane.kubectl("get", "pods", "-n", namespace, user="dra-scheduler") == ""
    with pytest.raises(RequestFailedError, match=r"kubectl get secrets(?s:.*)Forbidden"):
        control_plane.kubectl("get", "secrets", user="dra-scheduler")


def test_unknown_users_and_components_are_named(control_plane: ControlPlane) -> None:
    with pytest.raises(ConfigurationError, match="no user 'root'"):
        control_plane.client("root")
    with pytest.raises(ConfigurationError, match="no component 'kubelet'"):
        control_plane.stop_component("kubelet")
    with pytest.raises(ConfigurationError, match="started already"):
        control_plane.start()


def test_another_one_beside_it_with_other_versions_gates_users_and_kube_scheduler() -> None:
    options = Options(
        profile=THROUGHPUT,
        feature_gates={"DRADeviceBindingConditions": False},
        runtime_config={"resource.k8s.io/v1beta1": True},
        kube_scheduler=True,
        extra_users=(User("guest", "guest", ("system:masters",)),),
    )
    with ControlPlane(options) as plane:
        guest = plane.client("guest")
        assert guest.request("GET", "/apis/resource.k8s.io/v1beta1").status == 200
        assert 'kubernetes_feature_enabled{name="DRADeviceBindingConditions"' in guest.text("/metrics")[1]
        node = {"metadata": {"name": "n1"}, "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "10"}}}
        assert guest.request("POST", "/api/v1/nodes", node).status == 201
        account = {"metadata": {"name": "plain"}, "spec": {"containers": [{"name": "main", "image": "none"}]}}
        assert guest.request("POST", "/api/v1/namespaces/default/pods", account).status == 201
        path = "/api/v1/namespaces/default/pods/plain"
        eventually(
            lambda: guest.request("GET", path).body["spec"].get("nodeName") == "n1", "kube-scheduler binding the pod"
        )
        folder = plane.layout.folder
        pids = [component.pid for component in plane.components.values()]
        assert list(plane.components) == [ETCD, APISERVER, CONTROLLER_MANAGER, SCHEDULER]
    assert not folder.exists()
    assert not [pid for pid in pids if Path(f"/proc/{pid}").exists()]


def test_components_stop_start_and_pause_one_by_one_and_data_stays() -> None:
    with ControlPlane() as plane:
        admin = plane.client("admin")
        assert admin.request("POST", "/api/v1/namespaces", {"metadata": {"name": "kept"}}).status == 201
        plane.stop_component(APISERVER, grace=1)
        with pytest.raises(RequestFailedError, match="Connection refused"):
            admin.request("GET", "/api/v1/namespaces/kept")
        plane.start_component(APISERVER)
        assert admin.request("GET", "/api/v1/namespaces/kept").status == 200

        plane.pause_component(APISERVER)
        with pytest.raises(RequestFailedError, match="timed out"):
            Client(plane.connection("admin"), timeout=0.3).request("GET", "/version")
        plane.resume_component(APISERVER)
        assert admin.request("GET", "/version").status == 200

        plane.kill_component(ETCD)
        plane.start_component(ETCD)
        eventually(lambda: admin.request("GET", "/api/v1/namespaces/kept").status == 200, "etcd being back")

        plane.stop_component(CONTROLLER_MANAGER)
        make_pod_with_claim(admin, "kept")
        assert claims_of(admin, "kept") == []
        plane.start_component(CONTROLLER_MANAGER)
        eventually(lambda: claims_of(admin, "kept"), "the controller going on where it stopped")


def test_a_flag_that_is_refused_is_reported_with_the_log_and_nothing_stays() -> None:
    plane = ControlPlane(Options(extra_flags={APISERVER: ("--no-such-flag",)}))
    with pytest.raises(ComponentFailedError, match=r"kube-apiserver ended with exit code 1(?s:.*)no-such-flag"):
        plane.start()
    assert plane.components == {}
    assert not plane.layout.folder.exists()


def test_it_ends_when_the_process_that_started_it_is_killed() -> None:
    code = f"""if True:
        import sys, time
        sys.path.insert(0, {str(SOURCE_ROOT)!r})
        from dra_bench.controlplane.cluster import ControlPlane
        plane = ControlPlane()
        plane.start()
        print(*(component.pid for component in plane.components.values()), flush=True)
        time.sleep(600)
    """
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as owner:
        assert owner.stdout is not None
        pids = [int(word) for word in owner.stdout.readline().split()]
        assert len(pids) == 3
        assert all(Path(f"/proc/{pid}").exists() for pid in pids)
        owner.send_signal(signal.SIGKILL)
    eventually(lambda: not any(_runs(pid) for pid in pids), "the end of every component", seconds=10)


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
