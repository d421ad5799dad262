"""What kube-scheduler's DynamicResources plugin does and no other test of ours shows: gates, taints, admin access."""

from __future__ import annotations

import asyncio
import random
from datetime import timedelta
from typing import Any

import pytest

from dra_allocator.allocator import Allocator
from dra_scheduler.cache.cluster import Cluster
from dra_scheduler.cycle.cycle import Cycle
from dra_scheduler.cycle.decision import Bind
from dra_scheduler.feature_gates import NEWEST_MINOR, FeatureGates
from dra_scheduler.settings import Settings
from support.fake_clock import START, FakeClock
from support.known import bound, known_cluster, known_pod, rejected, some_nodes
from support.objects import Raw, make_allocation, make_claim, make_class, make_node, make_pod, make_slice
from support.stage import Stage, claim, device_class, node, on_stage, pod, resource_slice

CLAIM = [{"name": "gpu", "resourceClaimName": "c"}]
TWO = [*CLAIM, {"name": "other", "resourceClaimName": "d"}]
NO_DEVICES = "cannot allocate all claims"
NOT_AVAILABLE = "resourceclaim not available on the node"


def gated(cluster: Cluster, **gates: bool) -> Cluster:
    cluster.use(FeatureGates.of(gates, NEWEST_MINOR))
    return cluster


def one_device(**device: Any) -> Cluster:
    cluster = known_cluster(some_nodes(1))
    raw = make_slice("n0", 1)
    raw["spec"]["devices"][0] |= device
    cluster.apply_slice(None, raw)
    return cluster


def with_request(**request: Any) -> Raw:
    made = make_claim("c")
    made["spec"]["devices"]["requests"][0]["exactly"] |= request
    return made


TAINTS = [{"key": "broken", "effect": "NoSchedule"}]


def test_taints_of_devices_keep_pods_off_unless_the_gate_is_off() -> None:
    cluster = one_device(taints=TAINTS)
    cluster.apply_claim(None, make_claim("c"))
    assert rejected(cluster, make_pod("p", claims=CLAIM)).counts == {NO_DEVICES: 1}
    gated(cluster, DRADeviceTaints=False)
    assert bound(cluster, make_pod("q", claims=CLAIM)).node == "n0"


def test_admin_access_gets_a_device_in_use_and_needs_its_gate() -> None:
    cluster = one_device()
    cluster.apply_claim(None, make_claim("user", allocation=make_allocation("gpu-0", node="n0"), reserved=["x"]))
    cluster.apply_claim(None, with_request(adminAccess=True))
    decision = bound(cluster, make_pod("p", claims=CLAIM))
    (plan,) = decision.claims
    assert plan.allocation is not None
    assert plan.allocation.devices[0].admin_access
    cluster.forget(known_pod(cluster, make_pod("p", claims=CLAIM)), [plan.uid])
    reject = rejected(gated(cluster, DRAAdminAccess=False), make_pod("q", claims=CLAIM))
    assert reject.kind == "error"
    assert "admin access is requested, but the feature is disabled" in reject.error


def test_a_device_that_only_an_admin_uses_is_free() -> None:
    cluster = one_device()
    watched = make_allocation("gpu-0", node="n0")
    watched["devices"]["results"][0]["adminAccess"] = True
    cluster.apply_claim(None, make_claim("admin", allocation=watched, reserved=["x"]))
    cluster.apply_claim(None, make_claim("c"))
    assert bound(cluster, make_pod("p", claims=CLAIM)).node == "n0"


def test_a_decision_that_is_not_written_yet_takes_its_device_and_no_other() -> None:
    cluster = known_cluster(some_nodes(1), devices=2)
    for name in "cde":
        cluster.apply_claim(None, make_claim(name))
    for name in "cd":
        bound(cluster, make_pod(f"pod-{name}", claims=[{"name": "gpu", "resourceClaimName": name}]))
    last = make_pod("pod-e", claims=[{"name": "gpu", "resourceClaimName": "e"}])
    assert rejected(cluster, last).counts == {NO_DEVICES: 1}


FAILING = [{"cel": {"expression": 'device.attributes["gpu.example.com"].healthy'}}]


@pytest.mark.parametrize("nodes", [2, 3])
def test_a_selector_that_fails_on_one_node_leaves_the_others(nodes: int) -> None:
    cluster = known_cluster(some_nodes(nodes))
    for number in range(nodes):
        raw = make_slice(f"n{number}", 1)
        if number:
            raw["spec"]["devices"][0]["attributes"] = {"healthy": {"bool": True}}
        cluster.apply_slice(None, raw)
    cluster.apply_claim(None, with_request(selectors=FAILING))
    assert bound(cluster, make_pod("p", claims=CLAIM)).node != "n0"


