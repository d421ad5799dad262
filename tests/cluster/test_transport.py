"""The product's transport against a real API server, under our own role."""

from __future__ import annotations

import asyncio
import json

import pytest

from dra_api.transport import Request, Transport, WatchRefusedError
from dra_bench.controlplane.client import Client

SLICES = "/apis/resource.k8s.io/v1/resourceslices"


async def test_requests_are_answered_as_the_user_of_the_kubeconfig(scheduler_transport: Transport) -> None:
    listed = await scheduler_transport.send(Request("GET", SLICES, {"limit": "1"}))
    assert listed.status == 200
    assert json.loads(listed.body)["kind"] == "ResourceSliceList"
    refused = await scheduler_transport.send(Request("GET", "/api/v1/secrets"))
    assert refused.status == 403
    assert "system:serviceaccount:dra-scheduler:dra-scheduler" in json.loads(refused.body)["message"]


async def test_a_watch_yields_an_event_a_line(scheduler_transport: Transport, admin: Client, namespace: str) -> None:
    path = f"/apis/resource.k8s.io/v1/namespaces/{namespace}/resourceclaims"
    version = json.loads((await scheduler_transport.send(Request("GET", path))).body)["metadata"]["resourceVersion"]
    query = {"watch": "true", "resourceVersion": version, "timeoutSeconds": "30"}
    request = {"name": "cat", "exactly": {"deviceClassName": "cats"}}
    async with scheduler_transport.watch(Request("GET", path, query)) as lines:
        for name in ("one", "two"):
            claim = {"metadata": {"name": name}, "spec": {"devices": {"requests": [request]}}}
            answer = await asyncio.to_thread(admin.request, "POST", path, claim)
            assert answer.status == 201, answer.message
        seen = []
        async for line in lines:
            event = json.loads(line)
            seen.append((event["type"], event["object"]["metadata"]["name"]))
            if len(seen) == 2:
                break
    assert seen == [("ADDED", "one"), ("ADDED", "two")]


async def test_a_watch_that_is_not_allowed_is_refused(scheduler_transport: Transport) -> None:
    with pytest.raises(WatchRefusedError) as refused:
        async with scheduler_transport.watch(Request("GET", "/api/v1/secrets", {"watch": "true"})):
            pass
    assert refused.value.response.status == 403
