"""What others do between a decision and its binding, and writes that fail just then."""

from __future__ import annotations

import asyncio

import pytest

from dra_api.transport import Response
from dra_scheduler.device_wait import Held
from dra_scheduler.settings import Settings
from dra_scheduler.writes.errors import ClaimLostError
from dra_scheduler.writes.refs import Consumer
from support.faulty import Faulty, status
from support.held_watch import HeldClaimWatch
from support.invariants import check_invariants
from support.known import known_cluster
from support.objects import make_allocation, make_claim, newer
from support.stage import GROUP, Raw, Stage, claim, device_class, node, on_stage, pod, resource_slice

CLAIM_STATUS = "PATCH /apis/resource.k8s.io/v1/namespaces/default/resourceclaims/c/status"
BINDING = "POST /api/v1/namespaces/default/pods/p/binding"
ATTACHED = {"type": "Attached", "status": "True", "reason": "Test", "message": ""}


def slow_slice(node_name: str) -> Raw:
    """A device that has to be attached first."""
    made = resource_slice(node_name, 1)
    made["spec"]["devices"][0] |= {"bindingConditions": ["Attached"], "bindingFailureConditions": ["Broken"]}
    return made


async def attach(stage: Stage) -> None:
    (result,) = (await stage.claims())["c"]["status"]["allocation"]["devices"]["results"]
    device = {key: result[key] for key in ("driver", "pool", "device")}
    told = {**device, "conditions": [{**ATTACHED, "lastTransitionTime": "2026-01-01T00:00:00Z"}]}
    await stage.patch(claim("c"), {"status": {"devices": [told]}}, "status")


async def waiting(stage: Stage) -> str:
    """Let a pod wait for its device; return the node that it is to go to."""
    await stage.create(device_class(), node("n0"), node("n1"), slow_slice("n0"), slow_slice("n1"), claim("c"))
    await stage.create(pod("p", claim="c"))
    await asyncio.sleep(5)
    return str((await stage.pod("p"))["status"]["nominatedNodeName"])


def test_a_pod_is_not_bound_with_what_its_claim_was_given_for_somebody_else_while_it_waited() -> None:
    async def play(stage: Stage) -> None:
        await waiting(stage)
        await stage.patch(claim("c"), {"status": {"allocation": None, "reservedFor": None}}, "status")
        await stage.create(node("n2"), resource_slice("n2", 1))
        theirs = make_allocation("gpu-0-0", node="n2") | {"allocationTimestamp": "2026-01-01T00:00:00Z"}
        await stage.patch(claim("c"), {"status": {"allocation": theirs}}, "status")
        await stage.settle(30)
        await check_invariants(stage)
        assert (await stage.nodes_of_pods())["p"] == "n2"

    on_stage(play)


def test_a_pod_is_not_bound_with_what_its_claim_was_given_for_somebody_else_while_its_other_claim_was_written() -> None:
    async def play(stage: Stage) -> None:
        transport = Faulty(stage.transport)
        await stage.create(device_class(), node("n0"), node("n1"), claim("c"), claim("d"))
        await stage.create(resource_slice("n0", 2), resource_slice("n1", 2))
        await stage.patch(claim("d"), {"status": {"allocation": make_allocation("gpu-0-0", node="n0")}}, "status")
        await stage.start(transport)
        await stage.settle()

        async def move() -> None:
            # The claim is nobody's yet, so a pod that cannot use it there may have it elsewhere.
            await stage.create(pod("q", claim="d", nodeSelector={"kubernetes.io/hostname": "n1"}))
            await asyncio.sleep(3)
            assert (await stage.nodes_of_pods())["q"] == "n1"

        transport.meanwhile(CLAIM_STATUS, move)
        both = pod("p", claim="c")
        both["spec"]["resourceClaims"].append({"name": "other", "resourceClaimName": "d"})
        await stage.create(both)
        await stage.settle(20)
        await check_invariants(stage)
        assert (await stage.nodes_of_pods()) == {"p": "n1", "q": "n1"}

    on_stage(play, start=False)


def test_devices_that_were_freed_before_a_pods_turn_to_write_its_shared_claim_came_are_not_taken_from_others() -> None:
    async def play(stage: Stage) -> None:
        transport = Faulty(stage.transport)
        await stage.create(device_class(), node("n0"), resource_slice("n0", 2), claim("c"), claim("d"), claim("e"))
        await stage.start(transport)
        await stage.settle()

        async def use_and_leave() -> None:
            await stage.create(pod("q", claim="d"))
            await asyncio.sleep(3)
            await stage.delete(pod("q"))
            await asyncio.sleep(3)
            await stage.create(pod("r", claim="e"))
            await asyncio.sleep(3)
            assert (await stage.nodes_of_pods())["r"] == "n0"

        transport.meanwhile(CLAIM_STATUS, use_and_leave)
        both = pod("p", claim="c")
        both["spec"]["resourceClaims"].append({"name": "other", "resourceClaimName": "d"})
        await stage.create(both)
        await stage.settle(20)
        await check_invariants(stage)
        scheduler = stage.scheduler
        assert scheduler is not None
        assert scheduler.counts.contested == 0, "that was no rival's device"
        assert "allocation" not in (await stage.claims())["d"]["status"]

    on_stage(play, start=False)


