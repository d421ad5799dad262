from __future__ import annotations

import asyncio

import orjson
import pytest

from dra_api.transport import Request, WatchRefusedError
from support.contract import Server, claim, contract, pod

LABELLED = {"metadata": {"labels": {"chosen": "yes"}}}
FOREVER = str(2**40)


@contract
async def test_a_watch_from_a_version_sees_what_comes_after_it(server: Server) -> None:
    await server.create(server.claims, claim("before"))
    async with server.watch(server.claims, resourceVersion=await server.version()) as events:
        created = await server.create(server.claims, claim("a"))
        changed = await server.merge(f"{server.claims}/a", LABELLED)
        await server.delete(f"{server.claims}/a")
        (first, one), (second, two), (third, three) = [await events.next() for _ in range(3)]
    assert (first, second, third) == ("ADDED", "MODIFIED", "DELETED")
    assert (one["kind"], one["apiVersion"]) == ("ResourceClaim", "resource.k8s.io/v1")
    assert one["metadata"]["resourceVersion"] == created["metadata"]["resourceVersion"]
    assert two["metadata"]["resourceVersion"] == changed["metadata"]["resourceVersion"]
    assert int(three["metadata"]["resourceVersion"]) > int(two["metadata"]["resourceVersion"])
    assert three["metadata"]["labels"] == {"chosen": "yes"}


@contract
async def test_a_watch_can_go_back_to_an_old_version(server: Server) -> None:
    version = await server.version()
    await server.create(server.claims, claim("a"))
    await server.create(server.claims, claim("b"))
    await server.delete(f"{server.claims}/a")
    async with server.watch(server.claims, resourceVersion=version) as events:
        assert await events.names(3) == ["ADDED a", "ADDED b", "DELETED a"]


@contract
async def test_a_watch_from_nowhere_begins_with_what_is_there(server: Server) -> None:
    await server.create(server.claims, claim("b"))
    await server.create(server.claims, claim("a"))
    for query in ({}, {"resourceVersion": "0"}):
        async with server.watch(server.claims, **query) as events:
            assert sorted(await events.names(2)) == ["ADDED a", "ADDED b"]
            await server.create(server.claims, claim(f"c{len(query)}"))
            assert await events.names(1) == [f"ADDED c{len(query)}"]
            await server.delete(f"{server.claims}/c{len(query)}")
            # A real server answers the next watch from its cache, which may not know of the deletion before this one.
            assert await events.names(1) == [f"DELETED c{len(query)}"]


