"""Devices that take cpu, memory and hugepages of their node: what is told, what is counted, what does not fit."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from dra_allocator.allocator import Allocator
from dra_allocator.device import DeviceID
from dra_allocator.outcome import AllocationResult, DeviceResult
from dra_allocator.table import Table
from dra_api import decode
from dra_cel.quantity import Quantity
from dra_scheduler.cycle.decision import Reject
from dra_scheduler.cycle.filters.resources import lacking_on
from dra_scheduler.cycle.node_resources import NodeResourcesError, Used, statuses
from dra_scheduler.cycle.pod_level import pod_level_problem
from dra_scheduler.feature_gates import NEWEST_MINOR, FeatureGates
from dra_scheduler.settings import Settings
from support.fake_clock import FakeClock
from support.known import known_cluster, known_pod, make_cycle
from support.objects import make_allocation, make_claim, make_node, make_pod, make_slice
from support.refusing import Refusing
from support.stage import Raw, Stage, claim, device_class, node, on_stage, pod, resource_slice

ON = Settings(feature_gates={"DRANodeAllocatableResources": True})
FIELD = "nodeAllocatableResourceClaimStatuses"
DRIVER = "gpu.example.com"


def mapped(amount: str) -> Raw:
    return {"mapping": {"deviceMultiplier": amount}}


def by_capacity(key: str, multiplier: str = "1") -> Raw:
    return {"mapping": {"capacityKey": key, "capacityMultiplier": multiplier}}


def overhead(**amounts: str) -> Raw:
    return {"overhead": amounts}


def table_of(*devices: Raw, driver: str = DRIVER) -> Table:
    table = Table()
    raw = make_slice("n1", 0, driver=driver)
    raw["spec"]["devices"] = list(devices)
    table.apply_slice(decode.resource_slice(raw))
    return table


def used(name: str, *devices: str, entry: str = "", driver: str = DRIVER, **consumed: str) -> Used:
    amounts = {key: Quantity.parse(value) for key, value in consumed.items()}
    results = [DeviceResult("r", DeviceID(driver, "n1", device), consumed_capacity=amounts) for device in devices]
    return Used("default", name, frozenset({entry or name}), AllocationResult(tuple(results)))


def containers(*claims: tuple[str, ...], inits: tuple[tuple[str, ...], ...] = ()) -> Raw:
    def made(prefix: str, each: tuple[tuple[str, ...], ...]) -> list[Raw]:
        return [
            {"name": f"{prefix}{i}", "resources": {"claims": [{"name": name} for name in names]}}
            for i, names in enumerate(each)
        ]

    return {"containers": made("c", claims), "initContainers": made("i", inits)}


def test_devices_without_node_resources_have_no_entries() -> None:
    assert statuses(containers(("a",)), [used("a", "gpu")], table_of({"name": "gpu"})) == ()
    assert statuses(containers(), [], table_of()) == ()


def test_a_device_stands_for_so_much_of_each_resource() -> None:
    table = table_of({"name": "d", "nodeAllocatableResources": {"memory": mapped("1Gi"), "cpu": mapped("1")}})
    mapping = [{"name": "cpu", "quantity": "1"}, {"name": "memory", "quantity": "1Gi"}]
    assert statuses(containers(("a",)), [used("a", "d")], table) == (
        {"resourceClaimName": "a", "containers": ["c0"], "mapping": mapping},
    )


def test_several_devices_of_a_claim_add_up() -> None:
    resources = {"cpu": mapped("500m") | overhead(perPod="1")}
    table = table_of(*({"name": name, "nodeAllocatableResources": resources} for name in "de"))
    (entry,) = statuses(containers(), [used("a", "d", "e")], table)
    assert (entry["mapping"], entry["overhead"]) == (
        [{"name": "cpu", "quantity": "1"}],
        [{"name": "cpu", "perPod": "2"}],
    )


@pytest.mark.parametrize(("multiplier", "amount"), [("1", "4"), ("2", "8"), ("250m", "1")])
def test_what_is_consumed_of_a_capacity_is_multiplied(multiplier: str, amount: str) -> None:
    table = table_of({"name": "d", "nodeAllocatableResources": {"cpu": by_capacity("cores", multiplier)}})
    (entry,) = statuses(containers(), [used("a", "d", cores="4")], table)
    assert entry["mapping"] == [{"name": "cpu", "quantity": amount}]


def test_a_capacity_that_was_not_consumed_counts_nothing_but_none_at_all_is_an_error() -> None:
    table = table_of({"name": "d", "nodeAllocatableResources": {"cpu": by_capacity("cores")}})
    assert statuses(containers(), [used("a", "d", other="4")], table) == ()
    with pytest.raises(NodeResourcesError, match="claim default/a, device d: ConsumedCapacity is nil"):
        statuses(containers(), [used("a", "d")], table)


def test_entries_are_sorted_by_claim_and_name_the_containers_that_use_it_init_containers_first() -> None:
    table = table_of({"name": "d", "nodeAllocatableResources": {"cpu": mapped("1")}})
    spec = containers(("b", "a"), ("b",), inits=(("b",),))
    found = statuses(spec, [used("b", "d"), used("a", "d")], table)
    assert [(entry["resourceClaimName"], entry["containers"]) for entry in found] == [
        ("a", ["c0"]),
        ("b", ["i0", "c0", "c1"]),
    ]


def test_a_claim_that_no_container_uses_counts_all_the_same() -> None:
    table = table_of({"name": "d", "nodeAllocatableResources": {"memory": overhead(perPod="1Gi", perContainer="1Mi")}})
    (entry,) = statuses(containers(()), [used("a", "d")], table)
    assert entry == {
        "resourceClaimName": "a",
        "overhead": [{"name": "memory", "perPod": "1Gi", "perContainer": "1Mi"}],
    }


def test_the_device_of_the_driver_counts_not_another_of_that_name() -> None:
    table = table_of({"name": "d", "nodeAllocatableResources": {"cpu": mapped("1")}})
    other = make_slice("n1", 0, driver="other.example.com", name="other")
    other["spec"]["devices"] = [{"name": "d", "nodeAllocatableResources": {"cpu": mapped("9")}}]
    table.apply_slice(decode.resource_slice(other))
    (entry,) = statuses(containers(), [used("a", "d")], table)
    assert entry["mapping"] == [{"name": "cpu", "quantity": "1"}]


def test_a_device_that_is_gone_beside_one_that_takes_something_is_an_error() -> None:
    table = table_of({"name": "d", "nodeAllocatableResources": {"cpu": mapped("1")}})
    with pytest.raises(NodeResourcesError, match=r"device gone not found in pool n1 for driver gpu\.example\.com"):
        statuses(containers(), [used("a", "d", "gone")], table)


ENTRY = {"resourceClaimName": "a", "containers": ["c"], "mapping": [{"name": "cpu", "quantity": "4"}]}


def level(pod: Raw, container: Raw, *more: Raw) -> dict[str, Any]:
    """A pod with resources on its own level, and on its containers'."""
    own = [{"name": name, "resources": each} for name, each in zip("cde", (container, *more), strict=False)]
    return {"resources": pod, "containers": own}


