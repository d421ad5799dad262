"""PodGroups on a whole cluster in virtual time."""

from __future__ import annotations

import asyncio

import pytest

from dra_scheduler.settings import Settings
from support.gangs import (
    GATES,
    SETTINGS,
    counters_slice,
    group_condition,
    halves_slice,
    member,
    pod_group,
    whole_or_half,
)
from support.invariants import check_invariants
from support.stage import Raw, Stage, claim, device_class, node, on_stage, resource_slice, template


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


@pytest.mark.parametrize("more", [{}, {"DRANodeAllocatableResources": True}])
def test_two_pods_that_would_starve_each_other_get_halves(more: dict[str, bool]) -> None:
    async def play(stage: Stage) -> None:
        await stage.create(device_class(), whole_or_half(), node("n1"), halves_slice("n1"), counters_slice("n1"))
        await stage.create(pod_group(min_count=2), member("a", template="gpu"), member("b", template="gpu"))
        await stage.settle(1)
        assert set((await stage.nodes_of_pods()).values()) == {"n1"}
        results = [c["status"]["allocation"]["devices"]["results"] for c in (await stage.claims()).values()]
        assert sorted(each["device"] for (each,) in results) == ["half-0-a", "half-0-b"]
        assert {each["request"] for (each,) in results} == {"gpu/half"}

    on_stage(play, Settings(feature_gates=GATES | more))


def shared(name: str) -> list[Raw]:
    return [{"name": "shared", "resourceClaimName": name}]


def test_a_claim_of_the_group_is_reserved_for_the_group_once_for_all() -> None:
    async def play(stage: Stage) -> None:
        await two_nodes(stage)
        await stage.create(claim("c"), pod_group(resourceClaims=shared("c")))
        await stage.create(member("a", claim="c"), member("b", claim="c"))
        await stage.settle(1)
        assert len(set((await stage.nodes_of_pods()).values()) - {""}) == 1
        (user,) = (await stage.claims())["c"]["status"]["reservedFor"]
        assert (user["apiGroup"], user["resource"], user["name"]) == ("scheduling.k8s.io", "podgroups", "group")
        await stage.create(member("late", claim="c"))
        await stage.settle(1)
        assert len(set((await stage.nodes_of_pods()).values())) == 1
        assert len((await stage.claims())["c"]["status"]["reservedFor"]) == 1
        await check_invariants(stage)

    on_stage(play, SETTINGS)


def test_a_claim_of_the_group_from_a_template_is_made_for_the_group() -> None:
    async def play(stage: Stage) -> None:
        await two_nodes(stage)
        entries = [{"name": "gpu", "resourceClaimTemplateName": "gpu"}]
        await stage.create(pod_group(resourceClaims=entries))
        await stage.create(member("a", template="gpu"), member("b", template="gpu"))
        await stage.settle(1)
        ((name, made),) = (await stage.claims()).items()
        assert made["metadata"]["ownerReferences"][0]["kind"] == "PodGroup"
        assert name.startswith("group-gpu-")
        assert len(set((await stage.nodes_of_pods()).values()) - {""}) == 1
        (user,) = made["status"]["reservedFor"]
        assert user["resource"] == "podgroups"

    on_stage(play, SETTINGS)


def test_without_the_gate_for_claims_the_claims_of_a_group_are_its_pods() -> None:
    async def play(stage: Stage) -> None:
        await two_nodes(stage)
        await stage.create(claim("c"), pod_group(resourceClaims=shared("c")))
        await stage.create(member("a", claim="c"), member("b", claim="c"))
        await stage.settle(1)
        users = (await stage.claims())["c"]["status"]["reservedFor"]
        assert sorted(user["name"] for user in users) == ["a", "b"]

    on_stage(play, Settings(feature_gates={"GenericWorkload": True}))


def test_a_pod_that_shares_a_claim_moves_it_to_where_all_have_room() -> None:
    async def play(stage: Stage) -> None:
        # n1 is the emptier node and is tried first, but only one of the two fits there.
        await stage.create(device_class(), claim("c"), pod_group())
        await stage.create(node("n1", cpu="3", memory="64Gi"), node("n2", cpu="4", memory="1Gi"))
        await stage.create(resource_slice("n1", 1), resource_slice("n2", 1))
        await stage.create(member("a", claim="c", cpu="2"), member("b", claim="c", cpu="2"))
        await stage.settle(1)
        assert await stage.nodes_of_pods() == {"a": "n2", "b": "n2"}

    on_stage(play, SETTINGS)


def test_a_pod_with_little_choice_gets_its_node_before_one_with_more() -> None:
    async def play(stage: Stage) -> None:
        await two_nodes(stage)
        first = {"kubernetes.io/hostname": "n1"}
        for tries in range(4):
            group = f"group-{tries}"
            await stage.create(pod_group(group))
            await stage.create(member(f"any-{tries}", group, template="gpu"))
            await stage.create(member(f"one-{tries}", group, template="gpu", nodeSelector=first))
            await stage.settle(1)
            assert (await stage.nodes_of_pods())[f"one-{tries}"] == "n1"
            for name in (f"any-{tries}", f"one-{tries}"):
                await stage.delete(member(name))
            await stage.settle(60)

    on_stage(play, SETTINGS)


