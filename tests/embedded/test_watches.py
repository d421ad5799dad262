"""What only the embedded server can be made to do in a test: forget changes, wait an hour, have slow watchers."""

from __future__ import annotations

import asyncio
import random

import orjson
import pytest

from dra_api.transport import Request, TransportError
from dra_embedded.server import EmbeddedServer
from dra_embedded.virtual_time import VirtualClock, run_virtual

LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases"


async def create(server: EmbeddedServer, name: str) -> int:
    body = orjson.dumps({"metadata": {"name": name}, "spec": {}})
    response = await server.send(Request("POST", LEASES, body=body))
    assert response.status == 201
    return int(orjson.loads(response.body)["metadata"]["resourceVersion"])


def watch(**query: str) -> Request:
    return Request("GET", LEASES, {"watch": "true", **query})


def test_a_version_that_is_forgotten_gives_one_expired_error_and_the_end() -> None:
    async def main(clock: VirtualClock) -> None:
        server = EmbeddedServer(clock, random.Random(1), history=5)
        first = await create(server, "l0")
        for number in range(1, 20):
            await create(server, f"l{number}")
        async with server.watch(watch(resourceVersion=str(first))) as lines:
            events = [orjson.loads(line) async for line in lines]
        assert len(events) == 1
        assert events[0]["type"] == "ERROR"
        assert (events[0]["object"]["code"], events[0]["object"]["reason"]) == (410, "Expired")

    run_virtual(main)


def test_a_list_at_a_forgotten_version_is_gone_and_so_is_its_next_page() -> None:
    async def main(clock: VirtualClock) -> None:
        server = EmbeddedServer(clock, random.Random(1), history=5)
        for number in range(6):
            await create(server, f"l{number}")
        page = orjson.loads((await server.send(Request("GET", LEASES, {"limit": "2"}))).body)
        for number in range(10, 30):
            await create(server, f"l{number}")
        exact = {"resourceVersion": page["metadata"]["resourceVersion"], "resourceVersionMatch": "Exact"}
        gone = await server.send(Request("GET", LEASES, exact))
        assert (gone.status, orjson.loads(gone.body)["reason"]) == (410, "Expired")
        gone = await server.send(Request("GET", LEASES, {"limit": "2", "continue": page["metadata"]["continue"]}))
        body = orjson.loads(gone.body)
        assert (gone.status, body["reason"]) == (410, "Expired")
        rest = await server.send(Request("GET", LEASES, {"continue": body["metadata"]["continue"]}))
        names = [each["metadata"]["name"] for each in orjson.loads(rest.body)["items"]]
        assert names[:3] == ["l10", "l11", "l12"]

    run_virtual(main)


def test_bookmarks_come_every_minute_with_the_newest_version() -> None:
    async def main(clock: VirtualClock) -> None:
        server = EmbeddedServer(clock, random.Random(1))
        marks: list[tuple[float, int]] = []
        async with server.watch(watch(allowWatchBookmarks="true", timeoutSeconds="200")) as lines:
            async for line in lines:
                event = orjson.loads(line)
                assert event["type"] == "BOOKMARK"
                assert event["object"]["kind"] == "Lease"
                marks.append((clock.monotonic(), int(event["object"]["metadata"]["resourceVersion"])))
                newest = await other(server)
        assert [time for time, _ in marks] == [60.0, 120.0, 180.0]
        assert marks[-1][1] <= newest

    async def other(server: EmbeddedServer) -> int:
        body = orjson.dumps({"metadata": {"generateName": "n-"}})
        response = await server.send(Request("POST", "/api/v1/namespaces", body=body))
        return int(orjson.loads(response.body)["metadata"]["resourceVersion"])

    run_virtual(main)


def test_a_watch_can_resume_from_a_bookmark_after_its_own_kind_was_quiet() -> None:
    async def main(clock: VirtualClock) -> None:
        server = EmbeddedServer(clock, random.Random(1), history=5)
        async with server.watch(watch(allowWatchBookmarks="true")) as lines:
            mark = orjson.loads(await anext(lines))["object"]["metadata"]["resourceVersion"]
        await create(server, "later")
        async with server.watch(watch(resourceVersion=mark)) as lines:
            assert orjson.loads(await anext(lines))["object"]["metadata"]["name"] == "later"

    run_virtual(main)


def test_a_watch_without_timeout_ends_between_half_an_hour_and_an_hour() -> None:
    async def main(clock: VirtualClock) -> None:
        for seed in range(5):
            server = EmbeddedServer(clock, random.Random(seed))
            started = clock.monotonic()
            async with server.watch(watch()) as lines:
                assert [line async for line in lines] == []
            assert 1800 <= clock.monotonic() - started <= 3600

    run_virtual(main)


def test_a_slow_watcher_is_cut_and_never_blocks_a_writer() -> None:
    async def main(clock: VirtualClock) -> None:
        server = EmbeddedServer(clock, random.Random(1), history=5)
        seen: list[str] = []
        async with server.watch(watch()) as lines:
            await create(server, "first")
            seen.append(orjson.loads(await anext(lines))["object"]["metadata"]["name"])
            for number in range(50):
                await create(server, f"l{number}")
            seen += [orjson.loads(line)["object"]["metadata"]["name"] async for line in lines]
        assert seen[0] == "first"
        assert len(seen) < 51
        assert clock.monotonic() < 1

    run_virtual(main)


def test_each_of_a_hundred_watchers_gets_the_one_change_it_waits_for() -> None:
    async def main(clock: VirtualClock) -> None:
        server = EmbeddedServer(clock, random.Random(1))

        async def follow(name: str) -> int:
            async with server.watch(watch(fieldSelector=f"metadata.name={name}")) as lines:
                await anext(lines)
                return 1

        followers = [asyncio.create_task(follow(f"l{number}")) for number in range(100)]
        for number in range(100):
            await create(server, f"l{number}")
        assert sum([await each for each in followers]) == 100

    run_virtual(main)


def test_leaving_a_watch_leaves_nothing_behind() -> None:
    async def main(clock: VirtualClock) -> int:
        server = EmbeddedServer(clock, random.Random(1))
        for _ in range(100):
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(1), server.watch(watch()) as lines:
                    await anext(lines)
        return len(server.store.bucket("leases.coordination.k8s.io").history._waiting)

    assert run_virtual(main) == 0


def test_the_server_raises_no_transport_errors() -> None:
    async def main(clock: VirtualClock) -> int:
        server = EmbeddedServer(clock, random.Random(1))
        try:
            return (await server.send(Request("GET", "/nowhere"))).status
        except TransportError:
            return 0

    assert run_virtual(main) == 404