TOO_LITTLE = "is insufficient to cover the aggregated container and node-allocatable DRA requests"
LIMIT = "pod level limit for cpu is insufficient to cover the limit and DRA overhead for container c"


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        (level({}, {"requests": {"cpu": "2"}}), ""),
        (level({"requests": {"cpu": "6"}}, {"requests": {"cpu": "2"}}), ""),
        (level({"requests": {"cpu": "5"}}, {"requests": {"cpu": "2"}}), f"pod level request for cpu {TOO_LITTLE}"),
        (level({"requests": {"memory": "1"}}, {"requests": {"cpu": "2"}}), ""),
        (level({"limits": {"cpu": "6"}}, {"limits": {"cpu": "2"}}), ""),
        (level({"limits": {"cpu": "5"}}, {"limits": {"cpu": "2"}}), LIMIT),
        # Limits may be overcommitted, each container's own has to fit.
        (level({"limits": {"cpu": "6"}}, {"limits": {"cpu": "2"}}, {"limits": {"cpu": "6"}}), ""),
    ],
)
def test_the_pod_level_has_to_cover_containers_and_devices(spec: Raw, problem: str) -> None:
    assert pod_level_problem(spec, [ENTRY]) == problem


def test_overhead_counts_on_the_pod_level_once_per_pod_and_once_per_container() -> None:
    spec = level({"requests": {"memory": "1000"}}, {"requests": {"memory": "100"}}, {"requests": {"memory": "100"}})
    entry: Raw = {"resourceClaimName": "a", "containers": ["c", "d"]}
    fits = entry | {"overhead": [{"name": "memory", "perPod": "400", "perContainer": "200"}]}
    assert pod_level_problem(spec, [fits]) == ""
    more = entry | {"overhead": [{"name": "memory", "perPod": "401", "perContainer": "200"}]}
    assert pod_level_problem(spec, [more]) == f"pod level request for memory {TOO_LITTLE}"


