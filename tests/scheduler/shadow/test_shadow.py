"""A shadow beside a scheduler of the other side: it writes nothing, and tells where the two differ."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from random import Random
from typing import Any

import pytest

from dra_allocator.allocator import Allocator
from dra_api.transport import Request, Response
from dra_embedded.virtual_time import VirtualClock, run_virtual
from dra_scheduler.cache.pod_info import PodInfo
from dra_scheduler.cycle.decision import Reject
from dra_scheduler.settings import Settings
from dra_scheduler.shadow.durations import Durations
from dra_scheduler.shadow.judge import Judge
from dra_scheduler.shadow.opinion import Compared
from dra_scheduler.shadow.run import run_shadow
from dra_scheduler.shadow.shadow import Shadow
from dra_scheduler.shadow.tally import Tally
from support.known import known_cluster, some_nodes
from support.objects import make_pod
from support.stage import Stage, claim, device_class, node, on_stage, pod, resource_slice, template

Raw = dict[str, Any]
OTHERS = Settings(scheduler_names=("dra-scheduler",))


class Watched:
    """The transport of the shadow: notes the methods of its requests."""

    def __init__(self, stage: Stage) -> None:
        self.transport = stage.transport
        self.methods: set[str] = set()

    async def send(self, request: Request) -> Response:
        self.methods.add(request.method)
        return await self.transport.send(request)

    def watch(self, request: Request) -> Any:
        self.methods.add(request.method)
        return self.transport.watch(request)


Script = Callable[[Stage], Awaitable[None]]


def shadowed(
    script: Script, *, start: bool = True, names: tuple[str, ...] | None = None
) -> tuple[list[Compared], Tally]:
    """Play a script beside a shadow; `start`: with a scheduler of the other side."""

    async def play(stage: Stage) -> tuple[list[Compared], Tally, set[str]]:
        told: list[Compared] = []
        stop = asyncio.Event()
        watched = Watched(stage)
        began = asyncio.Event()
        running = asyncio.create_task(
            run_shadow(
                watched,
                Settings(),
                stage.clock,
                Random(5),
                names=names,
                stop=stop,
                tell=told.append,
                began=lambda _: began.set(),
            )
        )
        await began.wait()
        await script(stage)
        await asyncio.sleep(5)
        stop.set()
        return told, await running, watched.methods

    told, tally, methods = on_stage(play, OTHERS, start=start)
    assert methods == {"GET"}
    return told, tally


async def two_nodes(stage: Stage) -> None:
    await stage.create(node("a"), node("b"), device_class(), template())
    await stage.create(resource_slice("a", 2), resource_slice("b", 2))


class Silent(Watched):
    """A server that never answers for nodes."""

    async def send(self, request: Request) -> Response:
        if request.path.endswith("/nodes"):
            await asyncio.Event().wait()
        return await super().send(request)


def test_a_shadow_can_be_stopped_before_everything_has_been_read() -> None:
    async def play(stage: Stage) -> Tally:
        stop, began = asyncio.Event(), asyncio.Event()
        running = asyncio.create_task(
            run_shadow(
                Silent(stage),
                Settings(),
                stage.clock,
                Random(5),
                names=None,
                stop=stop,
                tell=lambda _: None,
                began=lambda _: began.set(),
            )
        )
        await asyncio.sleep(1)
        assert not began.is_set()
        stop.set()
        return await asyncio.wait_for(running, 1)

    assert not any(on_stage(play, OTHERS, start=False).counts.values())


def test_two_schedulers_with_one_choice_agree() -> None:
    async def script(stage: Stage) -> None:
        await stage.create(node("a"), device_class(), template(), resource_slice("a", 1))
        await stage.create(pod("p", template="gpu"))

    told, tally = shadowed(script)
    (one,) = told
    assert one.kind in ("same", "first")
    assert (one.their_node, one.their_devices) == (
        "a",
        {next(iter(one.their_devices)): ("gpu=gpu.example.com/a/gpu-0-0",)},
    )
    assert tally.serious == 0


def test_many_pods_are_each_compared_once_and_nothing_is_contradicted() -> None:
    async def script(stage: Stage) -> None:
        await two_nodes(stage)
        for number in range(6):
            await stage.create(pod(f"p{number}", template="gpu"))
        await asyncio.sleep(3)
        for number in range(2):
            await stage.delete(pod(f"p{number}"))
        await asyncio.sleep(20)

    told, tally = shadowed(script)
    bound = [one.name for one in told if one.their_node]
    assert len(bound) == len(set(bound)) >= 4
    assert tally.serious == 0
    assert tally.deciding.count >= 6


def test_pods_of_any_scheduler_are_decided_or_only_those_of_the_names_given() -> None:
    async def script(stage: Stage) -> None:
        await two_nodes(stage)
        await stage.create(pod("p", template="gpu", schedulerName="other"))
        await asyncio.sleep(1)
        await stage.delete(pod("p"))

    told, _ = shadowed(script, start=False)
    assert [one.kind for one in told] == ["gone"]
    assert shadowed(script, start=False, names=("dra-scheduler",))[0] == []


def bind_by_hand(name: str, to: str, device: str, claim_name: str = "one") -> Script:
    async def script(stage: Stage) -> None:
        made = claim(claim_name)
        status = {
            "allocation": {
                "devices": {"results": [{"request": "gpu", "driver": "gpu.example.com", "pool": to, "device": device}]}
            },
            "reservedFor": [{"resource": "pods", "name": name, "uid": (await stage.pod(name))["metadata"]["uid"]}],
        }
        await stage.patch(made, {"status": status}, "status")
        target = {"apiVersion": "v1", "kind": "Node", "name": to}
        binding = {"metadata": {"name": name}, "target": target}
        await stage.send("POST", f"/api/v1/namespaces/default/pods/{name}/binding", binding)

    return script


def test_a_choice_that_is_none_by_our_rules_is_a_contradiction() -> None:
    async def script(stage: Stage) -> None:
        await two_nodes(stage)
        wants = claim("one")
        expression = 'device.attributes["gpu.example.com"].model == "m"'
        wants["spec"]["devices"]["requests"][0]["exactly"]["selectors"] = [{"cel": {"expression": expression}}]
        await stage.create(wants, pod("p", claim="one"))
        await asyncio.sleep(1)
        await bind_by_hand("p", "a", "gpu-0-0")(stage)

    (one,), tally = shadowed(script, start=False)
    assert one.kind == "only-theirs"
    assert "model" in one.text
    assert tally.serious == 1


@pytest.mark.parametrize("places", [("a", "b"), ("b", "a")])
def test_what_we_assume_for_other_pods_does_not_speak_against_a_choice(places: tuple[str, str]) -> None:
    async def script(stage: Stage) -> None:
        await stage.create(node("a"), node("b"), device_class(), resource_slice("a", 1), resource_slice("b", 1))
        await stage.create(claim("one"), claim("two"), pod("p", claim="one"), pod("q", claim="two"))
        await asyncio.sleep(1)
        for name, to, claim_name in zip("pq", places, ("one", "two"), strict=True):
            await bind_by_hand(name, to, "gpu-0-0", claim_name)(stage)
            await asyncio.sleep(5)

    told, tally = shadowed(script, start=False)
    assert sorted(one.name for one in told) == ["p", "q"]
    assert tally.serious == 0


def test_what_other_claims_have_speaks_against_a_choice_whatever_we_had_assumed_for_them() -> None:
    async def script(stage: Stage) -> None:
        await stage.create(node("a"), device_class(), resource_slice("a", 2))
        await stage.create(claim("one"), claim("two"), pod("p", claim="one"), pod("q", claim="two"))
        await asyncio.sleep(1)
        pick = {"request": "gpu", "driver": "gpu.example.com", "pool": "a"}
        both = [pick | {"device": f"gpu-0-{number}"} for number in range(2)]
        await stage.patch(claim("one"), {"status": {"allocation": {"devices": {"results": both}}}}, "status")
        await bind_by_hand("q", "a", "gpu-0-1", "two")(stage)

    told, _ = shadowed(script, start=False)
    assert [(one.kind, one.name) for one in told if one.their_node] == [("only-theirs", "q")]


def test_another_choice_that_does_by_our_rules_is_only_another_choice() -> None:
    async def script(stage: Stage) -> None:
        await stage.create(node("a"), device_class(), resource_slice("a", 2), claim("one"), pod("p", claim="one"))
        await asyncio.sleep(1)
        await bind_by_hand("p", "a", "gpu-0-1")(stage)

    (one,), tally = shadowed(script, start=False)
    assert one.kind == "other-devices"
    assert one.our_devices == {"one": ("gpu=gpu.example.com/a/gpu-0-0",)}
    assert one.their_devices == {"one": ("gpu=gpu.example.com/a/gpu-0-1",)}
    assert tally.ours.count == tally.theirs.count == 1


def test_a_scheduler_that_finds_nothing_where_we_do_is_a_contradiction_and_frees_our_devices() -> None:
    async def script(stage: Stage) -> None:
        await stage.create(node("a"), device_class(), resource_slice("a", 1), claim("one"), pod("p", claim="one"))
        await asyncio.sleep(1)
        condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "no"}
        await stage.patch(pod("p"), {"status": {"conditions": [condition]}}, "status")
        await asyncio.sleep(1)
        await stage.create(claim("two"), pod("q", claim="two"))
        await asyncio.sleep(90)

    told, tally = shadowed(script, start=False)
    assert [(one.kind, one.name) for one in told[:2]] == [("only-ours", "p"), ("unanswered", "q")]
    assert told[0].text == "Unschedulable: no"
    assert tally.serious == 1


def test_a_pod_with_what_we_do_not_evaluate_is_no_difference() -> None:
    async def script(stage: Stage) -> None:
        await two_nodes(stage)
        spread = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
        await stage.create(pod("p", template="gpu", topologySpreadConstraints=[spread]))

    told, tally = shadowed(script, start=False)
    assert [one.kind for one in told] == ["not-evaluated"]
    assert tally.serious == 0


def test_a_shadow_that_is_gone_over_for_long_holds_no_more_than_it_did() -> None:
    """What is kept of a pod goes with the pod."""

    async def script(stage: Stage) -> None:
        await two_nodes(stage)
        for number in range(40):
            await stage.create(pod(f"p{number}", template="gpu"))
            await asyncio.sleep(2)
            await stage.delete(pod(f"p{number}"))
            await asyncio.sleep(2)

    _, tally = shadowed(script)
    assert sum(tally.counts.values()) == 40


def test_a_pod_that_is_not_evaluated_is_told_once_whatever_else_happens_to_it() -> None:
    async def script(stage: Stage) -> None:
        await two_nodes(stage)
        spread = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
        await stage.create(pod("p", template="gpu", topologySpreadConstraints=[spread]))
        for message in ("one", "two", "three"):
            await asyncio.sleep(2)
            condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}
            await stage.patch(pod("p"), {"status": {"conditions": [condition]}}, "status")

    told, _ = shadowed(script, start=False)
    assert [one.kind for one in told] == ["not-evaluated"]


class Slow:
    """A cycle that needs a while to find that a pod fits nowhere."""

    async def decide(self, pod: PodInfo) -> Reject:
        await asyncio.sleep(1)
        return Reject("unschedulable", frozenset({"DynamicResources"}), 1, {"no": 1})


def test_a_decision_that_comes_after_the_other_scheduler_has_bound_the_pod_counts_for_nothing() -> None:
    async def play(clock: VirtualClock) -> list[Compared]:
        cluster = known_cluster(some_nodes(1))
        told: list[Compared] = []
        judge = Judge(cluster, Allocator(share_ids=str), clock)
        slow: Any = Slow()
        shadow = Shadow(cluster, slow, judge, Settings(), clock, names=None, tell=told.append)
        running = asyncio.create_task(shadow.run())
        waiting, bound = make_pod("p"), make_pod("p", node="n0")
        bound["metadata"]["resourceVersion"] = str(int(waiting["metadata"]["resourceVersion"]) + 1)
        cluster.apply_pod(None, waiting)
        await asyncio.sleep(0.1)
        cluster.apply_pod(waiting, bound)
        await asyncio.sleep(2)
        cluster.apply_pod(bound, None)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        return told

    assert [one.kind for one in run_virtual(play)] == ["first"]


@pytest.mark.parametrize("seconds", [0.00001, 0.001, 0.0123, 1.5, 900.0])
def test_quantiles_are_right_within_a_bucket(seconds: float) -> None:
    durations = Durations()
    for _ in range(99):
        durations.add(seconds)
    durations.add(seconds * 100)
    assert seconds <= durations.quantile(0.5) * 1.0001 <= seconds * 1.13
    assert durations.largest == seconds * 100
    assert Durations().quantile(0.5) == 0.0
