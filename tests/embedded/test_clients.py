from __future__ import annotations

import asyncio
import itertools
import random
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dra_api.transport import Request
from dra_embedded.clients.api import Api, RefusedError
from dra_embedded.clients.informer import Informer
from dra_embedded.clients.work_queue import FIRST_DELAY, MAX_DELAY, WorkQueue
from dra_embedded.errors import EmbeddedError
from dra_embedded.server import EmbeddedServer
from dra_embedded.virtual_time import VirtualClock, run_virtual
from support.cutting import CHOICES, Cutting

PATH = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
FAULTS = CHOICES


@given(
    st.lists(st.sampled_from(FAULTS), max_size=12),
    st.lists(
        st.sampled_from([choice for choice in FAULTS if "after" not in choice and "error" not in choice]), max_size=6
    ),
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["put", "delete", "wait"])), max_size=25),
)
def test_an_informer_ends_up_with_the_truth_whatever_happens_to_its_watches(
    watches: list[str], lists: list[str], steps: list[tuple[str, str]]
) -> None:
    async def main(clock: VirtualClock) -> None:
        server = EmbeddedServer(clock, random.Random(1), history=4)
        changes: dict[str, dict[str, Any]] = {}

        def heard(old: dict[str, Any] | None, new: dict[str, Any] | None) -> None:
            key = (new if new is not None else old or {})["metadata"]["name"]
            assert changes.get(key) == old
            if new is None:
                del changes[key]
            else:
                changes[key] = new

        informer = Informer(Api(Cutting(server, watches, lists)), PATH, heard)
        task = asyncio.create_task(informer.run())
        for number, (name, step) in enumerate(steps):
            if step == "wait":
                await asyncio.sleep(2)
            elif step == "delete":
                await server.send(Request("DELETE", f"{PATH}/{name}"))
            else:
                body = orjson.dumps({"metadata": {"name": name}, "spec": {"holderIdentity": str(number)}})
                answer = await server.send(Request("POST", PATH, body=body))
                if answer.status == 409:
                    await server.send(Request("DELETE", f"{PATH}/{name}"))
        await asyncio.sleep(120)
        truth = orjson.loads((await server.send(Request("GET", PATH))).body)["items"]
        known = {key: obj["metadata"]["resourceVersion"] for key, obj in informer.objects.items()}
        assert known == {f"default/{obj['metadata']['name']}": obj["metadata"]["resourceVersion"] for obj in truth}
        assert {obj["metadata"]["name"] for obj in informer.objects.values()} == changes.keys()
        assert informer.synced.is_set()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run_virtual(main)


def test_a_refusal_says_what_the_server_said() -> None:
    async def main(clock: VirtualClock) -> None:
        api = Api(EmbeddedServer(clock, random.Random(1)))
        with pytest.raises(RefusedError, match=r'404 NotFound: leases.coordination.k8s.io "x" not found'):
            await api.request("GET", f"{PATH}/x")
        assert await api.find(f"{PATH}/x") is None

    run_virtual(main)


class ExpectedError(EmbeddedError):
    pass


def test_a_key_is_worked_on_once_at_a_time_and_again_when_added_meanwhile() -> None:
    async def main(clock: VirtualClock) -> list[str]:
        trace: list[str] = []

        async def work(key: str) -> None:
            trace.append(f"+{key}")
            await asyncio.sleep(1)
            trace.append(f"-{key}")

        queue = WorkQueue(work, workers=3)
        task = asyncio.create_task(queue.run())
        for key in ("a", "b", "a", "a"):
            queue.add(key)
        await asyncio.sleep(0.5)
        assert not queue.idle()
        queue.add("a")
        queue.add("a")
        await asyncio.sleep(5)
        assert queue.idle()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return trace

    assert run_virtual(main) == ["+a", "+b", "-a", "+a", "-b", "-a"]


def test_failing_work_is_tried_again_ever_later_and_its_failure_is_told() -> None:
    async def main(clock: VirtualClock) -> list[float]:
        times: list[float] = []

        async def work(key: str) -> None:
            times.append(clock.monotonic())
            if len(times) < 20:
                raise ExpectedError("not yet")

        queue = WorkQueue(work)
        task = asyncio.create_task(queue.run())
        queue.add("a")
        await asyncio.sleep(1)
        assert queue.failures() == {"a": "not yet"}
        await asyncio.sleep(3600)
        assert queue.failures() == {}
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return times

    times = run_virtual(main)
    delays = [later - earlier for earlier, later in itertools.pairwise(times)]
    assert len(times) == 20
    assert delays[0] == pytest.approx(FIRST_DELAY)
    assert all(b >= a - 1e-9 for a, b in itertools.pairwise(delays))
    assert max(delays) == pytest.approx(MAX_DELAY)


def test_work_can_ask_to_be_called_again_later() -> None:
    async def main(clock: VirtualClock) -> list[float]:
        times: list[float] = []

        async def work(key: str) -> float | None:
            times.append(clock.monotonic())
            return 10.0 if len(times) < 3 else None

        queue = WorkQueue(work)
        task = asyncio.create_task(queue.run())
        queue.add("a")
        await asyncio.sleep(100)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return times

    assert run_virtual(main) == [0.0, 10.0, 20.0]


def test_a_bug_in_the_work_ends_the_queue_loudly() -> None:
    async def main(clock: VirtualClock) -> None:
        async def work(key: str) -> None:
            raise LookupError("a bug")

        queue = WorkQueue(work)
        queue.add("a")
        await queue.run()

    with pytest.raises(ExceptionGroup) as caught:
        run_virtual(main)
    assert caught.group_contains(LookupError, match="a bug")