def test_hugepages_have_to_be_covered_by_the_limit_all_together() -> None:
    entry: Raw = {"resourceClaimName": "a", "mapping": [{"name": "hugepages-2Mi", "quantity": "4Mi"}]}
    spec = level({"limits": {"hugepages-2Mi": "6Mi"}}, {"limits": {"hugepages-2Mi": "2Mi"}})
    assert pod_level_problem(spec, [entry]) == ""
    more = level({"limits": {"hugepages-2Mi": "4Mi"}}, {"limits": {"hugepages-2Mi": "2Mi"}})
    assert pod_level_problem(more, [entry]) == (
        "pod level limit for hugepages-2Mi is insufficient to cover the aggregated container and node-allocatable DRA "
        "limits"
    )


# On the stage: a node with 8 cpus and 16Gi of memory.


async def cluster(stage: Stage, resources: Raw, *, devices: int = 2, **device: Any) -> None:
    slice_ = resource_slice("n1", devices)
    for each in slice_["spec"]["devices"]:
        each.update(device, nodeAllocatableResources=resources)
    declared = node("n1")
    declared["status"]["declaredFeatures"] = ["DRANodeAllocatableResources"]
    await stage.create(declared, slice_, device_class())


def with_claim(name: str, own: str, *, uses: int = 1, cpu: str = "1", **spec: Any) -> Raw:
    made = pod(name, claim=own, cpu=cpu, **spec)
    first = made["spec"]["containers"][0]
    others = [first | {"name": f"c{i}"} for i in range(1, uses)]
    made["spec"]["containers"] = [first, *others]
    if not uses:
        first["resources"].pop("claims")
        made["spec"]["containers"] = [first]
    return made


def test_what_the_devices_take_is_in_the_status_and_counts_on_the_node() -> None:
    async def play(stage: Stage) -> tuple[Raw, str]:
        await cluster(stage, {"cpu": mapped("4"), "memory": overhead(perPod="1Gi")})
        await stage.create(claim("a"), with_claim("p", "a"))
        await stage.settle()
        await stage.create(pod("other", cpu="4"))
        await stage.settle()
        return await stage.pod("p"), (await stage.condition("other"))[2]

    bound, message = on_stage(play, ON)
    assert bound["spec"]["nodeName"] == "n1"
    assert bound["status"][FIELD] == [
        {
            "resourceClaimName": "a",
            "containers": ["main"],
            "mapping": [{"name": "cpu", "quantity": "4"}],
            "overhead": [{"name": "memory", "perPod": "1Gi"}],
        }
    ]
    assert message.startswith("0/1 nodes are available: 1 Insufficient cpu.")


def test_a_device_that_takes_more_than_the_node_has_does_not_fit() -> None:
    async def play(stage: Stage) -> tuple[str, dict[str, Raw]]:
        await cluster(stage, {"cpu": mapped("8")})
        await stage.create(claim("a"), with_claim("p", "a"))
        await stage.settle()
        return (await stage.condition("p"))[2], await stage.claims()

    message, claims = on_stage(play, ON)
    expected = "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: "
    assert message.startswith(expected + "1 Preemption is not helpful for scheduling.")
    assert "status" not in claims["a"] or not claims["a"]["status"].get("allocation")


