"""The scheduler as a whole: start, stop, and what stops it."""

import asyncio

import pytest

from dra_api.transport import Request, Response
from dra_scheduler.client.errors import NoResourceApiError
from dra_scheduler.errors import TaskDiedError
from dra_scheduler.settings import Settings
from support.faulty import Faulty, status
from support.invariants import check_invariants
from support.stage import Stage, device_class, node, on_stage, pod, resource_slice, template


class Hanging:
    """Bindings get no answer until `go` is set."""

    def __init__(self, inner: Faulty) -> None:
        self.inner = inner
        self.go = asyncio.Event()

    async def send(self, request: Request) -> Response:
        if request.path.endswith("/binding"):
            await self.go.wait()
        return await self.inner.send(request)

    def watch(self, request: Request) -> object:
        return self.inner.watch(request)


def test_it_is_ready_when_all_caches_are_filled() -> None:
    async def play(stage: Stage) -> None:
        await stage.create(node("n0"), pod("p", nodeName="n0"))
        scheduler = stage.scheduler
        assert scheduler is not None
        assert not scheduler.ready
        await scheduler.filled.wait()
        assert scheduler.ready
        assert (len(scheduler.cluster.nodes), len(scheduler.cluster.pods)) == (1, 1)
        await stage.stop()
        assert not scheduler.ready

    on_stage(play)


def test_a_cluster_without_the_api_is_an_error_that_says_so() -> None:
    async def play(stage: Stage) -> None:
        transport = Faulty(stage.transport)
        transport.fail("GET /apis/resource.k8s.io", status(404, "NotFound"))
        await stage.start(transport)
        with pytest.raises(NoResourceApiError):
            await stage.stop()

    on_stage(play, start=False)


def test_a_stop_finishes_the_writes_under_way_and_begins_nothing_new() -> None:
    async def play(stage: Stage) -> None:
        transport = Hanging(Faulty(stage.transport))
        await stage.start(transport)  # type: ignore[arg-type]
        await stage.create(node("n0"), pod("p"))
        await asyncio.sleep(1)
        asyncio.get_running_loop().call_later(2, transport.go.set)
        stopping = asyncio.create_task(stage.stop())
        await asyncio.sleep(0.5)
        await stage.create(pod("late"))
        await stopping
        assert await stage.nodes_of_pods() == {"p": "n0", "late": ""}

    on_stage(play, start=False)


def test_a_stop_does_not_wait_longer_than_its_grace_and_the_next_start_takes_it_up() -> None:
    async def play(stage: Stage) -> None:
        await stage.start(Hanging(Faulty(stage.transport)))  # type: ignore[arg-type]
        await stage.create(node("n0"), device_class(), resource_slice("n0", 1), template(), pod("p", template="gpu"))
        await asyncio.sleep(1)
        begin = stage.clock.monotonic()
        await stage.stop()
        assert stage.clock.monotonic() - begin == pytest.approx(3)
        assert (await stage.nodes_of_pods())["p"] == ""
        await stage.start()
        await stage.settle()
        await check_invariants(stage)
        assert (await stage.nodes_of_pods())["p"] == "n0"

    on_stage(play, Settings(stop_grace=3), start=False)


def test_a_part_that_dies_stops_the_scheduler_with_its_error() -> None:
    async def play(stage: Stage) -> None:
        scheduler = stage.scheduler
        assert scheduler is not None
        await scheduler.filled.wait()

        def broken(old: object, new: object) -> None:
            raise ZeroDivisionError("broken")

        scheduler.cluster.nodes.set_node = broken  # type: ignore[method-assign, assignment]
        await stage.create(node("n0"))
        await asyncio.sleep(1)
        with pytest.raises(TaskDiedError, match="broken"):
            await stage.stop()

    on_stage(play)


def test_pods_wait_for_their_slot_when_too_many_are_in_flight() -> None:
    async def play(stage: Stage) -> None:
        transport = Hanging(Faulty(stage.transport))
        await stage.start(transport)  # type: ignore[arg-type]
        await stage.create(node("n0"), *(pod(f"p{i}") for i in range(5)))
        await asyncio.sleep(1)
        scheduler = stage.scheduler
        assert scheduler is not None
        assert sum(scheduler.cluster.pods.assumed_node(p.uid) is not None for p in scheduler.cluster.pods) == 2
        transport.go.set()
        await stage.settle()
        assert set((await stage.nodes_of_pods()).values()) == {"n0"}

    on_stage(play, Settings(max_in_flight=2), start=False)
