"""Validation and conversion against the real API server: it says the same of the same objects."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from dra_allocator.features import Features
from dra_api.references import find_resource
from dra_api.validation import FieldError, Rules, validate_object, validate_status_update, with_defaults
from dra_api.versions import from_v1, to_v1
from dra_bench.controlplane.client import Answer, Client
from dra_bench.controlplane.cluster import ControlPlane
from dra_bench.controlplane.flags import Options
from support import dra_objects
from support.mutations import TEXTS, damaged

GATES = (
    "DRAListTypeAttributes",
    "DRADeviceCompatibilityGroups",
    "DRADerivedAttributes",
    "DRAOptionalNodeOperations",
    "DRAPartitionableDevicesType",
    "DRAResourcePoolStatus",
    "DRANodeAllocatableResources",
)
OLDER = ("v1beta2", "v1beta1")
RULES = Rules(replace(Features.all_on(), fractional_capacity_range=False), partitionable_devices_type=True)
NOW = "2026-01-01T00:00:00Z"
OBJECTS = 150
MERGE_PATCH = "application/merge-patch+json"

Obj = dict[str, Any]


@pytest.fixture(scope="module")
def server(control_plane_binaries: None) -> Iterator[Client]:
    """An API server with every feature of DRA on and the older versions served."""
    options = Options(
        feature_gates=dict.fromkeys(GATES, True),
        controllers=("namespace-controller",),  # nobody may tidy up what the tests store
        runtime_config={f"resource.k8s.io/{version}": True for version in OLDER},
    )
    with ControlPlane(options) as plane:
        admin = plane.client("admin")
        label = {"metadata": {"labels": {"resource.kubernetes.io/admin-access": "true"}}}
        assert admin.request("PATCH", "/api/v1/namespaces/default", label, content_type=MERGE_PATCH).status == 200
        for name in TEXTS:  # slices may only name nodes that are there, with what their devices need
            if admin.request("POST", "/api/v1/nodes", {"metadata": {"name": name}}).status == 201:
                features = {"status": {"declaredFeatures": ["DRANodeAllocatableResources"]}}
                path = f"/api/v1/nodes/{name}/status"
                assert admin.request("PATCH", path, features, content_type=MERGE_PATCH).status == 200
        yield admin


def path_of(obj: Obj, **parts: str) -> str:
    resource = find_resource(obj["apiVersion"], obj["kind"])
    assert resource is not None
    return resource.path(namespace=obj["metadata"].get("namespace", ""), **parts)


def differences(errors: list[FieldError], answer: Answer) -> tuple[set[object], set[object]]:
    """Which (field, reason) only we have, and which only the server has."""
    ours: set[object] = {(error.field, error.type) for error in errors}
    theirs: set[object] = set()
    if answer.status == 422:
        theirs = {(cause.get("field"), cause["reason"]) for cause in answer.body["details"]["causes"]}
    elif answer.status not in (200, 201):
        theirs = {(answer.status, answer.message)}
    return ours - theirs, theirs - ours


@pytest.mark.parametrize("seed", range(2))
def test_damaged_objects_get_the_same_errors(server: Client, seed: int) -> None:
    random = Random(seed)
    refused = 0
    for _ in range(OBJECTS):
        base = random.choice(dra_objects.all_objects())
        obj = damaged(base, random, random.choice(("spec", "spec", "spec", "spec", "metadata")))
        obj["metadata"] |= {key: value for key, value in base["metadata"].items() if key in ("namespace", "name")}
        answer = server.request("POST", path_of(obj), obj, query={"dryRun": "All"})
        if answer.status == 403:  # an admission plugin, not the rules: the slice names a node that is not there
            continue
        refused += answer.status == 422
        assert differences(validate_object(with_defaults(obj, NOW), RULES), answer) == (set(), set()), obj
    assert refused > OBJECTS // 4


def test_damaged_statuses_get_the_same_errors(server: Client) -> None:
    random = Random(1)
    created = server.request("POST", path_of(dra_objects.claim()), dra_objects.claim())
    assert created.status == 201, created.message
    refused = 0
    for _ in range(OBJECTS):
        obj = damaged({**created.body, "status": dra_objects.claim_status()}, random, "status")
        answer = server.request("PUT", path_of(obj, name="x", subresource="status"), obj, query={"dryRun": "All"})
        refused += answer.status == 422
        errors = validate_status_update(with_defaults(obj, NOW), created.body)
        assert differences(errors, answer) == (set(), set()), obj["status"]
    assert refused > OBJECTS // 4


def stored(server: Client, obj: Obj) -> Obj:
    obj = copy.deepcopy(obj)
    obj["metadata"]["name"] = f"versions-{dra_objects.all_objects().index(obj)}"
    created = server.request("POST", path_of(obj), obj)
    assert created.status == 201, created.message
    if obj["kind"] != "ResourceClaim":
        return created.body
    body = created.body | {"status": dra_objects.claim_status()}
    updated = server.request("PUT", path_of(obj, name=obj["metadata"]["name"], subresource="status"), body)
    assert updated.status == 200, updated.message
    return updated.body


def without_management(obj: Obj) -> Obj:
    return obj | {"metadata": {key: value for key, value in obj["metadata"].items() if key != "managedFields"}}


def test_conversion_is_that_of_the_server(server: Client) -> None:
    for obj in dra_objects.all_objects():
        newest = without_management(stored(server, obj))
        resource = find_resource(obj["apiVersion"], obj["kind"])
        assert resource is not None
        for version in OLDER:
            if version not in resource.versions:
                continue
            name, namespace = newest["metadata"]["name"], newest["metadata"].get("namespace", "")
            answer = server.request("GET", resource.path(namespace=namespace, name=name, version=version))
            assert answer.status == 200, answer.message
            older = without_management(answer.body)
            assert from_v1(newest, version) == older
            assert to_v1(older) == newest