def test_a_pod_that_leaves_makes_room_for_what_the_devices_of_another_take() -> None:
    async def play(stage: Stage) -> tuple[str, str]:
        await cluster(stage, {"cpu": mapped("4")})
        first = pod("first", cpu="6")
        await stage.create(first)
        await stage.settle()
        await stage.create(claim("a"), with_claim("p", "a"))
        await stage.settle()
        message = (await stage.condition("p"))[2]
        await stage.delete(first)
        await stage.settle()
        return message, (await stage.nodes_of_pods())["p"]

    message, at = on_stage(play, ON)
    assert message.startswith("0/1 nodes are available: 1 Insufficient cpu. preemption: ")
    assert at == "n1"


def test_consumed_capacity_counts() -> None:
    async def play(stage: Stage) -> tuple[Raw, str]:
        shared = {"allowMultipleAllocations": True, "capacity": {"cores": {"value": "6"}}}
        await cluster(stage, {"cpu": by_capacity("cores")}, devices=1, **shared)
        await stage.create(claim("a"), with_claim("p", "a"))
        await stage.settle()
        return await stage.pod("p"), (await stage.nodes_of_pods())["p"]

    bound, at = on_stage(play, ON)
    assert at == "n1"
    assert bound["status"][FIELD][0]["mapping"] == [{"name": "cpu", "quantity": "6"}]


def test_more_capacity_than_the_device_has_is_refused_before_anything_is_counted() -> None:
    async def play(stage: Stage) -> str:
        shared = {"allowMultipleAllocations": True, "capacity": {"cores": {"value": "6"}}}
        await cluster(stage, {"cpu": by_capacity("cores")}, devices=1, **shared)
        asking = claim("a")
        asking["spec"]["devices"]["requests"][0]["exactly"]["capacity"] = {"requests": {"cores": "7"}}
        await stage.create(asking, with_claim("p", "a"))
        await stage.settle()
        return (await stage.condition("p"))[2]

    assert on_stage(play, ON).startswith("0/1 nodes are available: 1 cannot allocate all claims.")


@pytest.mark.parametrize(
    ("allocatable", "taken", "problems"),
    [
        ({}, {"cpu": "4", "memory": "8Gi"}, ([], True)),
        ({"hugepages-2Mi": "4Mi"}, {"hugepages-2Mi": "4Mi"}, ([], True)),
        ({}, {"cpu": "9"}, (["Insufficient cpu"], False)),
        ({"hugepages-2Mi": "2Mi"}, {"hugepages-2Mi": "4Mi"}, (["Insufficient hugepages-2Mi"], False)),
        ({"hugepages-1Gi": "1Gi"}, {"hugepages-1Gi": "2Gi"}, (["Insufficient hugepages-1Gi"], False)),
        # Other pods have 8 of 16Gi.
        ({}, {"memory": "9Gi"}, (["Insufficient memory"], True)),
    ],
)
def test_what_is_missing_is_named_and_whether_other_pods_have_it(
    allocatable: Raw, taken: Raw, problems: tuple[list[str], bool]
) -> None:
    known = known_cluster([make_node("n0", cpu="8", memory="16Gi", **allocatable)])
    known_pod(known, make_pod("other", node="n0", requests={"memory": "8Gi"}, phase="Running"))
    pending = known_pod(known, make_pod("p"))
    row = known.nodes.row("n0")
    assert row is not None
    entry = {"resourceClaimName": "a", "mapping": [{"name": k, "quantity": v} for k, v in taken.items()]}
    assert lacking_on(pending, [entry], known.nodes, row) == problems
    assert lacking_on(pending, [], known.nodes, row) == ([], True)


@pytest.mark.parametrize("resources", [{"cpu": mapped("1")}, {"cpu": mapped("1") | overhead(perPod="1")}])
def test_a_claim_with_a_mapped_device_is_for_one_pod_only(resources: Raw) -> None:
    async def play(stage: Stage) -> tuple[str, str]:
        await cluster(stage, resources)
        await stage.create(claim("a"), with_claim("p", "a"))
        await stage.settle()
        await stage.create(with_claim("q", "a"))
        await stage.settle()
        message = (await stage.condition("q"))[2]
        await stage.delete(with_claim("p", "a"))
        await stage.settle()
        return message, (await stage.nodes_of_pods())["q"]

    message, at = on_stage(play, ON)
    assert "1 node allocatable resource claim a has a mapped device and cannot be shared across pods" in message
    assert at == "n1"