def test_a_selector_of_the_class_that_fails_everywhere_is_the_pods_error() -> None:
    cluster = one_device()
    broken = make_class()
    broken["spec"] = {"selectors": FAILING}
    cluster.apply_class(make_class(), broken)
    cluster.apply_claim(None, make_claim("c"))
    reject = rejected(cluster, make_pod("p", claims=CLAIM))
    assert (reject.kind, "class gpu: selector #0" in reject.error) == ("error", True)
    assert "no such key: healthy" in reject.error


def alternatives(*classes: str) -> Raw:
    made = make_claim("c")
    parts = [
        {"name": f"sub-{place}", "deviceClassName": name, "allocationMode": "ExactCount", "count": 1}
        for place, name in enumerate(classes)
    ]
    made["spec"]["devices"]["requests"] = [{"name": "req-1", "firstAvailable": parts}]
    return made


def test_a_prioritized_list_is_allocated_under_the_name_of_its_alternative() -> None:
    cluster = one_device()
    cluster.apply_claim(None, alternatives("gpu"))
    (plan,) = bound(cluster, make_pod("p", claims=CLAIM)).claims
    assert plan.allocation is not None
    assert plan.allocation.devices[0].request == "req-1/sub-0"


def test_a_prioritized_list_needs_its_gate_and_all_its_classes() -> None:
    cluster = one_device()
    cluster.apply_claim(None, alternatives("gpu", "missing"))
    text = rejected(cluster, make_pod("p", claims=CLAIM)).before_filters
    assert text == "request req-1/sub-1: device class missing does not exist"
    gated(cluster, DRAPrioritizedList=False)
    text = rejected(cluster, make_pod("q", claims=CLAIM)).before_filters
    assert text.endswith("request req-1: has subrequests, but the DRAPrioritizedList feature is disabled")


@pytest.mark.parametrize("operations", [["*"], ["NodeUnprepareResources"]])
def test_an_allocation_that_skips_node_operations_needs_a_node_that_can(operations: list[str]) -> None:
    skipping = make_allocation("gpu-0", node="n0")
    skipping["devices"]["results"][0]["skipNodeOperations"] = operations
    cluster = known_cluster(some_nodes(1), devices=1)
    cluster.apply_claim(None, make_claim("c", allocation=skipping))
    reject = rejected(cluster, make_pod("p", claims=CLAIM))
    assert (reject.counts, reject.release) == ({NOT_AVAILABLE: 1}, ("uid-c",))
    able = make_node("n0")
    able["status"]["declaredFeatures"] = ["DRAOptionalNodeOperations"]
    cluster.apply_node(make_node("n0"), able)
    assert bound(cluster, make_pod("q", claims=CLAIM)).node == "n0"


@pytest.mark.parametrize("entries", [None, []])
def test_an_allocation_that_skips_nothing_can_be_used_everywhere(entries: list[str] | None) -> None:
    plain = make_allocation("gpu-0", node="n0")
    if entries is not None:
        plain["devices"]["results"][0]["skipNodeOperations"] = entries
    cluster = known_cluster(some_nodes(1), devices=1)
    cluster.apply_claim(None, make_claim("c", allocation=plain))
    assert bound(cluster, make_pod("p", claims=CLAIM)).node == "n0"


def test_a_decided_allocation_that_skips_node_operations_keeps_joining_pods_off_nodes_that_cannot() -> None:
    able = make_node("n0")
    able["status"]["declaredFeatures"] = ["DRAOptionalNodeOperations"]
    cluster = known_cluster([able, make_node("n1")])
    raw = make_slice("n0", 1)
    del raw["spec"]["nodeName"]
    raw["spec"] |= {"allNodes": True, "skipNodeOperations": ["*"]}
    cluster.apply_slice(None, raw)
    cluster.apply_claim(None, make_claim("c"))
    gated(cluster, DRAOptionalNodeOperations=True)
    assert bound(cluster, make_pod("p", claims=CLAIM)).node == "n0"
    reject = rejected(cluster, make_pod("q", claims=CLAIM, nodeSelector={"kubernetes.io/hostname": "n1"}))
    assert reject.counts[NOT_AVAILABLE] == 1
    assert bound(cluster, make_pod("r", claims=CLAIM)).node == "n0"


def test_without_a_time_out_a_search_may_take_its_time() -> None:
    cluster = known_cluster(some_nodes(1), devices=1)
    cluster.apply_claim(None, make_claim("c"))
    clock = FakeClock()

    class Slow(Allocator):
        def allocate(self, *args: Any, **more: Any) -> Any:
            clock.advance(3600)
            return super().allocate(*args, **more)

    settings = Settings(filter_timeout=None)
    cycle = Cycle(cluster, Slow(share_ids=str), settings, clock, random.Random(0))
    decision = asyncio.run(cycle.decide(known_pod(cluster, make_pod("p", claims=CLAIM))))
    assert isinstance(decision, Bind)


