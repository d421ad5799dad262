from __future__ import annotations

from support.contract import Server, contract


@contract
async def test_health_is_reported(server: Server) -> None:
    for path in ("/healthz", "/livez", "/readyz"):
        answer = await server.call("GET", path)
        assert (answer.status, answer.text) == (200, b"ok")


@contract
async def test_the_version_has_major_and_minor(server: Server) -> None:
    version = await server.get("/version")
    assert (version["major"], version["minor"]) == ("1", "37")
    assert version["gitVersion"] == "v1.37.2"


@contract
async def test_the_core_api_has_one_version(server: Server) -> None:
    answer = await server.get("/api")
    assert (answer["kind"], answer["versions"]) == ("APIVersions", ["v1"])


@contract
async def test_groups_name_their_versions_preferred_first(server: Server) -> None:
    groups = {group["name"]: group for group in (await server.get("/apis"))["groups"]}
    resource = groups["resource.k8s.io"]
    versions = [each["version"] for each in resource["versions"]]
    assert versions[0] == "v1"
    assert {"v1beta1", "v1beta2"} < set(versions)
    assert resource["preferredVersion"] == {"groupVersion": "resource.k8s.io/v1", "version": "v1"}
    one = await server.get("/apis/resource.k8s.io")
    assert one["kind"] == "APIGroup"
    assert one["preferredVersion"] == resource["preferredVersion"]
    assert {"events.k8s.io", "coordination.k8s.io", "scheduling.k8s.io"} < groups.keys()


@contract
async def test_resources_are_listed_with_verbs_and_subresources(server: Server) -> None:
    answer = await server.get("/apis/resource.k8s.io/v1")
    assert (answer["kind"], answer["groupVersion"]) == ("APIResourceList", "resource.k8s.io/v1")
    resources = {each["name"]: each for each in answer["resources"]}
    names = {"deviceclasses", "resourceclaims", "resourceclaimtemplates", "resourceslices", "devicetaintrules"}
    assert names <= resources.keys()
    claims = resources["resourceclaims"]
    assert (claims["kind"], claims["namespaced"], claims["singularName"]) == ("ResourceClaim", True, "resourceclaim")
    verbs = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"]
    assert sorted(claims["verbs"]) == verbs
    assert sorted(resources["resourceclaims/status"]["verbs"]) == ["get", "patch", "update"]
    core = {each["name"]: each for each in (await server.get("/api/v1"))["resources"]}
    assert core["pods"]["shortNames"] == ["po"]
    assert core["pods/binding"]["verbs"] == ["create"]
    assert core["pods/binding"]["kind"] == "Binding"
    assert not core["nodes"]["namespaced"]


@contract
async def test_an_unknown_group_is_not_found(server: Server) -> None:
    assert (await server.call("GET", "/apis/no.such.group")).status == 404
    assert (await server.call("GET", "/apis/resource.k8s.io/v1alpha1")).status == 404