def test_a_claim_that_cannot_be_shared_lets_no_other_claim_be_given_up() -> None:
    known = known_cluster([make_node("n0"), make_node("n1")], devices=2)
    known.use(FeatureGates.of(ON.feature_gates, NEWEST_MINOR))
    taking = make_slice("n0", 2)
    taking["spec"]["devices"][1]["nodeAllocatableResources"] = {"cpu": mapped("1")}
    known.apply_slice(None, taking)
    known.apply_claim(None, make_claim("c", allocation=make_allocation("gpu-0", node="n0")))
    known.apply_claim(None, make_claim("d", allocation=make_allocation("gpu-1", pool="n0"), reserved=["other"]))
    claims = [{"name": name, "resourceClaimName": name} for name in "cd"]
    reject = asyncio.run(make_cycle(known).decide(known_pod(known, make_pod("p", claims=claims))))
    assert isinstance(reject, Reject)
    message = "node allocatable resource claim d has a mapped device and cannot be shared across pods"
    assert (reject.counts, reject.release) == ({message: 2}, ())


def test_two_pods_at_once_do_not_share_a_mapped_device_either() -> None:
    async def play(stage: Stage) -> list[str]:
        await cluster(stage, {"cpu": mapped("1")})
        await stage.create(claim("a"), with_claim("p", "a"), with_claim("q", "a"))
        await stage.settle()
        return sorted((await stage.nodes_of_pods()).values())

    assert on_stage(play, ON) == ["", "n1"]


def test_overhead_alone_is_counted_for_each_pod_that_shares() -> None:
    async def play(stage: Stage) -> tuple[dict[str, str], Raw]:
        await cluster(stage, {"cpu": overhead(perPod="2", perContainer="1")})
        await stage.create(claim("a"), with_claim("p", "a"))
        await stage.settle()
        await stage.create(with_claim("q", "a"), with_claim("r", "a"))
        await stage.settle()
        return await stage.nodes_of_pods(), (await stage.pod("q"))["status"]

    # Four cpus each: the container's own, two for the pod, one for the container.
    nodes, status = on_stage(play, ON)
    assert sorted(nodes.values()) == ["", "n1", "n1"]
    assert nodes["p"] == "n1"
    if nodes["q"]:
        assert status[FIELD][0]["overhead"] == [{"name": "cpu", "perPod": "2", "perContainer": "1"}]


@pytest.mark.parametrize(
    ("resources", "key"), [({"cpu": mapped("1")}, "mapping"), ({"cpu": overhead(perPod="1")}, "overhead")]
)
def test_a_claim_that_no_container_uses_is_counted_in_the_status(resources: Raw, key: str) -> None:
    async def play(stage: Stage) -> Raw:
        await cluster(stage, resources)
        await stage.create(claim("a"), with_claim("p", "a", uses=0))
        await stage.settle()
        return await stage.pod("p")

    entry = on_stage(play, ON)["status"][FIELD][0]
    assert "containers" not in entry
    assert entry[key]


def test_the_pod_level_is_checked_before_a_node_is_chosen() -> None:
    async def play(stage: Stage) -> str:
        await cluster(stage, {"cpu": mapped("4")})
        await stage.create(claim("a"), with_claim("p", "a", cpu="2", resources={"requests": {"cpu": "5"}}))
        await stage.settle()
        return (await stage.condition("p"))[2]

    assert f"1 pod level request for cpu {TOO_LITTLE}" in on_stage(play, ON)


@pytest.mark.parametrize(("cpu", "fits"), [("5", True), ("7", False)])
def test_what_a_pod_has_on_the_node_that_it_was_put_on_is_not_counted_twice(cpu: str, fits: bool) -> None:
    async def play(stage: Stage) -> tuple[bool, Raw]:
        await cluster(stage, {"cpu": mapped("2")})
        await stage.create(claim("a"), with_claim("p", "a", cpu=cpu, nodeName="n1"))
        await stage.settle(5)
        return bool((await stage.claims())["a"].get("status", {}).get("reservedFor")), (await stage.pod("p"))["status"]

    reserved, status = on_stage(play, ON)
    assert (reserved, bool(status.get(FIELD))) == (fits, fits)