@contract
async def test_initial_events_end_with_a_marked_bookmark(server: Server) -> None:
    await server.create(server.claims, claim("a"))
    query = {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan", "allowWatchBookmarks": "true"}
    async with server.watch(server.claims, **query) as events:
        assert await events.names(1) == ["ADDED a"]
        kind, mark = await events.next(bookmarks=True)
        assert kind == "BOOKMARK"
        assert (mark["kind"], mark["apiVersion"]) == ("ResourceClaim", "resource.k8s.io/v1")
        assert mark["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}
        assert int(mark["metadata"]["resourceVersion"]) > 0
        await server.create(server.claims, claim("b"))
        assert await events.names(1) == ["ADDED b"]


@contract
async def test_objects_enter_and_leave_a_label_selector(server: Server) -> None:
    await server.create(server.claims, claim("a"))
    version = await server.version()
    async with server.watch(server.claims, resourceVersion=version, labelSelector="chosen=yes") as events:
        await server.merge(f"{server.claims}/a", {"metadata": {"labels": {"other": "x"}}})
        entered = await server.merge(f"{server.claims}/a", LABELLED)
        await server.merge(f"{server.claims}/a", {"metadata": {"labels": {"other": "y"}}})
        left = await server.merge(f"{server.claims}/a", {"metadata": {"labels": {"chosen": "no"}}})
        await server.delete(f"{server.claims}/a")
        seen = [await events.next() for _ in range(3)]
        await events.nothing_more()
    assert [kind for kind, _ in seen] == ["ADDED", "MODIFIED", "DELETED"]
    assert seen[0][1]["metadata"]["resourceVersion"] == entered["metadata"]["resourceVersion"]
    assert seen[2][1]["metadata"]["labels"] == {"chosen": "yes", "other": "y"}
    assert seen[2][1]["metadata"]["resourceVersion"] == left["metadata"]["resourceVersion"]


@contract
async def test_a_pod_leaves_the_watch_of_pods_without_node_when_bound(server: Server) -> None:
    version = await server.version()
    async with server.watch(server.pods, resourceVersion=version, fieldSelector="spec.nodeName=") as events:
        await server.create(server.pods, pod())
        body = {"metadata": {"name": "pod"}, "target": {"kind": "Node", "name": "node-1"}}
        await server.create(f"{server.pods}/pod/binding", body)
        assert await events.names(2) == ["ADDED pod", "DELETED pod"]


@contract
async def test_a_watch_of_one_name_sees_no_other(server: Server) -> None:
    version = await server.version()
    async with server.watch(server.claims, resourceVersion=version, fieldSelector="metadata.name=b") as events:
        await server.create(server.claims, claim("a"))
        await server.create(server.claims, claim("b"))
        assert await events.names(1) == ["ADDED b"]


@contract
async def test_a_watch_of_all_namespaces_sees_this_one(server: Server) -> None:
    path = "/apis/resource.k8s.io/v1/resourceclaims"
    selector = f"metadata.namespace={server.namespace}"
    async with server.watch(path, resourceVersion=await server.version(), fieldSelector=selector) as events:
        await server.create(server.claims, claim("a"))
        kind, seen = await events.next()
    assert (kind, seen["metadata"]["namespace"]) == ("ADDED", server.namespace)


@contract
async def test_a_watch_ends_after_its_timeout(server: Server) -> None:
    request = Request("GET", server.claims, {"watch": "true", "timeoutSeconds": "1"})
    loop = asyncio.get_running_loop()
    started = loop.time()
    async with server.transport.watch(request) as lines:
        assert [line async for line in lines] == []
    assert 0.9 <= loop.time() - started < 10


@contract
async def test_a_watch_from_a_version_before_everything_is_expired(server: Server) -> None:
    """Version 1 is older than any change; what is forgotten by then depends on the server, the form does not."""
    request = Request("GET", server.claims, {"watch": "true", "resourceVersion": "1", "timeoutSeconds": "1"})
    async with server.transport.watch(request) as lines:
        events = [orjson.loads(line) async for line in lines]
    for event in events:
        assert event["type"] in ("ADDED", "MODIFIED", "DELETED", "ERROR")
        if event["type"] == "ERROR":
            assert (event["object"]["code"], event["object"]["reason"]) == (410, "Expired")


@contract
async def test_watch_parameters_that_exclude_each_other_are_refused(server: Server) -> None:
    for query in ({"sendInitialEvents": "true"}, {"resourceVersionMatch": "NotOlderThan", "resourceVersion": "1"}):
        with pytest.raises(WatchRefusedError) as caught:
            async with server.watch(server.claims, **query):
                pass
        assert caught.value.response.status == 422
        body = orjson.loads(caught.value.response.body)
        assert body["details"]["causes"][0]["field"] == "resourceVersionMatch"


@contract
async def test_a_watch_of_nothing_is_refused(server: Server) -> None:
    with pytest.raises(WatchRefusedError) as caught:
        async with server.watch("/apis/resource.k8s.io/v1/nothings"):
            pass
    assert caught.value.response.status == 404


@contract
async def test_every_watcher_sees_the_changes_in_the_same_order(server: Server) -> None:
    version = await server.version()

    async def follow() -> list[str]:
        async with server.watch(server.claims, resourceVersion=version) as events:
            return await events.names(9)

    followers = [asyncio.create_task(follow()) for _ in range(3)]
    for name in ("a", "b", "c"):
        await server.create(server.claims, claim(name))
        await server.merge(f"{server.claims}/{name}", LABELLED)
    for name in ("b", "a", "c"):
        await server.delete(f"{server.claims}/{name}")
    first, *others = [await each for each in followers]
    assert first[-3:] == ["DELETED b", "DELETED a", "DELETED c"]
    assert all(each == first for each in others)