def test_the_device_of_a_claim_that_was_read_is_taken_before_the_watch_tells_it() -> None:
    async def play(stage: Stage) -> None:
        await stage.create(device_class(), node("n0"), resource_slice("n0", 1), claim("c"), claim("d"))
        await stage.create(node("n1"), resource_slice("n1", 1))
        lagging = HeldClaimWatch(stage.transport, held=True)
        transport = Faulty(lagging)
        await stage.start(transport)
        await stage.settle()
        theirs = {"status": {"allocation": make_allocation("gpu-0-0", node="n1")}}
        transport.meanwhile(CLAIM_STATUS, lambda: stage.patch(claim("c"), theirs, "status"))
        # The next attempt does not get so far.
        transport.fail(CLAIM_STATUS, status(403, "Forbidden"))
        await stage.create(pod("p", claim="c"))
        await asyncio.sleep(0.5)
        await stage.create(pod("q", claim="d", nodeSelector={"kubernetes.io/hostname": "n1"}))
        await asyncio.sleep(5)
        assert (await stage.nodes_of_pods())["q"] == ""
        lagging.let_go()

    on_stage(play, start=False)


def test_a_claim_that_is_deleted_after_it_was_written_without_an_answer_is_used_all_the_same() -> None:
    async def play(stage: Stage) -> None:
        await stage.create(device_class(), node("n0"), resource_slice("n0", 1), claim("c"), claim("d"))
        transport = Faulty(stage.transport)
        await stage.start(transport)
        await stage.settle()
        transport.fail(CLAIM_STATUS, executed=True)
        transport.meanwhile(CLAIM_STATUS, lambda: stage.delete(claim("c")))
        await stage.create(pod("p", claim="c"), pod("q", claim="d"))
        await stage.settle(30)
        await check_invariants(stage)
        assert await stage.nodes_of_pods() == {"p": "n0", "q": ""}

    on_stage(play, start=False)


def test_a_pod_whose_reservation_was_taken_away_while_it_waited_gets_it_back_before_it_is_bound() -> None:
    async def play(stage: Stage) -> None:
        transport = Faulty(stage.transport)
        await stage.start(transport)
        await waiting(stage)
        reserved: list[Raw] = []

        async def look() -> None:
            reserved.extend((await stage.claims())["c"]["status"].get("reservedFor") or ())

        transport.meanwhile(BINDING, look)
        await stage.patch(claim("c"), {"status": {"reservedFor": None}}, "status")
        await attach(stage)
        await stage.settle(30)
        assert (await stage.nodes_of_pods())["p"]
        assert [entry["name"] for entry in reserved] == ["p"]

    on_stage(play, start=False)


def test_a_claim_held_for_a_pod_must_have_the_allocation_that_was_written() -> None:
    cluster = known_cluster()
    written = make_claim("c", allocation=make_allocation("d", node="n0"), reserved=["p"])
    cluster.apply_claim(None, written)
    known = cluster.claims.get("default", "c")
    assert known is not None
    held = Held(known, known.allocation, Consumer("pods", "p", "uid-p"))
    held.check()
    # Given up and allocated anew while the watch was down: one step, as far as it is seen.
    cluster.apply_claim(written, newer(written, allocation=make_allocation("e", node="n0")))
    with pytest.raises(ClaimLostError, match="allocated otherwise"):
        held.check()


def test_a_pod_goes_elsewhere_when_its_node_goes_while_it_waits() -> None:
    async def play(stage: Stage) -> None:
        first = await waiting(stage)
        await stage.delete(node(first))
        await stage.delete(resource_slice(first, 1))
        await asyncio.sleep(15)
        other = (await stage.pod("p"))["status"].get("nominatedNodeName")
        assert other == {"n0": "n1", "n1": "n0"}[first]
        await attach(stage)
        await stage.settle(5)
        assert (await stage.nodes_of_pods())["p"] == other

    on_stage(play)


