"""PodGroups on a whole cluster in virtual time."""

from __future__ import annotations

from support.gangs import (
    SETTINGS,
    counters_slice,
    group_condition,
    halves_slice,
    member,
    pod_group,
    whole_or_half,
)
from support.stage import Stage, device_class, node, on_stage, resource_slice, template


async def two_nodes(stage: Stage, devices: int = 1) -> None:
    await stage.create(device_class(), template())
    for name in ("n1", "n2"):
        await stage.create(node(name), resource_slice(name, devices))


def test_a_gang_is_bound_as_soon_as_it_has_as_many_pods_as_it_needs() -> None:
    async def play(stage: Stage) -> None:
        await two_nodes(stage)
        await stage.create(pod_group(min_count=2), member("a", template="gpu"))
        await stage.settle(1)
        assert await stage.nodes_of_pods() == {"a": ""}
        await stage.create(member("b", template="gpu"))
        await stage.settle(1)
        assert sorted((await stage.nodes_of_pods()).values()) == ["n1", "n2"]
        assert await group_condition(stage) == ("True", "Scheduled", "")

    on_stage(play, SETTINGS)


def test_a_gang_that_does_not_fit_holds_nothing_and_says_what_is_missing() -> None:
    async def play(stage: Stage) -> None:
        await two_nodes(stage)
        await stage.create(pod_group(min_count=3), *(member(name, template="gpu") for name in "abc"))
        await stage.settle(1)
        assert set((await stage.nodes_of_pods()).values()) == {""}
        assert all(not claim["status"].get("allocation") for claim in (await stage.claims()).values())
        assert await stage.condition("c") == (
            "False",
            "Unschedulable",
            "0/2 nodes are available: 2 cannot allocate all claims. preemption: 0/2 nodes are available: "
            "2 Preemption is not helpful for scheduling.",
        )
        text = "minCount (3) cannot be satisfied: 2 scheduled, 0 remaining"
        assert await stage.condition("a") == ("False", "Unschedulable", f"pod group is unschedulable, {text}")
        assert await group_condition(stage) == ("False", "Unschedulable", text)
        await stage.create(node("n3"), resource_slice("n3", 1))
        await stage.settle(15)
        assert sorted((await stage.nodes_of_pods()).values()) == ["n1", "n2", "n3"]
        assert await group_condition(stage) == ("True", "Scheduled", "")

    on_stage(play, SETTINGS)


def test_two_pods_that_would_starve_each_other_get_halves() -> None:
    async def play(stage: Stage) -> None:
        await stage.create(device_class(), whole_or_half(), node("n1"), halves_slice("n1"), counters_slice("n1"))
        await stage.create(pod_group(min_count=2), member("a", template="gpu"), member("b", template="gpu"))
        await stage.settle(1)
        assert set((await stage.nodes_of_pods()).values()) == {"n1"}
        results = [c["status"]["allocation"]["devices"]["results"] for c in (await stage.claims()).values()]
        assert sorted(each["device"] for (each,) in results) == ["half-0-a", "half-0-b"]
        assert {each["request"] for (each,) in results} == {"gpu/half"}

    on_stage(play, SETTINGS)
