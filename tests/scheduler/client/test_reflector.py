from __future__ import annotations

import asyncio
import logging
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dra_api.errors import DecodeError
from dra_api.references import DEVICE_CLASS, NODE, RESOURCE_SLICE, Resource
from dra_api.transport import Transport
from dra_embedded.server import EmbeddedServer
from dra_embedded.virtual_time import VirtualClock, run_virtual
from dra_scheduler.client.api import Api
from dra_scheduler.client.mirror import Mirror
from dra_scheduler.client.reflector import Reflector
from support.cutting import CHOICES, Cutting

Object = dict[str, Any]


class Cache:
    """The simplest handler; complains about impossible sequences."""

    def __init__(self) -> None:
        self.objects: dict[str, Object] = {}
        self.calls: list[tuple[str | None, str | None]] = []

    def apply(self, old: Object | None, new: Object | None) -> None:
        name = (new or old or {})["metadata"]["name"]
        assert self.objects.get(name) == old
        assert old is None or new is None or old["metadata"]["uid"] == new["metadata"]["uid"]
        self.calls.append(tuple(o and o["metadata"].get("resourceVersion") for o in (old, new)))
        if new is None:
            del self.objects[name]
        else:
            self.objects[name] = new


def node(name: str, **labels: str) -> Object:
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}}


def reflector(
    transport: Transport, clock: VirtualClock, cache: Any, resource: Resource = NODE, **rest: Any
) -> Reflector:
    return Reflector(transport, resource, cache, clock, random.Random(3), **rest)


def live(server: EmbeddedServer) -> Api:
    return Api(server)


async def versions(api: Api, path: str = "/api/v1/nodes") -> dict[str, str]:
    items = (await api.list(path))["items"]
    return {item["metadata"]["name"]: item["metadata"]["resourceVersion"] for item in items}


def cached(cache: Cache) -> dict[str, str]:
    return {name: item["metadata"]["resourceVersion"] for name, item in cache.objects.items()}


OPERATIONS = st.lists(
    st.tuples(st.sampled_from(["put", "touch", "delete", "replace", "wait"]), st.integers(0, 4)), max_size=25
)


@settings(max_examples=150, deadline=None)
@given(
    operations=OPERATIONS,
    watches=st.lists(st.sampled_from(CHOICES), max_size=12),
    lists=st.lists(
        st.sampled_from(["fine", "not there", "cut at once", "refused 410", "refused 429", "refused 403", "no json"]),
        max_size=6,
    ),
    history=st.sampled_from([2, 1000]),
)
def test_whatever_is_cut_refused_or_too_old_the_cache_ends_as_the_server(
    operations: list[tuple[str, int]], watches: list[str], lists: list[str], history: int
) -> None:
    async def main(clock: VirtualClock) -> None:
        server = EmbeddedServer(clock, random.Random(1), history=history)
        api = live(server)
        cache = Cache()
        subject = reflector(Cutting(server, watches, lists), clock, cache)
        task = asyncio.create_task(subject.run())
        for number, (operation, index) in enumerate(operations):
            name = f"node-{index}"
            exists = name in await versions(api)
            if operation == "wait":
                await asyncio.sleep(index)
            elif operation == "put" and not exists:
                await api.create("/api/v1/nodes", node(name))
            elif operation == "touch" and exists:
                await api.patch(f"/api/v1/nodes/{name}", {"metadata": {"labels": {"n": str(number)}}})
            elif operation in ("delete", "replace") and exists:
                await api.delete(f"/api/v1/nodes/{name}")
                if operation == "replace":
                    await api.create("/api/v1/nodes", node(name))
        await asyncio.sleep(900)
        assert not task.done()
        assert subject.synced.is_set()
        assert cached(cache) == await versions(api)
        task.cancel()

    run_virtual(main)


def test_nothing_is_listed_again_when_a_watch_is_only_cut() -> None:
    async def main(clock: VirtualClock) -> None:
        server = EmbeddedServer(clock, random.Random(1))
        api, cache = live(server), Cache()
        subject = reflector(Cutting(server, ["cut after one", "end after two", "cut at once"]), clock, cache)
        task = asyncio.create_task(subject.run())
        await subject.synced.wait()
        for index in range(10):
            await api.create("/api/v1/nodes", node(f"node-{index}"))
            await asyncio.sleep(1)
        assert cached(cache) == await versions(api)
        assert subject.lists == 1
        assert len(cache.calls) == 10
        task.cancel()

    run_virtual(main)


def test_after_410_only_what_changed_is_handed_on() -> None:
    async def main(clock: VirtualClock) -> None:
        server = EmbeddedServer(clock, random.Random(1))
        api, cache = live(server), Cache()
        for index in range(5):
            await api.create("/api/v1/nodes", node(f"node-{index}"))
        subject = reflector(Cutting(server, ["error 410"]), clock, cache)
        task = asyncio.create_task(subject.run())
        await subject.synced.wait()
        await api.delete("/api/v1/nodes/node-1")
        await api.patch("/api/v1/nodes/node-2", {"metadata": {"labels": {"a": "b"}}})
        await api.delete("/api/v1/nodes/node-3")
        await api.create("/api/v1/nodes", node("node-3"))
        cache.calls.clear()
        await asyncio.sleep(5)
        assert subject.lists == 2
        assert len(cache.calls) == 4  # gone; changed; the old node-3 gone, the new one there
        assert cached(cache) == await versions(api)
        task.cancel()

    run_virtual(main)