def test_a_pod_is_not_bound_to_a_node_that_went_while_its_claim_was_written() -> None:
    async def play(stage: Stage) -> None:
        transport = Faulty(stage.transport)
        await stage.create(device_class(), node("n0"), resource_slice("n0", 1), claim("c"))
        await stage.start(transport)
        await stage.settle()
        transport.meanwhile(CLAIM_STATUS, lambda: stage.delete(node("n0")))
        await stage.create(pod("p", claim="c"))
        await stage.settle(5)
        assert (await stage.nodes_of_pods())["p"] == ""
        assert not (await stage.claims())["c"]["status"].get("reservedFor")
        await stage.create(node("n1"), resource_slice("n1", 1))
        await stage.settle(20)
        assert (await stage.nodes_of_pods())["p"] == "n1"

    on_stage(play, start=False)


def test_an_allocation_that_could_not_be_given_up_is_given_up_soon_after() -> None:
    async def play(stage: Stage) -> None:
        transport = Faulty(stage.transport)
        await stage.create(device_class(), node("n0"), resource_slice("n0", 1), claim("c"))
        elsewhere = make_allocation("gpu-0-0", node="gone")
        await stage.patch(claim("c"), {"status": {"allocation": elsewhere}}, "status")
        transport.fail(CLAIM_STATUS, status(403, "Forbidden"))
        await stage.start(transport)
        await stage.create(pod("p", claim="c"))
        await stage.settle(20)
        assert (await stage.nodes_of_pods())["p"] == "n0"

    on_stage(play, start=False)


@pytest.mark.parametrize("write", [CLAIM_STATUS, BINDING])
def test_an_answer_that_no_api_server_gives_is_as_good_as_none(write: str) -> None:
    async def play(stage: Stage) -> None:
        transport = Faulty(stage.transport)
        await stage.create(device_class(), node("n0"), resource_slice("n0", 1), claim("c"))
        await stage.start(transport)
        await stage.settle()
        transport.fail(write, Response(200, b"<html>"), executed=True)
        await stage.create(pod("p", claim="c"))
        await stage.settle(20)
        await check_invariants(stage)
        assert (await stage.nodes_of_pods())["p"] == "n0"
        assert len(transport.sent(BINDING)) == 1

    on_stage(play, start=False)


def test_what_an_earlier_run_nominated_is_withdrawn_when_the_pod_fits_nowhere_any_more() -> None:
    async def play(stage: Stage) -> None:
        await waiting(stage)
        await stage.kill()
        await stage.patch(claim("c"), {"status": {"allocation": None, "reservedFor": None}}, "status")
        for name in ("n0", "n1"):
            await stage.delete(resource_slice(name, 1))
        await stage.start()
        await stage.settle(20)
        assert (await stage.condition("p"))[:2] == ("False", "Unschedulable")
        assert not (await stage.pod("p"))["status"].get("nominatedNodeName")

    on_stage(play)


def test_nothing_is_taken_back_from_a_pod_that_somebody_has_put_on_its_node() -> None:
    async def play(stage: Stage) -> None:
        transport = Faulty(stage.transport)
        await stage.start(transport)
        await stage.create(device_class(), node("n0"), slow_slice("n0"), claim("c"))
        await stage.create(pod("p", claim="c", nodeName="n0"))
        await asyncio.sleep(60)
        assert (await stage.claims())["c"]["status"]["reservedFor"]
        assert len(transport.sent(CLAIM_STATUS)) == 1

    on_stage(play, Settings(binding_timeout=20), start=False)


def test_nothing_is_taken_back_from_a_pod_that_somebody_binds_while_it_waits() -> None:
    async def play(stage: Stage) -> None:
        first = await waiting(stage)
        before = (await stage.claims())["c"]["status"]
        target = {"target": {"apiVersion": "v1", "kind": "Node", "name": first}, "metadata": {"name": "p"}}
        await stage.send("POST", BINDING.removeprefix("POST "), {"apiVersion": "v1", "kind": "Binding", **target})
        selector = {"driver": "gpu.example.com", "pool": first}
        spec = {"deviceSelector": selector, "taint": {"key": "broken", "effect": "NoSchedule"}}
        await stage.create({"apiVersion": GROUP, "kind": "DeviceTaintRule", "metadata": {"name": "r"}, "spec": spec})
        await asyncio.sleep(30)
        assert (await stage.claims())["c"]["status"] == before
        assert (await stage.nodes_of_pods())["p"] == first

    on_stage(play)


def test_who_waits_for_devices_says_so() -> None:
    async def play(stage: Stage) -> None:
        first = await waiting(stage)
        (event,) = await stage.events("BindingConditionsPending")
        assert (event["type"], event["action"]) == ("Normal", "Scheduling")
        assert event["note"] == f"waiting for binding conditions for device on node {first}"

    on_stage(play)
