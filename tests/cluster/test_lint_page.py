"""The examples of docs/lint.md at a real API server: it takes the good ones; of the bad ones, those that lint's text
does not say it refuses are taken too, which is why lint is needed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from dra_api.references import find_resource
from dra_bench.controlplane.client import Client
from dra_bench.controlplane.cluster import ControlPlane
from dra_bench.controlplane.flags import Options
from dra_scheduler.lint.registry import RULES
from support.cli import run
from support.lint_page import BASE, SECTIONS

REFUSED = frozenset(
    (
        "name-outside-metadata",
        "old-version",
        "unknown-version",
        "wrong-version",
        "capacity-form",
        "unknown-field",
        "wrong-value",
        "api-invalid",
        "over-limit",
        "selector-invalid",
        "selector-too-costly",
        "constraint-unknown-request",
        "config-unknown-request",
        "pod-claim-source",
        "pod-claim-invalid",
        "container-claim-unknown",
        "admin-access-namespace",
    )
)
"""What the server answers with an error when it is asked to be strict."""
OF_TEXT = frozenset(("odd-separator", "key-twice", "object-twice"))
"""What is wrong with a file, not with an object."""
MERGE_PATCH = "application/merge-patch+json"
LABEL = "resource.kubernetes.io/admin-access"


@pytest.fixture(scope="module")
def server(control_plane_binaries: None) -> Iterator[Client]:
    """An API server with default gates that serves v1beta1 too, and two nodes."""
    options = Options(
        controllers=("namespace-controller",), runtime_config={"resource.k8s.io/v1beta1": True, "api/all": True}
    )
    with ControlPlane(options) as plane:
        admin = plane.client("admin")
        for name in ("node-1", "node-2", "node-11"):
            assert admin.request("POST", "/api/v1/nodes", {"metadata": {"name": name}}).status == 201
        yield admin


@pytest.mark.parametrize("name", sorted(RULES))
def test_the_server_takes_the_good_example(server: Client, name: str) -> None:
    assert [one for one in answers(server, SECTIONS[name].good, label="true") if one[0] >= 400] == []


@pytest.mark.parametrize("name", sorted(RULES.keys() - OF_TEXT))
def test_the_server_refuses_the_bad_example_only_where_that_is_known(server: Client, name: str) -> None:
    refused = [one for one in answers(server, SECTIONS[name].bad, label=None) if one[0] >= 400]
    assert bool(refused) == (name in REFUSED), refused


def answers(server: Client, text: str, *, label: str | None) -> list[tuple[int, str]]:
    """Ask the server to create each object without storing it; the namespace has the label or not."""
    patch = {"metadata": {"labels": {LABEL: label}}}
    assert server.request("PATCH", "/api/v1/namespaces/default", patch, content_type=MERGE_PATCH).status == 200
    return [_answer(server, obj) for obj in yaml.safe_load_all(text) if obj["kind"] != "Namespace"]


def _answer(server: Client, obj: dict[str, Any]) -> tuple[int, str]:
    version = obj["apiVersion"].rpartition("/")[2]
    resource = find_resource(obj["apiVersion"], obj["kind"])
    path = "/api/v1/namespaces/default/configmaps"
    if resource is not None:
        path = resource.path(namespace="default" if resource.namespaced else "", version=version)
    answer = server.request("POST", f"{path}?dryRun=All&fieldValidation=Strict", obj)
    return answer.status, answer.message


def test_a_real_cluster_is_looked_at_by_whoever_may_only_read_it(control_plane: ControlPlane, admin: Client) -> None:
    objects = [obj for obj in yaml.safe_load_all(BASE) if obj["kind"] in ("DeviceClass", "ResourceSlice")]
    for obj in objects:
        assert admin.request("POST", _path(obj), obj).status == 201
    try:
        access = ["--kubeconfig", str(control_plane.kubeconfig("dra-scheduler"))]
        ran = run("lint", *access, "-f", "-", "-o", "json", stdin=SECTIONS["class-missing"].bad.encode())
        assert (ran.code, [one["name"] for one in json.loads(ran.out)["findings"]]) == (1, ["class-missing"])
        assert "resourceclaimtemplates.resource.k8s.io may not be listed" in ran.err
        ran = run("lint", *access, "-o", "json")
        found = [one["name"] for one in json.loads(ran.out)["findings"] if one["object"].endswith("-gpus")]
        assert (ran.code, found) == (1, ["slice-without-node"])
        ran = run("cel", *access, 'device.attributes["gpu.example.com"].index > 0', "-o", "json")
        assert [(one["device"], one["result"]) for one in json.loads(ran.out)] == [
            ("gpu-0", "false"),
            ("gpu-1", "true"),
        ]
    finally:
        for obj in objects:
            admin.request("DELETE", f"{_path(obj)}/{obj['metadata']['name']}")


def _path(obj: dict[str, Any]) -> str:
    resource = find_resource(obj["apiVersion"], obj["kind"])
    assert resource is not None
    return resource.path()