def test_a_server_that_forgets_at_once_is_not_listed_all_the_time() -> None:
    async def main(clock: VirtualClock) -> None:
        server = EmbeddedServer(clock, random.Random(1))
        subject = reflector(Cutting(server, ["refused 410"] * 1000), clock, Cache())
        task = asyncio.create_task(subject.run())
        await asyncio.sleep(600)
        assert 10 < subject.lists < 30
        task.cancel()

    run_virtual(main)


@pytest.mark.parametrize("failure", ["error 500", "no json", "refused 400"])
def test_what_a_watch_that_always_fails_does_not_bring_is_listed_but_not_all_the_time(failure: str) -> None:
    async def main(clock: VirtualClock) -> None:
        server = EmbeddedServer(clock, random.Random(1))
        api, cache = live(server), Cache()
        subject = reflector(Cutting(server, [failure] * 10_000), clock, cache)
        task = asyncio.create_task(subject.run())
        await subject.synced.wait()
        await asyncio.sleep(300)
        await api.create("/api/v1/nodes", node("late"))
        await asyncio.sleep(300)
        assert cached(cache) == await versions(api)
        assert 10 < subject.lists < 30
        task.cancel()

    run_virtual(main)


def test_a_quiet_watch_resumes_from_its_last_bookmark_and_is_not_listed_anew() -> None:
    async def main(clock: VirtualClock) -> None:
        server = EmbeddedServer(clock, random.Random(1))
        transport = Cutting(server, [])
        subject = reflector(transport, clock, Cache())
        task = asyncio.create_task(subject.run())
        await subject.synced.wait()
        for minute in range(60):
            await live(server).create("/api/v1/namespaces", {"metadata": {"name": f"n-{minute}"}})
            await asyncio.sleep(60)
        assert subject.lists == 1
        assert 5 <= subject.watches <= 13
        last = transport.requests[-1].query
        assert last["allowWatchBookmarks"] == "true"
        assert 300 <= int(last["timeoutSeconds"]) <= 600
        assert int(last["resourceVersion"]) > 10
        task.cancel()

    run_virtual(main)


def test_an_api_server_that_is_down_is_one_log_line_and_one_when_it_is_back(caplog: pytest.LogCaptureFixture) -> None:
    async def main(clock: VirtualClock) -> None:
        server = EmbeddedServer(clock, random.Random(1))
        caplog.set_level(logging.INFO)
        subject = reflector(Cutting(server, [], ["not there"] * 20), clock, Cache())
        task = asyncio.create_task(subject.run())
        await subject.synced.wait()
        assert 20 < clock.monotonic() < 200
        lines = [record.getMessage() for record in caplog.records if record.name.endswith("trouble")]
        assert len(lines) == 2
        assert "not reachable" in lines[0]
        assert "trouble ended" in lines[1]
        task.cancel()

    run_virtual(main)


def test_a_missing_rule_is_named_and_the_kind_comes_once_it_is_there(caplog: pytest.LogCaptureFixture) -> None:
    async def main(clock: VirtualClock) -> None:
        server = EmbeddedServer(clock, random.Random(1))
        subject = reflector(Cutting(server, [], ["refused 403"] * 5), clock, Cache(), RESOURCE_SLICE)
        task = asyncio.create_task(subject.run())
        await subject.synced.wait()
        assert (
            "apiGroups=['resource.k8s.io'] resources=['resourceslices'] verbs=['get', 'list', 'watch']" in caplog.text
        )
        assert caplog.text.count("RBAC rule missing") == 1
        task.cancel()

    run_virtual(main)


