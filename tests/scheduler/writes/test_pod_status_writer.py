"""A pod's status about its devices: repeated until it is known, and compared with what was sent."""

from __future__ import annotations

from dataclasses import replace

import orjson
import pytest

from dra_api.transport import Request
from dra_embedded.virtual_time import VirtualClock, run_virtual
from dra_scheduler.client.errors import ForbiddenError
from dra_scheduler.writes.errors import BindLostError, StatusDroppedError, UnknownOutcomeError
from dra_scheduler.writes.pod_status_writer import PodStatusWriter
from dra_scheduler.writes.refs import PodRef
from support.faulty import status
from support.writing import NS, World

FIELD = "nodeAllocatableResourceClaimStatuses"
ENTRY = {"resourceClaimName": "gpu", "mapping": [{"name": "cpu", "quantity": "1"}]}


def writer(world: World) -> PodStatusWriter:
    return PodStatusWriter(world.api, world.random, lambda: world.may_write)


async def pod_of(world: World) -> PodRef:
    body = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "pod"},
        "spec": {
            "containers": [{"name": "c", "image": "registry.example.com/c"}],
            "resourceClaims": [{"name": "gpu", "resourceClaimName": "gpu"}],
        },
    }
    return PodRef.of(await world.others.create(f"/api/v1/namespaces/{NS}/pods", body))


@pytest.mark.parametrize("executed", [True, False])
def test_what_devices_take_is_written_and_taken_back_also_when_answers_get_lost(executed: bool) -> None:
    async def main(clock: VirtualClock) -> None:
        world = World(clock)
        pod = await pod_of(world)
        world.faulty.fail("PATCH", executed=executed)
        await writer(world).node_resources(pod, [ENTRY])
        assert (await world.live(pod.path))["status"][FIELD] == [ENTRY]
        world.faulty.fail("PATCH", executed=executed)
        await writer(world).no_node_resources(pod)
        assert FIELD not in (await world.live(pod.path))["status"]

    run_virtual(main)


def test_what_the_server_drops_or_refuses_is_told_apart() -> None:
    def without(request: Request) -> Request:
        return replace(request, body=orjson.dumps({"status": {}}))

    async def main(clock: VirtualClock) -> None:
        world = World(clock)
        pod = await pod_of(world)
        world.faulty.rewrite("PATCH", without)
        with pytest.raises(StatusDroppedError, match="switch on the feature gate DRANodeAllocatableResources"):
            await writer(world).node_resources(pod, [ENTRY])
        world.faulty.fail("PATCH", status(403, "Forbidden"))
        with pytest.raises(ForbiddenError):
            await writer(world).node_resources(pod, [ENTRY])
        for _ in range(5):
            world.faulty.fail("PATCH", status(503))
        with pytest.raises(UnknownOutcomeError):
            await writer(world).node_resources(pod, [ENTRY])
        for _ in range(5):
            world.faulty.fail("PATCH")
        with pytest.raises(UnknownOutcomeError):
            await writer(world).node_resources(pod, [ENTRY])

    run_virtual(main)


def test_a_pod_that_is_gone_or_another_of_its_name_is_lost() -> None:
    async def main(clock: VirtualClock) -> None:
        world = World(clock)
        pod = await pod_of(world)
        with pytest.raises(BindLostError, match="its status was not written"):
            await writer(world).node_resources(PodRef(pod.namespace, pod.name, "another-uid"), [ENTRY])
        await world.others.delete(pod.path)
        with pytest.raises(BindLostError, match="deleted before it was bound"):
            await writer(world).node_resources(pod, [ENTRY])

    run_virtual(main)