def test_halves_of_a_card_that_all_nodes_reach_go_to_pods_on_different_nodes() -> None:
    async def play(stage: Stage) -> None:
        everywhere = {"allNodes": True}
        await stage.create(device_class(), whole_or_half(), node("n1", cpu="1"), node("n2", cpu="1"), pod_group())
        await stage.create(halves_slice("net", **everywhere), counters_slice("net", **everywhere))
        await stage.create(member("a", template="gpu", cpu="1"), member("b", template="gpu", cpu="1"))
        await stage.settle(1)
        assert sorted((await stage.nodes_of_pods()).values()) == ["n1", "n2"]

    on_stage(play, SETTINGS)


def ports(name: str, *choices: str) -> Raw:
    """A claim for some devices: one of each choice of names."""
    made = claim(name)
    made["spec"]["devices"]["requests"] = [
        {
            "name": f"r{number}",
            "exactly": {
                "deviceClassName": "gpu",
                "selectors": [{"cel": {"expression": f'device.attributes["gpu.example.com"].name in {names}'}}],
            },
        }
        for number, names in enumerate(str(each.split()) for each in choices)
    ]
    return made


def test_pods_on_different_nodes_get_the_devices_in_the_network_with_which_both_can_be() -> None:
    async def play(stage: Stage) -> None:
        net = resource_slice("net", 0)
        del net["spec"]["nodeName"]
        net["spec"] |= {"allNodes": True}
        net["spec"]["devices"] = [{"name": n, "attributes": {"name": {"string": n}}} for n in ("d1", "d2", "d3", "d4")]
        await stage.create(device_class(), net, node("n1", cpu="1"), node("n2", cpu="1"), pod_group())
        # Whoever comes first takes what the other one needs: it has to take the second best.
        await stage.create(ports("ca", "d1", "d2 d3"), ports("cb", "d2", "d3 d4"))
        await stage.create(member("a", claim="ca", cpu="1"), member("b", claim="cb", cpu="1"))
        await stage.settle(1)
        assert sorted((await stage.nodes_of_pods()).values()) == ["n1", "n2"]

    on_stage(play, SETTINGS)


def test_pods_beyond_the_count_do_not_keep_the_others_waiting() -> None:
    async def play(stage: Stage) -> None:
        await two_nodes(stage)
        await stage.create(pod_group(min_count=2), *(member(name, template="gpu") for name in "abc"))
        await stage.settle(1)
        assert sorted((await stage.nodes_of_pods()).values()) == ["", "n1", "n2"]
        assert await group_condition(stage) == ("True", "Scheduled", "")
        await stage.create(node("n3"), resource_slice("n3", 1))
        await stage.settle(15)
        assert sorted((await stage.nodes_of_pods()).values()) == ["n1", "n2", "n3"]

    on_stage(play, SETTINGS)


def test_a_smaller_count_lets_the_waiting_pods_go() -> None:
    async def play(stage: Stage) -> None:
        await two_nodes(stage)
        await stage.create(pod_group(min_count=3), *(member(name, template="gpu") for name in "ab"))
        await stage.settle(1)
        assert set((await stage.nodes_of_pods()).values()) == {""}
        await stage.patch(pod_group(), {"spec": {"schedulingPolicy": {"gang": {"minCount": 2}}}})
        await stage.settle(1)
        assert sorted((await stage.nodes_of_pods()).values()) == ["n1", "n2"]

    on_stage(play, SETTINGS)


def test_pods_of_a_basic_group_are_scheduled_as_they_come() -> None:
    async def play(stage: Stage) -> None:
        await two_nodes(stage)
        await stage.create(pod_group(min_count=None), *(member(name, template="gpu") for name in "abc"))
        await stage.settle(1)
        assert sorted((await stage.nodes_of_pods()).values()) == ["", "n1", "n2"]
        assert await group_condition(stage) == ("True", "Scheduled", "")

    on_stage(play, SETTINGS)


def test_pods_wait_for_their_group_to_exist() -> None:
    async def play(stage: Stage) -> None:
        await two_nodes(stage)
        await stage.create(member("a", template="gpu"))
        await stage.settle(1)
        (waiting,) = stage.scheduler.pending() if stage.scheduler else []
        assert waiting.reason == 'waiting for pods\'s pod group "group" to appear in scheduling queue'
        await stage.create(pod_group(min_count=1))
        await stage.settle(1)
        assert (await stage.nodes_of_pods())["a"]

    on_stage(play, SETTINGS)