CONDITIONS = {"bindingConditions": ["attached"], "bindingFailureConditions": ["failed"]}


def waiting_claim(name: str, device: str, **conditions: str) -> Raw:
    """An allocated claim whose device reports these conditions."""
    allocation = make_allocation(device, node="n0")
    allocation["devices"]["results"][0] |= CONDITIONS
    made = make_claim(name, allocation=allocation)
    reported = [{"type": kind, "status": value} for kind, value in conditions.items()]
    device_status = {"driver": "gpu.example.com", "pool": "n0", "device": device, "conditions": reported}
    made["status"]["devices"] = [device_status]
    return made


def test_of_two_claims_only_the_one_whose_device_failed_is_given_up() -> None:
    cluster = known_cluster(some_nodes(1), devices=2)
    cluster.apply_claim(None, waiting_claim("c", "gpu-0", attached="True", failed="False"))
    cluster.apply_claim(None, waiting_claim("d", "gpu-1", failed="True"))
    reject = rejected(cluster, make_pod("p", claims=TWO))
    assert (reject.counts, reject.release) == ({NOT_AVAILABLE: 1}, ("uid-d",))


@pytest.mark.parametrize(
    ("free", "counts", "release"),
    [
        ((), {NO_DEVICES: 3}, ()),
        (("n2",), {NO_DEVICES: 2, NOT_AVAILABLE: 1}, ("uid-c",)),
    ],
)
def test_a_claim_is_given_up_only_for_nodes_that_have_devices_for_the_others(
    free: tuple[str, ...], counts: dict[str, int], release: tuple[str, ...]
) -> None:
    cluster = known_cluster(some_nodes(3))
    for name in ("n0", *free):
        cluster.apply_slice(None, make_slice(name, 1))
    cluster.apply_claim(None, make_claim("c", allocation=make_allocation("gpu-0", node="n0")))
    cluster.apply_claim(None, make_claim("d"))
    reject = rejected(cluster, make_pod("p", claims=TWO))
    assert (reject.counts, reject.release) == (counts, release)


def test_two_claims_whose_devices_are_ready_are_used() -> None:
    cluster = known_cluster(some_nodes(1), devices=2)
    for name, device in (("c", "gpu-0"), ("d", "gpu-1")):
        cluster.apply_claim(None, waiting_claim(name, device, attached="True", failed="False"))
    assert bound(cluster, make_pod("p", claims=TWO)).node == "n0"


def test_conditions_of_other_kinds_do_not_count() -> None:
    cluster = known_cluster(some_nodes(1), devices=1)
    made = waiting_claim("c", "gpu-0", ready="True", broken="True")
    made["status"]["allocation"]["allocationTimestamp"] = (START - timedelta(minutes=10)).isoformat()  # ten minutes ago
    cluster.apply_claim(None, made)
    assert rejected(cluster, make_pod("p", claims=CLAIM)).release == ("uid-c",)


FINALIZER = "resource.kubernetes.io/delete-protection"


@pytest.mark.parametrize("had", [True, False])
def test_an_allocated_claim_has_one_finalizer_whether_or_not_it_had_it_before(had: bool) -> None:
    async def play(stage: Stage) -> Raw:
        await stage.create(node("n1"), resource_slice("n1", 1), device_class())
        made = claim("c")
        if had:
            made["metadata"]["finalizers"] = [FINALIZER]
        await stage.create(made, pod("p", claim="c"))
        await stage.settle()
        return (await stage.claims())["c"]

    there = on_stage(play)
    assert there["metadata"]["finalizers"] == [FINALIZER]
    assert there["status"]["reservedFor"][0]["name"] == "p"


@pytest.mark.parametrize("before", [[FINALIZER], []])
def test_a_finalizer_that_comes_or_goes_under_our_write_is_there_once_in_the_end(before: list[str]) -> None:
    """The claim is observed with other finalizers than it has when it is written."""

    async def play(stage: Stage) -> Raw:
        await stage.create(node("n1"), resource_slice("n1", 1), device_class())
        made = claim("c")
        made["metadata"]["finalizers"] = before
        await stage.create(made)
        await stage.settle()
        assert stage.scheduler is not None
        cluster = stage.scheduler.cluster
        learn, cluster.learn_claim = cluster.learn_claim, lambda raw, **_: None  # type: ignore[method-assign]
        await stage.patch(claim("c"), {"metadata": {"finalizers": [] if before else [FINALIZER]}})
        await stage.settle()
        cluster.learn_claim = learn  # type: ignore[method-assign]
        await stage.create(pod("p", claim="c"))
        await stage.settle()
        return (await stage.claims())["c"]

    there = on_stage(play)
    assert there["metadata"]["finalizers"] == [FINALIZER]
    assert there["status"]["allocation"]
