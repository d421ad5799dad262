"""Making and removing special claims: one claim whatever gets lost, none removed that may be in use."""

from __future__ import annotations

import re

import pytest

from dra_api.references import FINALIZER, RESOURCE_CLAIM
from dra_embedded.virtual_time import VirtualClock, run_virtual
from dra_scheduler.client.api import Object
from dra_scheduler.client.errors import ForbiddenError
from dra_scheduler.writes.errors import ClaimLostError, ClaimRefusedError, NotWriterError, UnknownOutcomeError
from dra_scheduler.writes.refs import ClaimRef, PodRef
from dra_scheduler.writes.special_claims import SpecialClaimWriter
from support.faulty import status
from support.writing import NS, World

REQUESTS = [{"name": "r", "exactly": {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1}}]
POST = "POST /apis/resource.k8s.io/v1/namespaces/default/resourceclaims"


def writer(world: World) -> SpecialClaimWriter:
    return SpecialClaimWriter(world.api, world.served, world.random, lambda: world.may_write)


async def claims(world: World) -> list[Object]:
    items: list[Object] = (await world.others.list(RESOURCE_CLAIM.path(namespace=NS)))["items"]
    return items


async def made(world: World) -> tuple[Object, PodRef]:
    pod = PodRef.of(await world.pod())
    body = writer(world).body(pod, REQUESTS)
    return await writer(world).make(body), pod


def test_a_special_claim_has_a_generated_name_its_mark_its_owner_and_its_finalizer() -> None:
    async def main(clock: VirtualClock) -> None:
        claim, pod = await made(World(clock))
        meta = claim["metadata"]
        assert re.fullmatch(r"pod-extended-resources-[b-z2-9]{5}", meta["name"])
        assert meta["generateName"] == "pod-extended-resources-"
        assert meta["annotations"] == {"resource.kubernetes.io/extended-resource-claim": "true"}
        assert meta["finalizers"] == [FINALIZER]
        assert [owner["uid"] for owner in meta["ownerReferences"]] == [pod.uid]
        assert claim["spec"]["devices"]["requests"] == REQUESTS

    run_virtual(main)


def test_a_long_pod_name_is_cut_as_the_api_server_cuts_it() -> None:
    async def main(clock: VirtualClock) -> None:
        pod = PodRef(NS, "p" * 70, "uid")
        name = writer(World(clock)).body(pod, REQUESTS)["metadata"]["name"]
        assert (len(name), name[:58]) == (63, "p" * 58)

    run_virtual(main)


@pytest.mark.parametrize("executed", [True, False])
def test_a_lost_answer_makes_no_second_claim(executed: bool) -> None:
    async def main(clock: VirtualClock) -> None:
        world = World(clock)
        world.faulty.fail(POST, executed=executed)
        claim, _ = await made(world)
        assert [each["metadata"]["uid"] for each in await claims(world)] == [claim["metadata"]["uid"]]

    run_virtual(main)


def test_without_any_answer_asking_again_finds_what_was_made() -> None:
    async def main(clock: VirtualClock) -> None:
        world = World(clock)
        for _ in range(5):
            world.faulty.fail(POST, executed=True)
        pod = PodRef.of(await world.pod())
        body = writer(world).body(pod, REQUESTS)
        with pytest.raises(UnknownOutcomeError):
            await writer(world).make(body)
        await writer(world).make(body)
        assert len(await claims(world)) == 1

    run_virtual(main)


def test_a_name_that_is_taken_by_another_is_replaced() -> None:
    async def main(clock: VirtualClock) -> None:
        world = World(clock)
        pod = PodRef.of(await world.pod())
        body = writer(world).body(pod, REQUESTS)
        await world.claim(body["metadata"]["name"])
        claim = await writer(world).make(body)
        assert len(await claims(world)) == 2
        assert claim["metadata"]["ownerReferences"][0]["uid"] == pod.uid

    run_virtual(main)


def test_what_the_server_refuses_is_told_with_its_reason() -> None:
    async def main(clock: VirtualClock) -> None:
        world = World(clock)
        world.faulty.fail(POST, status(403, "Forbidden", "exceeded quota: devices"))
        with pytest.raises(ClaimRefusedError, match="default/pod-extended-resources-: exceeded quota: devices"):
            await made(world)
        world.may_write = False
        with pytest.raises(NotWriterError):
            await writer(world).make(writer(world).body(PodRef(NS, "other", "uid"), REQUESTS))

    run_virtual(main)