def device_class(name: str, selector: object = None) -> Object:
    spec = {} if selector is None else {"selectors": [{"cel": {"expression": selector}}]}
    return {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": name}, "spec": spec}


class Picky(Cache):
    """Cannot read objects with a label `bad`."""

    def apply(self, old: Object | None, new: Object | None) -> None:
        if new is not None and "bad" in (new["metadata"].get("labels") or {}):
            raise DecodeError("spec.x", "is odd", kind=new["kind"], name=new["metadata"]["name"])
        super().apply(old, new)


def test_an_unreadable_object_is_reported_once_skipped_and_taken_up_when_mended(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def main(clock: VirtualClock) -> None:
        server = EmbeddedServer(clock, random.Random(1))
        api, cache = live(server), Picky()
        await api.create("/api/v1/nodes", node("good"))
        await api.create("/api/v1/nodes", node("worse", bad="yes"))
        subject = reflector(server, clock, cache)
        task = asyncio.create_task(subject.run())
        await subject.synced.wait()
        for number in range(3):
            await api.patch("/api/v1/nodes/worse", {"metadata": {"labels": {"n": str(number)}}})
        await api.patch("/api/v1/nodes/good", {"metadata": {"labels": {"bad": "now"}}})
        await asyncio.sleep(1)
        assert cache.objects == {}
        lines = [record.getMessage() for record in caplog.records]
        assert lines == [
            "object skipped kind=Node name=worse problem=Node worse: spec.x: is odd",
            "object skipped kind=Node name=good problem=Node good: spec.x: is odd",
        ]
        await api.patch("/api/v1/nodes/good", {"metadata": {"labels": {"bad": None}}})
        await api.delete("/api/v1/nodes/worse")
        await asyncio.sleep(1)
        assert list(cache.objects) == ["good"]
        assert subject.mirror.unreadable == {}
        task.cancel()

    run_virtual(main)


def test_older_versions_arrive_as_v1() -> None:
    async def main(clock: VirtualClock) -> None:
        server = EmbeddedServer(clock, random.Random(1))
        cache = Cache()
        slice_ = {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceSlice",
            "metadata": {"name": "s"},
            "spec": {
                "driver": "gpu.example.com",
                "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1},
                "nodeName": "node-1",
                "devices": [{"name": "gpu-0", "attributes": {"model": {"string": "a"}}}],
            },
        }
        await live(server).create(RESOURCE_SLICE.path(), slice_)
        subject = reflector(server, clock, cache, RESOURCE_SLICE, version="v1beta1")
        task = asyncio.create_task(subject.run())
        await subject.synced.wait()
        [device] = cache.objects["s"]["spec"]["devices"]
        assert device == {"name": "gpu-0", "attributes": {"model": {"string": "a"}}}
        await live(server).patch(RESOURCE_SLICE.path(name="s"), {"spec": {"pool": {"generation": 2}}})
        await asyncio.sleep(1)
        assert cache.objects["s"]["apiVersion"] == "resource.k8s.io/v1"
        assert cache.objects["s"]["spec"]["pool"]["generation"] == 2
        task.cancel()

    run_virtual(main)


def test_only_what_keep_keeps_is_held() -> None:
    async def main(clock: VirtualClock) -> None:
        server = EmbeddedServer(clock, random.Random(1))
        seen: list[tuple[Object | None, Object | None]] = []

        class Handler:
            def apply(self, old: Object | None, new: Object | None) -> None:
                seen.append((old, new))

        await live(server).create(DEVICE_CLASS.path(), device_class("c"))
        subject = reflector(server, clock, Handler(), DEVICE_CLASS, keep=lambda obj: {"metadata": obj["metadata"]})
        task = asyncio.create_task(subject.run())
        await subject.synced.wait()
        await live(server).delete(DEVICE_CLASS.path(name="c"))
        await asyncio.sleep(1)
        old, new = seen[-1]
        assert new is None
        assert old is not None
        assert list(old) == ["metadata"]
        task.cancel()

    run_virtual(main)


def test_what_a_handler_raises_beyond_unreadable_objects_ends_the_reflector() -> None:
    async def main(clock: VirtualClock) -> None:
        class Broken:
            def apply(self, old: Object | None, new: Object | None) -> None:
                raise ZeroDivisionError

        server = EmbeddedServer(clock, random.Random(1))
        await live(server).create("/api/v1/nodes", node("n"))
        with pytest.raises(ZeroDivisionError):
            await reflector(server, clock, Broken()).run()

    run_virtual(main)


def test_others_get_their_turn_during_a_long_list() -> None:
    async def main(clock: VirtualClock) -> None:
        server = EmbeddedServer(clock, random.Random(1))
        for index in range(1000):
            await live(server).create("/api/v1/nodes", node(f"node-{index}"))
        turns = 0

        async def other() -> None:
            nonlocal turns
            while True:
                await asyncio.sleep(0)
                turns += 1

        busy = asyncio.create_task(other())
        subject = reflector(server, clock, Cache())
        task = asyncio.create_task(subject.run())
        await subject.synced.wait()
        assert turns >= 5
        busy.cancel()
        task.cancel()

    run_virtual(main)


def test_a_version_that_is_known_from_elsewhere_is_remembered_and_not_handed_on() -> None:
    seen: list[tuple[str | None, str | None]] = []

    class Seen:
        def apply(self, old: dict[str, Any] | None, new: dict[str, Any] | None) -> None:
            seen.append(tuple(o and o["metadata"]["resourceVersion"] for o in (old, new)))  # type: ignore[arg-type]

    def version(number: int) -> dict[str, Any]:
        return {"metadata": {"name": "a", "uid": "u", "resourceVersion": str(number)}}

    known = {"2"}
    mirror = Mirror("Pod", Seen(), known=lambda obj: obj["metadata"]["resourceVersion"] in known)
    for number in (1, 2, 3):
        mirror.put(version(number))
    mirror.remove(("", "a"))
    assert seen == [(None, "1"), ("2", "3"), ("3", None)]
