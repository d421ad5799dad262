"""Pods that wait for claims: their events say which, once."""

from __future__ import annotations

from dra_scheduler.report.waiting import PATIENCE
from support.stage import Raw, Stage, claim, device_class, node, on_stage, pod, resource_slice


async def notes(stage: Stage) -> list[str]:
    return [event["note"] for event in await stage.events("FailedScheduling")]


def basics() -> list[Raw]:
    return [node("n0"), resource_slice("n0", 1), device_class()]


def test_a_misspelt_claim_is_told_once_and_after_a_moment_with_the_name_that_was_probably_meant() -> None:
    async def play(stage: Stage) -> None:
        await stage.create(*basics(), claim("gpu-claim"), pod("p", claim="gpu-clam"))
        await stage.settle(PATIENCE / 2)
        assert await notes(stage) == []
        await stage.settle(10 * PATIENCE)
        (note,) = await notes(stage)
        assert note.startswith("ResourceClaim gpu-clam does not exist, did you mean gpu-claim?")
        assert await stage.condition("p") == ("", "", "")
        (shown,) = stage.scheduler.pending() if stage.scheduler else []
        assert "did you mean gpu-claim?" in shown.explanation

    on_stage(play)


def test_a_claim_that_comes_in_time_is_not_told_about() -> None:
    async def play(stage: Stage) -> None:
        await stage.create(*basics(), pod("p", claim="late"))
        await stage.settle(PATIENCE / 2)
        await stage.create(claim("late"))
        await stage.settle(3 * PATIENCE)
        assert (await stage.nodes_of_pods())["p"] == "n0"
        assert await notes(stage) == []

    on_stage(play)


def test_a_template_that_does_not_exist_is_asked_about() -> None:
    async def play(stage: Stage) -> None:
        await stage.create(*basics(), pod("p", template="gone"))
        await stage.settle(3 * PATIENCE)
        (note,) = [note for note in await notes(stage) if "ResourceClaimTemplate gone" in note]
        assert "has not been made" in note

    on_stage(play)


def test_scheduling_gates_are_nobodys_fault_and_not_told() -> None:
    async def play(stage: Stage) -> None:
        await stage.create(*basics(), claim("c"), pod("p", claim="c", schedulingGates=[{"name": "example.com/wait"}]))
        await stage.settle(3 * PATIENCE)
        assert await notes(stage) == []

    on_stage(play)
