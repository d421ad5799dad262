"""What the server publishes about itself: discovery and OpenAPI, as far as kubectl asks for them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dra_embedded.http import discovery, openapi
from dra_embedded.registry import Registry

REGISTRY = Registry()
ACCEPT = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"


def test_aggregated_discovery_is_for_those_who_ask() -> None:
    assert discovery.is_wanted(ACCEPT)
    assert not discovery.is_wanted("application/json")
    assert discovery.aggregated("/version", REGISTRY) is None


def test_two_answers_have_every_resource_with_its_kind() -> None:
    found = {}
    for path in ("/api", "/apis"):
        answer = discovery.aggregated(path, REGISTRY)
        assert answer is not None
        for group in answer["items"]:
            for version in group["versions"]:
                for resource in version["resources"]:
                    key = (group["metadata"]["name"], version["version"], resource["resource"])
                    found[key] = resource["responseKind"]["kind"]
    assert found == {
        (group, version, served.resource.plural): served.resource.kind for group, version, served in REGISTRY.all()
    }


def test_short_names_subresources_and_categories_are_there() -> None:
    answer = discovery.aggregated("/api", REGISTRY)
    assert answer is not None
    resources = {each["resource"]: each for each in answer["items"][0]["versions"][0]["resources"]}
    pods = resources["pods"]
    assert (pods["shortNames"], pods["categories"], pods["scope"]) == (["po"], ["all"], "Namespaced")
    assert [each["subresource"] for each in pods["subresources"]] == ["binding", "status"]
    assert "categories" not in resources["events"]


def test_every_kind_lets_kubectl_leave_validation_to_the_server() -> None:
    index = openapi.document("/openapi/v3", REGISTRY)
    assert index is not None
    patched = set()
    for place in index["paths"].values():
        document = openapi.document(place["serverRelativeURL"], REGISTRY)
        assert document is not None
        for path in document["paths"].values():
            operation = path["patch"]
            assert "fieldValidation" in [parameter["name"] for parameter in operation["parameters"]]
            kind = operation["x-kubernetes-group-version-kind"]
            patched.add((kind["group"], kind["version"], kind["kind"]))
    assert patched == {(group, version, served.resource.kind) for group, version, served in REGISTRY.all()}


def test_schemas_have_fields_and_say_that_there_are_no_descriptions() -> None:
    document = openapi.document("/openapi/v3/apis/resource.k8s.io/v1", REGISTRY)
    assert document is not None
    claim = document["components"]["schemas"]["embedded.apis.resource.k8s.io.v1.ResourceClaim"]
    assert "no descriptions" in claim["description"]
    devices = claim["properties"]["spec"]["properties"]["devices"]["properties"]
    exactly = devices["requests"]["items"]["properties"]["exactly"]["properties"]
    assert exactly["count"] == {"type": "integer"}
    older = openapi.document("/openapi/v3/apis/resource.k8s.io/v1beta1", REGISTRY)
    assert older is not None
    schema = older["components"]["schemas"]["embedded.apis.resource.k8s.io.v1beta1.ResourceClaim"]
    assert "properties" not in schema
    assert "resource.k8s.io/v1" in schema["description"]


def untyped(schema: dict[str, Any], path: str) -> Iterator[str]:
    if "type" not in schema:
        yield path
    for name, each in schema.get("properties", {}).items():
        yield from untyped(each, f"{path}.{name}")
    for name in ("items", "additionalProperties"):
        if name in schema:
            yield from untyped(schema[name], f"{path}.{name}")


def test_every_schema_has_a_type_for_kubectl_explains_all_of_them_at_once() -> None:
    index = openapi.document("/openapi/v3", REGISTRY)
    assert index is not None
    for place in index["paths"].values():
        document = openapi.document(place["serverRelativeURL"], REGISTRY)
        assert document is not None
        for name, schema in document["components"]["schemas"].items():
            assert list(untyped(schema, name)) == []


def test_other_paths_have_no_document() -> None:
    assert openapi.document("/openapi/v3/apis/none/v1", REGISTRY) is None