def test_without_the_gate_pods_of_groups_are_held_and_the_gate_is_named() -> None:
    async def play(stage: Stage) -> None:
        await two_nodes(stage)
        await stage.create(pod_group(min_count=1), member("a", template="gpu"))
        await stage.settle(1)
        text = 'pod belongs to the pod group "group", but the feature gate GenericWorkload is off'
        assert text in (await stage.condition("a"))[2]
        assert any(text in event["note"] for event in await stage.events("FailedScheduling"))
        assert await stage.nodes_of_pods() == {"a": ""}

    on_stage(play)


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ({"schedulingConstraints": {"topology": [{"key": "rack"}]}}, "schedulingConstraints"),
        ({"parentCompositePodGroupName": "parent"}, "parentCompositePodGroupName"),
    ],
)
def test_what_a_group_asks_for_and_is_not_done_holds_it(spec: Raw, field: str) -> None:
    async def play(stage: Stage) -> None:
        await two_nodes(stage)
        await stage.create(pod_group(min_count=1, **spec), member("a", template="gpu"))
        await stage.settle(1)
        assert await stage.nodes_of_pods() == {"a": ""}
        text = f"{field} is not supported by this scheduler"
        assert await stage.condition("a") == ("False", "Unschedulable", f"pod group is unschedulable, {text}")
        assert await group_condition(stage) == ("False", "Unschedulable", text)
        assert any(text in event["note"] for event in await stage.events("FailedScheduling"))

    on_stage(play, SETTINGS)


@pytest.mark.parametrize(
    ("one", "other", "text"),
    [
        ({"priority": 0}, {"priorityClassName": "high"}, "priority as the pod group's priority, got 7 and 0"),
        ({}, {"schedulerName": "other"}, '.spec.schedulerName set, got: "other" and "dra-scheduler"'),
    ],
)
def test_pods_of_a_group_have_much_in_common(one: Raw, other: Raw, text: str) -> None:
    async def play(stage: Stage) -> None:
        await two_nodes(stage)
        high = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 7}
        # A pod of another scheduler is only looked at once it is on a node.
        at = {"nodeName": "n1"} if "schedulerName" in other else {}
        await stage.create(high, pod_group(min_count=2))
        await stage.create(member("a", cpu="1", **one), member("b", cpu="1", **at, **other))
        await asyncio.sleep(2)
        status, reason, message = await group_condition(stage)
        assert (status, reason) == ("False", "SchedulerError")
        assert text in message
        assert text in (await stage.condition("a"))[2]
        assert not (await stage.nodes_of_pods())["a"]

    on_stage(play, SETTINGS)


def test_a_gang_whose_claims_are_being_made_is_not_reported_as_unschedulable() -> None:
    async def play(stage: Stage) -> None:
        await two_nodes(stage, devices=4)
        await stage.create(pod_group(min_count=8), *(member(f"p{number}", template="gpu") for number in range(8)))
        await stage.settle(1)
        assert all((await stage.nodes_of_pods()).values())
        assert not await stage.events("FailedScheduling")

    on_stage(play, SETTINGS)


def test_a_gang_with_too_few_pods_that_can_be_tried_says_so_after_a_while() -> None:
    async def play(stage: Stage) -> None:
        await two_nodes(stage)
        gated = {"schedulingGates": [{"name": "example.com/hold"}]}
        await stage.create(pod_group(), member("a", template="gpu"), member("b", template="gpu", **gated))
        await stage.settle(5)
        text = "minCount (2) cannot be satisfied: 0 scheduled, 1 remaining"
        assert await group_condition(stage) == ("False", "Unschedulable", text)
        assert await stage.condition("a") == ("False", "Unschedulable", f"pod group is unschedulable, {text}")

    on_stage(play, SETTINGS)


def test_a_pod_that_somebody_else_binds_lets_the_others_of_its_gang_go() -> None:
    async def play(stage: Stage) -> None:
        await two_nodes(stage)
        await stage.create(pod_group(), member("a", template="gpu"), member("b", template="not-there"))
        await stage.settle(20)
        assert await stage.nodes_of_pods() == {"a": "", "b": ""}
        binding = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "b"}, "target": {"name": "n2"}}
        await stage.send("POST", "/api/v1/namespaces/default/pods/b/binding", binding)
        await stage.settle(15)
        assert (await stage.nodes_of_pods())["a"]

    on_stage(play, SETTINGS)


def test_devices_that_only_fit_together_are_chosen_for_both_pods_at_once() -> None:
    def pair(name: str, attribute: str) -> Raw:
        requests = [{"name": "gpu", "exactly": {"deviceClassName": "gpu", "count": 2}}]
        constraints = [{"matchAttribute": f"gpu.example.com/{attribute}"}]
        meta = {"name": name, "namespace": "default"}
        spec = {"spec": {"devices": {"requests": requests, "constraints": constraints}}}
        return template() | {"metadata": meta, "spec": spec}

    async def play(stage: Stage) -> None:
        # Whoever comes first takes the first two devices, and leaves two that do not match: neither order works.
        places = ((1, 1), (1, 1), (1, 2), (2, 1))
        made = resource_slice("n1", len(places))
        for device, (x, y) in zip(made["spec"]["devices"], places, strict=True):
            device["attributes"] = {"x": {"int": x}, "y": {"int": y}}
        await stage.create(device_class(), node("n1"), made, pair("by-x", "x"), pair("by-y", "y"))
        await stage.create(pod_group(), member("a", template="by-x"), member("b", template="by-y"))
        await stage.settle(1)
        assert await stage.nodes_of_pods() == {"a": "n1", "b": "n1"}
        await check_invariants(stage)

    on_stage(play, SETTINGS)