def test_a_claim_that_was_made_before_the_server_refuses_a_second_one_is_found() -> None:
    """Its own place in the quota is what the first one has taken."""

    async def main(clock: VirtualClock) -> None:
        world = World(clock)
        pod = PodRef.of(await world.pod())
        body = writer(world).body(pod, REQUESTS)
        world.faulty.fail(POST, executed=True)
        for _ in range(2):
            world.faulty.fail(POST, status(403, "Forbidden", "exceeded quota: devices"))
        with pytest.raises(UnknownOutcomeError):
            await writer(world).make(body)
        (claim,) = await claims(world)
        assert (await writer(world).make(body))["metadata"]["uid"] == claim["metadata"]["uid"]

    run_virtual(main)


@pytest.mark.parametrize("lost", ["", "PATCH", "DELETE", "GET"])
def test_a_claim_that_nobody_uses_is_removed_whatever_gets_lost(lost: str) -> None:
    async def main(clock: VirtualClock) -> None:
        world = World(clock)
        claim, pod = await made(world)
        if lost:
            world.faulty.fail(lost, executed=lost != "GET")
        await writer(world).remove(ClaimRef.of(claim), pod)
        assert await claims(world) == []
        (deletion, *_) = world.faulty.sent("DELETE")
        assert b"resourceVersion" in deletion.body
        assert b"uid" in deletion.body
        # Gone already, or another one of that name: nothing to do.
        await writer(world).remove(ClaimRef.of(claim), pod)

    run_virtual(main)


def test_a_claim_that_somebody_else_protects_is_deleted_and_still_there_and_says_so() -> None:
    async def main(clock: VirtualClock) -> None:
        world = World(clock)
        claim, pod = await made(world)
        path = RESOURCE_CLAIM.path(namespace=NS, name=claim["metadata"]["name"])
        await world.others.patch(path, {"metadata": {"finalizers": [FINALIZER, "example.com/hold"]}})
        for lost in ("", "DELETE"):
            if lost:
                world.faulty.fail(lost, executed=True)
            left = await writer(world).remove(ClaimRef.of(claim), pod)
            assert left is not None
            assert left == await world.live(path)
            assert left["metadata"]["finalizers"] == ["example.com/hold"]
            assert left["metadata"]["deletionTimestamp"]
        assert len(world.faulty.sent("DELETE")) == 1
        await world.others.patch(path, {"metadata": {"finalizers": None}})
        assert await writer(world).remove(ClaimRef.of(claim), pod) is None

    run_virtual(main)


def test_a_claim_whose_pod_has_a_node_stays() -> None:
    async def main(clock: VirtualClock) -> None:
        world = World(clock)
        claim, pod = await made(world)
        body = {"metadata": {"name": pod.name}, "target": {"kind": "Node", "name": "n"}}
        await world.others.create(f"{pod.path}/binding", body)
        with pytest.raises(ClaimLostError, match="its pod has a node"):
            await writer(world).remove(ClaimRef.of(claim), pod)
        assert len(await claims(world)) == 1

    run_virtual(main)


def test_a_claim_that_another_pod_has_reserved_stays() -> None:
    async def main(clock: VirtualClock) -> None:
        world = World(clock)
        claim, pod = await made(world)
        path = RESOURCE_CLAIM.path(namespace=NS, name=claim["metadata"]["name"])
        other = PodRef.of(await world.pod("other"))
        result = {"request": "r", "driver": "gpu.example.com", "pool": "n", "device": "gpu-0"}
        reserved = [{"resource": "pods", "name": "other", "uid": other.uid}]
        await world.change_status({"allocation": {"devices": {"results": [result]}}, "reservedFor": reserved}, path)
        with pytest.raises(ClaimLostError, match="is reserved for another pod"):
            await writer(world).remove(ClaimRef.of(claim), pod)

    run_virtual(main)


def test_a_claim_of_a_pod_that_is_gone_is_removed_and_a_refusal_is_raised() -> None:
    async def main(clock: VirtualClock) -> None:
        world = World(clock)
        claim, pod = await made(world)
        await world.others.delete(pod.path)
        world.faulty.fail("DELETE", status(403, "Forbidden"))
        with pytest.raises(ForbiddenError):
            await writer(world).remove(ClaimRef.of(claim), pod)
        await writer(world).remove(ClaimRef.of(claim), pod)
        assert await claims(world) == []

    run_virtual(main)
