"""Something goes before one of a pod's writes: the pod, its node, its claim, its devices. Each write has its turn."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from dra_api.transport import Request, Response, Transport
from dra_bench.simulation.judge import unsafe, violations
from dra_bench.simulation.state import read_state
from dra_embedded.clients.api import Api
from dra_scheduler.settings import Settings
from support.stage import GROUP, Raw, Stage, claim, device_class, node, on_stage, pod, resource_slice

NAME = "example.com/gpu"
ON = Settings(feature_gates={"DRANodeAllocatableResources": True})
TAINT = {"key": "example.com/broken", "effect": "NoSchedule"}


class Interrupting:
    """Awaits `event` just before the write of this number."""

    def __init__(self, inner: Transport, number: int, event: Callable[[], Awaitable[None]]) -> None:
        self._inner = inner
        self._left = number
        self._event = event
        self.happened = False

    async def send(self, request: Request) -> Response:
        if request.method != "GET" and "/events" not in request.path:
            self._left -= 1
            if self._left == -1:
                self.happened = True
                await self._event()
        return await self._inner.send(request)

    @asynccontextmanager
    async def watch(self, request: Request) -> AsyncIterator[AsyncIterator[bytes]]:
        async with self._inner.watch(request) as lines:
            yield lines


def asking() -> Raw:
    """A pod with a claim for a device that takes cpu, and an extended resource."""
    made = pod("p", claim="c", cpu="1")
    made["spec"]["containers"][0]["resources"]["requests"][NAME] = "1"
    made["spec"]["containers"][0]["resources"]["limits"] = {NAME: "1"}
    return made


def taking(node_name: str) -> Raw:
    made = resource_slice(node_name, 1, number=1)
    made["spec"] |= {"driver": "cpu.example.com"}
    made["spec"]["devices"][0]["nodeAllocatableResources"] = {"cpu": {"mapping": {"deviceMultiplier": "2"}}}
    return made


def rule() -> Raw:
    spec = {"deviceSelector": {"driver": "cpu.example.com"}, "taint": TAINT}
    return {"apiVersion": GROUP, "kind": "DeviceTaintRule", "metadata": {"name": "broken"}, "spec": spec}


async def begin(stage: Stage) -> None:
    await stage.create(class_of_gpus(), device_class("cpu", 'device.driver == "cpu.example.com"'), claim("c", of="cpu"))
    await stage.create(node("n0"), resource_slice("n0", 1), taking("n0"))


async def lose_devices(stage: Stage) -> None:
    await stage.delete(resource_slice("n0", 1))
    await stage.delete(taking("n0"))


async def lose_node(stage: Stage) -> None:
    await lose_devices(stage)
    await stage.delete(node("n0"))


EVENTS: dict[str, Callable[[Stage], Awaitable[None]]] = {
    "the pod is deleted": lambda stage: stage.delete(asking()),
    "the claim is deleted": lambda stage: stage.delete(claim("c")),
    "the node is deleted": lose_node,
    "the devices are withdrawn": lose_devices,
    "a device is tainted": lambda stage: stage.create(rule()),
    "the class is deleted": lambda stage: stage.delete(device_class()),
}


@pytest.mark.parametrize("event", EVENTS)
def test_whatever_goes_before_any_write_nothing_is_left_and_what_can_be_bound_is(event: str) -> None:
    def going(number: int) -> Callable[[Stage], Awaitable[bool]]:
        async def play(stage: Stage) -> bool:
            await begin(stage)
            transport = Interrupting(stage.transport, number, lambda: EVENTS[event](stage))
            await stage.start(transport)
            await stage.settle()
            await stage.create(asking())
            await stage.settle(15)
            found = list(unsafe(await read_state(Api(stage.cluster.transport))))
            assert found == [], f"before write {number}"
            bound = (await stage.nodes_of_pods()).get("p")
            if event == "the node is deleted" and number < 6:
                assert not bound
            if event != "the pod is deleted" and not bound:
                # Elsewhere all is well.
                await stage.create(node("n1"), resource_slice("n1", 1, number=7), other_cores())
                if event == "a device is tainted":
                    await stage.delete(rule())
                if event == "the class is deleted":
                    await stage.create(class_of_gpus())
                if event == "the claim is deleted":
                    await stage.create(claim("c", of="cpu"))
                await stage.settle(40)
                assert (await stage.nodes_of_pods())["p"]
                assert list(violations(await read_state(Api(stage.cluster.transport)))) == []
            return transport.happened

        return play

    writes = 0
    while on_stage(going(writes), ON, start=False):
        writes += 1
    assert writes >= 7, "claim made and allocated, the other protected and allocated, two statuses, the binding"


def other_cores() -> Raw:
    made = taking("n1")
    made["metadata"]["name"] += "-cores"
    return made


def class_of_gpus() -> Raw:
    stands_for = device_class()
    stands_for["spec"]["extendedResourceName"] = NAME
    return stands_for
