"""Objects restored from files keep who they were; bad ones are refused as a POST refuses them."""

from __future__ import annotations

import random
from typing import Any

import orjson
import pytest

from dra_api.transport import Request
from dra_embedded.server import EmbeddedServer
from dra_embedded.status import StatusError
from support.fake_clock import FakeClock

UID = "11111111-2222-3333-4444-555555555555"
POD: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {
        "name": "p",
        "namespace": "default",
        "uid": UID,
        "creationTimestamp": "2025-01-01T00:00:00Z",
        "resourceVersion": "77",
        "managedFields": [{"manager": "kubectl"}],
    },
    "spec": {"containers": [{"name": "main", "image": "none"}]},
    "status": {"phase": "Running"},
}


@pytest.fixture
def server() -> EmbeddedServer:
    return EmbeddedServer(FakeClock(), random.Random(1))


def get(server: EmbeddedServer, path: str) -> dict[str, Any]:
    response = server.handle(Request("GET", path))
    assert response.status == 200
    return dict(orjson.loads(response.body))


def test_uid_age_and_status_are_kept_and_the_rest_is_as_after_a_post(server: EmbeddedServer) -> None:
    server.restore(POD)
    pod = get(server, "/api/v1/namespaces/default/pods/p")
    assert pod["metadata"]["uid"] == UID
    assert pod["metadata"]["creationTimestamp"] == "2025-01-01T00:00:00Z"
    assert pod["metadata"]["resourceVersion"] != "77"
    assert "managedFields" not in pod["metadata"]
    assert pod["status"]["phase"] == "Running"
    assert pod["spec"]["schedulerName"] == "default-scheduler"


def test_the_given_object_is_not_changed(server: EmbeddedServer) -> None:
    before = orjson.dumps(POD)
    server.restore(POD)
    assert orjson.dumps(POD) == before


def test_a_status_that_the_api_would_refuse_is_refused(server: EmbeddedServer) -> None:
    claim = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": "k", "namespace": "default"},
        "spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "c"}}]}},
        "status": {"reservedFor": [{"resource": "pods", "name": "p", "uid": UID}]},
    }
    with pytest.raises(StatusError, match="reservedFor") as refused:
        server.restore(claim)
    assert refused.value.code == 422


def test_a_kind_that_is_not_known_is_served_from_then_on(server: EmbeddedServer) -> None:
    server.restore({"apiVersion": "foo.example.com/v1", "kind": "Foo", "metadata": {"name": "x"}, "spec": {"a": 1}})
    assert get(server, "/apis/foo.example.com/v1/foos/x")["spec"] == {"a": 1}


def test_an_object_that_is_there_already_is_refused(server: EmbeddedServer) -> None:
    server.restore(POD)
    with pytest.raises(StatusError) as refused:
        server.restore(POD)
    assert refused.value.code == 409


def test_a_namespace_that_every_cluster_has_takes_the_labels_of_the_file(server: EmbeddedServer) -> None:
    metadata = {"name": "default", "labels": {"a": "b"}, "uid": UID}
    server.restore({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})
    found = get(server, "/api/v1/namespaces/default")["metadata"]
    assert found["labels"]["a"] == "b"
    assert found["uid"] == UID
