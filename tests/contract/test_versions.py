from __future__ import annotations

from support.contract import Object, Server, claim, contract

GROUP = "/apis/resource.k8s.io"


def claims(server: Server, version: str) -> str:
    return f"{GROUP}/{version}/namespaces/{server.namespace}/resourceclaims"


def slice_body(name: str, version: str) -> Object:
    pool = {"name": "pool", "generation": 1, "resourceSliceCount": 1}
    device = {"attributes": {"model": {"string": "a"}}, "capacity": {"memory": {"value": "8Gi"}}}
    devices = [{"name": "gpu-0", "basic": device} if version == "v1beta1" else {"name": "gpu-0", **device}]
    spec = {"driver": "gpu.example.com", "pool": pool, "nodeName": "node-1", "devices": devices}
    return {"metadata": {"name": name}, "spec": spec}


@contract
async def test_a_claim_written_in_one_version_is_read_in_another(server: Server) -> None:
    flat = {"name": "gpu", "deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1}
    nested = {"name": "gpu", "exactly": {key: value for key, value in flat.items() if key != "name"}}
    created = await server.create(claims(server, "v1"), claim())
    assert created["spec"]["devices"]["requests"] == [nested]
    for version, request in (("v1beta2", nested), ("v1beta1", flat)):
        read = await server.get(f"{claims(server, version)}/claim")
        assert read["apiVersion"] == f"resource.k8s.io/{version}"
        assert read["spec"]["devices"]["requests"] == [request]
        assert read["metadata"]["uid"] == created["metadata"]["uid"]
    old = {"metadata": {"name": "old"}, "spec": {"devices": {"requests": [{"name": "gpu", "deviceClassName": "gpu"}]}}}
    made = await server.create(claims(server, "v1beta1"), old)
    assert made["spec"]["devices"]["requests"] == [flat]
    assert (await server.get(f"{claims(server, 'v1')}/old"))["spec"]["devices"]["requests"] == [nested]


@contract
async def test_alternatives_look_the_same_in_all_versions(server: Server) -> None:
    alternatives = [{"name": "big", "deviceClassName": "gpu", "count": 2}, {"name": "small", "deviceClassName": "gpu"}]
    await server.create(claims(server, "v1"), claim("claim", {"name": "gpu", "firstAvailable": alternatives}))
    for version in ("v1", "v1beta2", "v1beta1"):
        (request,) = (await server.get(f"{claims(server, version)}/claim"))["spec"]["devices"]["requests"]
        assert [each["count"] for each in request["firstAvailable"]] == [2, 1]
        assert request.keys() - {"deviceClassName"} == {"name", "firstAvailable"}


@contract
async def test_devices_are_nested_in_the_oldest_version(server: Server) -> None:
    for version in ("v1", "v1beta2", "v1beta1"):
        name = server.unique("slice")
        await server.create(f"{GROUP}/{version}/resourceslices", slice_body(name, version))
        for other in ("v1", "v1beta2", "v1beta1"):
            read = await server.get(f"{GROUP}/{other}/resourceslices/{name}")
            assert read["spec"]["devices"] == slice_body(name, other)["spec"]["devices"]
        await server.delete(f"{GROUP}/v1/resourceslices/{name}")


@contract
async def test_patches_are_in_the_version_of_their_path(server: Server) -> None:
    await server.create(claims(server, "v1"), claim())
    patched = await server.merge(f"{claims(server, 'v1beta1')}/claim", {"metadata": {"labels": {"a": "b"}}})
    assert patched["apiVersion"] == "resource.k8s.io/v1beta1"
    assert patched["spec"]["devices"]["requests"][0]["deviceClassName"] == "gpu"
    read = await server.get(f"{claims(server, 'v1')}/claim")
    assert read["metadata"]["labels"] == {"a": "b"}
    assert read["spec"]["devices"]["requests"][0]["exactly"]["deviceClassName"] == "gpu"


@contract
async def test_lists_and_watches_are_in_the_version_of_their_path(server: Server) -> None:
    await server.create(claims(server, "v1"), claim())
    listed = await server.get(claims(server, "v1beta1"))
    assert listed["apiVersion"] == "resource.k8s.io/v1beta1"
    assert listed["items"][0]["spec"]["devices"]["requests"][0]["deviceClassName"] == "gpu"
    async with server.watch(claims(server, "v1beta1")) as events:
        _, seen = await events.next()
    assert seen["apiVersion"] == "resource.k8s.io/v1beta1"
    assert seen["spec"]["devices"]["requests"][0]["deviceClassName"] == "gpu"
