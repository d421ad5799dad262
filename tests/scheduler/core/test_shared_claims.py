"""Claims that others hold, share, delete or have allocated: what is reused, what is freed, and what is left alone."""

from __future__ import annotations

import asyncio

from dra_scheduler.settings import Settings
from support.objects import make_allocation
from support.stage import Raw, Stage, claim, device_class, node, on_stage, pod, resource_slice

SOON = 15.0
"""Seconds: backoff ends within 10, the flush of forgotten pods comes after 300."""
FINALIZERS = {"metadata": {"finalizers": ["resource.kubernetes.io/delete-protection"]}}
ONLY_N0 = {"kubernetes.io/hostname": "n0"}


async def allocate(stage: Stage, name: str, at: str, device: str = "gpu-0-0") -> None:
    """What another scheduler, or an older one that knows no time stamps, has written."""
    await stage.patch(claim(name), FINALIZERS)
    await stage.patch(claim(name), {"status": {"allocation": make_allocation(device, node=at)}}, "status")


async def begin(stage: Stage, *objects: Raw) -> None:
    await stage.create(node("n0"), node("n1"), device_class(), claim("c"), claim("d"))
    await stage.create(resource_slice("n0", 1), resource_slice("n1", 1), *objects)
    await stage.settle()


def reserved(found: Raw) -> list[str]:
    return [entry["name"] for entry in found["status"].get("reservedFor", [])]


def test_an_allocation_of_others_is_used_as_it_is_and_gets_no_time_stamp() -> None:
    async def play(stage: Stage) -> None:
        await begin(stage)
        await allocate(stage, "c", "n1")
        before = (await stage.claims())["c"]["status"]["allocation"]
        assert "allocationTimestamp" not in before
        await stage.create(pod("p", claim="c"), pod("q", claim="c"))
        await stage.settle()
        assert await stage.nodes_of_pods() == {"p": "n1", "q": "n1"}
        found = (await stage.claims())["c"]
        assert found["status"]["allocation"] == before
        assert sorted(reserved(found)) == ["p", "q"]

    on_stage(play)


def test_a_claim_in_use_on_another_node_is_never_freed_and_the_pod_moves_when_its_user_has_ended() -> None:
    async def play(stage: Stage) -> None:
        await begin(stage)
        await allocate(stage, "c", "n1")
        await stage.create(pod("user", claim="c"))
        await stage.settle()
        assert (await stage.nodes_of_pods())["user"] == "n1"
        await stage.create(pod("p", claim="c", nodeSelector=ONLY_N0))
        await stage.settle(2 * SOON)
        assert (await stage.nodes_of_pods())["p"] == ""
        assert reserved((await stage.claims())["c"]) == ["user"]
        await stage.delete(pod("user"))
        await asyncio.sleep(SOON)
        assert (await stage.nodes_of_pods())["p"] == "n0"

    on_stage(play)


def test_a_claim_that_is_being_deleted_is_waited_out_and_its_successor_used() -> None:
    async def play(stage: Stage) -> None:
        await begin(stage)
        await stage.patch(claim("c"), {"metadata": {"finalizers": ["example.com/hold"]}})
        await stage.delete(claim("c"))
        await stage.create(pod("p", claim="c"))
        await stage.settle(2 * SOON)
        scheduler = stage.scheduler
        assert scheduler is not None
        (shown,) = scheduler.pending()
        assert 'resourceclaim "c" is being deleted' in shown.reason
        assert scheduler.counts.unschedulable == scheduler.counts.errors == 0, "tried before it could succeed"
        await stage.patch(claim("c"), {"metadata": {"finalizers": None}})
        await stage.create(claim("c"))
        await asyncio.sleep(SOON)
        assert (await stage.nodes_of_pods())["p"] != ""

    on_stage(play)


def test_a_pod_put_on_a_node_by_hand_gets_all_its_claims_or_none() -> None:
    async def play(stage: Stage) -> None:
        await begin(stage)
        both = pod("p", claim="c", nodeName="n0")
        both["spec"]["resourceClaims"].append({"name": "other", "resourceClaimName": "d"})
        await stage.create(both)
        await stage.settle(2 * SOON)
        claims = await stage.claims()
        assert all("allocation" not in claims[name].get("status", {}) for name in "cd"), "one device, two claims"
        await stage.patch(resource_slice("n0", 1), {"spec": {"devices": [{"name": "gpu-0-0"}, {"name": "new"}]}})
        await asyncio.sleep(SOON)
        claims = await stage.claims()
        assert [reserved(claims[name]) for name in "cd"] == [["p"], ["p"]]

    on_stage(play)


def test_a_pod_of_another_scheduler_that_was_put_on_a_node_by_hand_is_not_ours() -> None:
    async def play(stage: Stage) -> None:
        await begin(stage, pod("p", claim="c", nodeName="n0", schedulerName="other"))
        await stage.settle(SOON)
        assert "allocation" not in (await stage.claims())["c"].get("status", {})

    on_stage(play, Settings())