def test_with_the_gate_off_devices_take_nothing() -> None:
    async def play(stage: Stage) -> Raw:
        await cluster(stage, {"cpu": mapped("100")})
        await stage.create(claim("a"), with_claim("p", "a"))
        await stage.settle()
        return await stage.pod("p")

    bound = on_stage(play)
    assert bound["spec"]["nodeName"] == "n1"
    assert FIELD not in bound["status"]


def test_a_binding_that_fails_takes_it_back() -> None:
    async def play(stage: Stage) -> tuple[Raw, Raw]:
        await stage.kill()
        refusing = Refusing(stage.transport, "POST", "/binding")
        await stage.start(refusing)
        await cluster(stage, {"cpu": mapped("4")})
        await stage.create(claim("a"), with_claim("p", "a"))
        await asyncio.sleep(0.5)
        before = (await stage.pod("p"))["status"]
        refusing.on = False
        await stage.settle(15)
        return before, await stage.pod("p")

    before, bound = on_stage(play, ON)
    assert not before.get(FIELD)
    assert bound["spec"]["nodeName"] == "n1"
    assert bound["status"][FIELD][0]["mapping"] == [{"name": "cpu", "quantity": "4"}]


def test_what_an_earlier_attempt_left_in_the_status_goes_when_the_devices_take_nothing() -> None:
    async def play(stage: Stage) -> tuple[Raw, str]:
        await stage.create(node("n1"), resource_slice("n1", 1), claim("a"), with_claim("p", "a"))
        left = [{"resourceClaimName": "a", "mapping": [{"name": "cpu", "quantity": "7"}]}]
        await stage.patch(pod("p"), {"status": {FIELD: left}}, "status")
        await stage.create(device_class())
        await stage.settle()
        await stage.create(pod("other", cpu="4"))
        await stage.settle()
        return await stage.pod("p"), (await stage.nodes_of_pods())["other"]

    bound, other = on_stage(play, ON)
    assert bound["spec"]["nodeName"] == "n1"
    assert not bound["status"].get(FIELD)
    assert other == "n1"


def test_devices_that_take_node_resources_do_not_serve_extended_resources() -> None:
    async def play(stage: Stage) -> str:
        await cluster(stage, {"cpu": mapped("1")})
        await stage.patch(device_class(), {"spec": {"extendedResourceName": "example.com/gpu"}})
        asks = pod("p")
        asks["spec"]["containers"][0]["resources"] = {
            "requests": {"example.com/gpu": "1"},
            "limits": {"example.com/gpu": "1"},
        }
        await stage.create(asks)
        await stage.settle()
        return (await stage.condition("p"))[2]

    assert "1 devices that take resources of their node cannot serve extended resources" in on_stage(play, ON)


def test_refusing_many_nodes_does_not_hold_the_event_loop() -> None:
    cluster = known_cluster([make_node(f"n{i}") for i in range(200)])
    cluster.use(FeatureGates.of({"DRANodeAllocatableResources": True}, NEWEST_MINOR))
    raw = make_slice("n0", 1)
    del raw["spec"]["nodeName"]
    raw["spec"] |= {"allNodes": True}
    raw["spec"]["devices"][0]["nodeAllocatableResources"] = {"cpu": mapped("100")}
    cluster.apply_slice(None, raw)
    allocation = make_allocation("gpu-0", pool="n0")
    cluster.apply_claim(None, make_claim("c", allocation=allocation))
    clock = FakeClock()
    turns = 0

    class Ticking(Allocator):
        def allocate(self, *args: Any, **more: Any) -> Any:
            clock.advance(0.001)
            return super().allocate(*args, **more)

    async def main() -> None:
        async def others() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        task = asyncio.create_task(others())
        asking = known_pod(cluster, make_pod("p", claims=[{"name": "c", "resourceClaimName": "c"}]))
        decision = await make_cycle(cluster, clock, Ticking(share_ids=str)).decide(asking)
        task.cancel()
        assert isinstance(decision, Reject)
        assert decision.counts == {"Insufficient cpu": 200}

    asyncio.run(main())
    # 200 nodes of a millisecond each in slices of five.
    assert turns >= 35
