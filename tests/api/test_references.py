"""Kinds, paths and keys of objects."""

from __future__ import annotations

from dra_api import references as refs


def test_paths_are_those_of_the_api_server() -> None:
    assert refs.POD.path(namespace="default", name="a", subresource="binding") == (
        "/api/v1/namespaces/default/pods/a/binding"
    )
    assert refs.POD.path() == "/api/v1/pods"
    assert (
        refs.RESOURCE_SLICE.path(version="v1beta1", name="a/b") == "/apis/resource.k8s.io/v1beta1/resourceslices/a%2Fb"
    )
    assert refs.NODE.path(namespace="ignored", name="n") == "/api/v1/nodes/n"


def test_a_kind_is_found_by_any_version_of_its_group() -> None:
    assert refs.find_resource("resource.k8s.io/v1alpha2", "ResourceClaim") is refs.RESOURCE_CLAIM
    assert refs.find_resource("v1", "Event") is refs.CORE_EVENT
    assert refs.find_resource("events.k8s.io/v1", "Event") is refs.EVENT
    assert refs.find_resource("v1", "ResourceClaim") is None
    assert refs.RESOURCE_CLAIM.api_version() == "resource.k8s.io/v1"
    assert refs.POD.api_version() == "v1"


def test_a_key_reads_as_people_write_it() -> None:
    claim = {"kind": "ResourceClaim", "metadata": {"namespace": "a", "name": "b"}}
    assert str(refs.key_of(claim)) == "ResourceClaim a/b"
    assert str(refs.key_of({"metadata": {"name": "n"}}, "Node")) == "Node n"


def test_all_resources_are_listed_once() -> None:
    assert len({(entry.group, entry.kind) for entry in refs.RESOURCES}) == len(refs.RESOURCES)
    assert refs.DEVICE_TAINT_RULE in refs.DRA_RESOURCES
