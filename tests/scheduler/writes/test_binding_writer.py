from __future__ import annotations

import orjson
import pytest

from dra_api.transport import Response
from dra_embedded.virtual_time import VirtualClock, run_virtual
from dra_scheduler.client.errors import ForbiddenError, TooManyRequestsError
from dra_scheduler.writes.binding_writer import BindingWriter, Bound
from dra_scheduler.writes.errors import BindLostError, NotWriterError, UnknownOutcomeError
from dra_scheduler.writes.refs import PodRef
from support.faulty import status
from support.writing import World

BINDING = "POST /api/v1/namespaces/default/pods/pod/binding"
READ = "GET /api/v1/namespaces/default/pods/pod"


def writer(world: World) -> BindingWriter:
    return BindingWriter(world.api, world.random, lambda: world.may_write)


async def node_of(world: World, pod: PodRef) -> str | None:
    node: str | None = (await world.live(pod.path))["spec"].get("nodeName")
    return node


def test_a_pod_is_bound_with_its_uid() -> None:
    async def main(clock: VirtualClock) -> None:
        world = World(clock)
        pod = PodRef.of(await world.pod())
        assert await writer(world).bind(pod, "node-1") == Bound(pod, "node-1")
        assert await node_of(world, pod) == "node-1"
        [request] = world.faulty.requests
        assert request.body is not None
        sent = orjson.loads(request.body)
        assert sent["metadata"]["uid"] == pod.uid
        assert sent["target"] == {"apiVersion": "v1", "kind": "Node", "name": "node-1"}

    run_virtual(main)


@pytest.mark.parametrize("answer", [None, status(500), status(503, retry_after=1), status(504)])
def test_a_lost_answer_to_a_binding_that_took_effect_is_looked_up(answer: Response | None) -> None:
    async def main(clock: VirtualClock) -> None:
        world = World(clock)
        pod = PodRef.of(await world.pod())
        world.faulty.fail(BINDING, answer, executed=True)
        assert await writer(world).bind(pod, "node-1") == Bound(pod, "node-1", looked_up=True)
        assert len(world.faulty.sent(BINDING)) == 1

    run_virtual(main)


@pytest.mark.parametrize("answer", [None, status(500), status(503, retry_after=1), status(429, retry_after=2)])
def test_a_binding_that_did_not_take_effect_is_sent_again(answer: Response | None) -> None:
    async def main(clock: VirtualClock) -> None:
        world = World(clock)
        pod = PodRef.of(await world.pod())
        world.faulty.fail(BINDING, answer)
        assert await writer(world).bind(pod, "node-1") == Bound(pod, "node-1")
        assert len(world.faulty.sent(BINDING)) == 2

    run_virtual(main)


def test_a_pod_bound_elsewhere_or_gone_or_replaced_is_lost() -> None:
    async def main(clock: VirtualClock) -> None:
        world = World(clock)
        pod = PodRef.of(await world.pod())
        await BindingWriter(world.others, world.random).bind(pod, "node-2")
        with pytest.raises(BindLostError, match="is bound to node node-2, not node-1"):
            await writer(world).bind(pod, "node-1")
        with pytest.raises(BindLostError):
            await writer(world).bind(PodRef("default", "nobody", "u"), "node-1")
        other = PodRef("default", "pod", "00000000-0000-0000-0000-000000000000")
        with pytest.raises(BindLostError, match="created anew"):
            await writer(world).bind(other, "node-1")

    run_virtual(main)


def test_when_the_pod_cannot_be_read_either_nothing_is_concluded() -> None:
    async def main(clock: VirtualClock) -> None:
        world = World(clock)
        pod = PodRef.of(await world.pod())
        world.faulty.fail(BINDING, executed=True)
        for _ in range(10):
            world.faulty.fail(READ)
        with pytest.raises(UnknownOutcomeError, match="the outcome of binding to node-1 is unknown"):
            await writer(world).bind(pod, "node-1")
        world.faulty.faults.clear()
        assert await writer(world).is_bound(pod, "node-1")

    run_virtual(main)


def test_a_server_that_never_answers_a_binding_leaves_the_pod_unbound_for_certain() -> None:
    async def main(clock: VirtualClock) -> None:
        world = World(clock)
        pod = PodRef.of(await world.pod())
        for _ in range(5):
            world.faulty.fail(BINDING)
        with pytest.raises(BindLostError, match="not bound after 5 attempts"):
            await writer(world).bind(pod, "node-1")
        for _ in range(5):
            world.faulty.fail(BINDING, status(429, "TooManyRequests"))
        with pytest.raises(TooManyRequestsError):
            await writer(world).bind(pod, "node-1")
        assert await node_of(world, pod) is None

    run_virtual(main)


def test_a_refusal_is_raised_at_once_and_without_the_lease_nothing_is_sent() -> None:
    async def main(clock: VirtualClock) -> None:
        world = World(clock)
        pod = PodRef.of(await world.pod())
        world.faulty.fail(BINDING, status(403, "Forbidden"))
        with pytest.raises(ForbiddenError):
            await writer(world).bind(pod, "node-1")
        world.may_write = False
        with pytest.raises(NotWriterError):
            await writer(world).bind(pod, "node-1")
        assert len(world.faulty.requests) == 1

    run_virtual(main)
