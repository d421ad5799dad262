"""The cycle: filters in kube-scheduler's order and words, devices, and the commit."""

import asyncio
from collections.abc import Callable

import pytest

from dra_allocator.allocator import Allocator
from dra_scheduler.cycle.cycle import ATTEMPTS
from dra_scheduler.cycle.decision import Bind, Reject
from dra_scheduler.report.condition import condition_text
from support.fake_clock import FakeClock
from support.known import decide, known_cluster, known_pod, make_cycle, some_nodes
from support.objects import Raw, make_allocation, make_claim, make_class, make_node, make_pod, make_slice, newer

CLAIM = [{"name": "gpu", "resourceClaimName": "c"}]


def rejected(outcome: object) -> Reject:
    assert isinstance(outcome, Reject), outcome
    return outcome


def bound(outcome: object) -> Bind:
    assert isinstance(outcome, Bind), outcome
    return outcome


def test_a_pod_goes_where_it_fits_and_counts_there_at_once() -> None:
    cluster = known_cluster([make_node("small", cpu="1"), make_node("large", cpu="8")])
    assert bound(decide(cluster, make_pod("p", requests={"cpu": "6"}))).node == "large"
    second = rejected(decide(cluster, make_pod("q", requests={"cpu": "6"})))
    assert second.counts == {"Insufficient cpu": 2}


def test_a_device_is_assumed_in_the_tick_of_the_decision() -> None:
    cluster = known_cluster(some_nodes(1), devices=1)
    for name in ("c", "d"):
        cluster.apply_claim(None, make_claim(name))
    decision = bound(decide(cluster, make_pod("p", claims=CLAIM)))
    (plan,) = decision.claims
    assert plan.allocation is not None
    assert plan.allocation.devices[0].device.device == "gpu-0"
    other = rejected(decide(cluster, make_pod("q", claims=[{"name": "gpu", "resourceClaimName": "d"}])))
    assert other.counts == {"cannot allocate all claims": 1}
    assert other.plugins == {"DynamicResources"}


def twice_published(node: str) -> list[Raw]:
    slices = [make_slice(node, 1, name=f"{name}-{node}") for name in ("a", "b")]
    for one in slices:
        one["spec"]["pool"]["resourceSliceCount"] = 2
    return slices


def test_invalid_pools_make_a_pod_unschedulable_as_in_kube_scheduler() -> None:
    cluster = known_cluster(some_nodes(3))
    for node in ("n0", "n1", "n2"):
        for one in twice_published(node):
            cluster.apply_slice(None, one)
    cluster.apply_claim(None, make_claim("c"))
    reject = rejected(decide(cluster, make_pod("p", claims=CLAIM)))
    assert reject.kind == "unschedulable"
    assert reject.counts == {"invalid resource pools were encountered": 3}
    assert reject.plugins == {"DynamicResources"}
    text = condition_text(reject)
    assert text.reason == "Unschedulable"
    assert text.message.startswith("0/3 nodes are available: 3 invalid resource pools were encountered.")
    assert reject.explain is not None
    assert "invalid-pool" in {reason.reason for reason in reject.explain().claims[0].requests[0].reasons}


def test_nodes_with_invalid_pools_are_counted_beside_those_without_devices() -> None:
    cluster = known_cluster(some_nodes(12))
    for one in twice_published("n3"):
        cluster.apply_slice(None, one)
    cluster.apply_claim(None, make_claim("c"))
    reject = rejected(decide(cluster, make_pod("p", claims=CLAIM)))
    assert reject.counts == {"invalid resource pools were encountered": 1, "cannot allocate all claims": 11}


def test_what_was_assumed_is_free_again_once_forgotten() -> None:
    cluster = known_cluster(some_nodes(1), devices=1)
    cluster.apply_claim(None, make_claim("c"))
    pod = make_pod("p", claims=CLAIM, requests={"cpu": "3"})
    decision = bound(decide(cluster, pod))
    info = cluster.pods.get("uid-p")
    assert info is not None
    cluster.forget(info, [plan.uid for plan in decision.claims])
    assert bound(decide(cluster, pod)) == decision


def test_a_second_pod_joins_the_allocation_that_the_first_has_just_decided() -> None:
    cluster = known_cluster(some_nodes(3), devices=1)
    cluster.apply_claim(None, make_claim("c"))
    first = bound(decide(cluster, make_pod("p", claims=CLAIM)))
    second = bound(decide(cluster, make_pod("q", claims=CLAIM)))
    assert (second.node, second.claims) == (first.node, first.claims)


def test_an_allocated_claim_keeps_the_pod_on_its_node() -> None:
    cluster = known_cluster(some_nodes(3), devices=1)
    cluster.apply_claim(None, make_claim("c", allocation=make_allocation("gpu-0", node="n1")))
    decision = bound(decide(cluster, make_pod("p", claims=CLAIM)))
    assert decision.node == "n1"
    assert decision.claims[0].allocation is None


def test_an_allocation_elsewhere_is_named_as_what_may_be_released() -> None:
    cluster = known_cluster(some_nodes(3), devices=1)
    cluster.apply_claim(None, make_claim("c", allocation=make_allocation("gpu-0", node="gone")))
    outcome = rejected(decide(cluster, make_pod("p", claims=CLAIM)))
    assert outcome.counts == {"resourceclaim not available on the node": 3}
    assert outcome.release == ("uid-c",)


@pytest.mark.parametrize(
    ("prepare", "text"),
    [
        (lambda c: None, 'could not find ResourceClaim "default/c"'),
        (
            lambda c: c.apply_claim(None, make_claim("c", device_class="other")),
            "request gpu: device class other does not exist",
        ),
        (
            lambda c: c.apply_claim(None, classic(make_claim("c"))),
            "resource claim default/c is to be allocated by the controller gpu.example.com (classic DRA), which is "
            "not supported by this scheduler",
        ),
        (lambda c: c.apply_claim(None, deleted(make_claim("c"))), 'resourceclaim "c" is being deleted'),
        (
            lambda c: c.apply_claim(
                None,
                make_claim(
                    "c", allocation=make_allocation("gpu-0", node="n0"), reserved=[f"other{i}" for i in range(256)]
                ),
            ),
            "resourceclaim in use",
        ),
    ],
)
def test_claims_that_cannot_be_used_reject_before_any_node(prepare: Callable[[object], None], text: str) -> None:
    cluster = known_cluster(some_nodes(2), devices=1)
    prepare(cluster)
    outcome = rejected(decide(cluster, make_pod("p", claims=CLAIM)))
    assert condition_text(outcome).message == (
        f"0/2 nodes are available: {text}. preemption: 0/2 nodes are available: "
        "2 Preemption is not helpful for scheduling."
    )


def test_a_generated_claim_of_another_pod_is_refused() -> None:
    cluster = known_cluster(some_nodes(1), devices=1)
    cluster.apply_claim(None, make_claim("c", owner="somebody"))
    claims = [{"name": "gpu", "resourceClaimTemplateName": "t"}]
    outcome = rejected(decide(cluster, make_pod("p", claims=claims, statuses={"gpu": "c"})))
    assert outcome.before_filters == "ResourceClaim default/c was not created for Pod default/p (Pod is not owner)"


def classic(raw: Raw) -> Raw:
    raw["spec"]["controller"] = "gpu.example.com"
    return raw


def deleted(raw: Raw) -> Raw:
    raw["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    return raw


def test_a_node_named_by_affinity_is_the_only_one_looked_at() -> None:
    terms = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    cluster = known_cluster([*some_nodes(1), make_node("n1", unschedulable=True)])
    outcome = rejected(decide(cluster, make_pod("p", affinity={"nodeAffinity": required})))
    assert outcome.counts == {"node(s) didn't satisfy plugin(s) [NodeAffinity]": 1, "node(s) were unschedulable": 1}


def test_host_ports_keep_two_pods_apart_and_count_as_resolvable() -> None:
    ports = [{"name": "main", "ports": [{"containerPort": 80, "hostPort": 8080}]}]
    cluster = known_cluster(some_nodes(1))
    bound(decide(cluster, make_pod("p", containers=ports)))
    outcome = rejected(decide(cluster, make_pod("q", containers=ports)))
    assert outcome.counts == {"node(s) didn't have free ports for the requested pod ports": 1}
    assert outcome.preemption == {"No preemption victims found for incoming pod": 1}


def test_a_pod_of_lower_priority_in_the_way_is_said_not_to_be_preempted() -> None:
    cluster = known_cluster(some_nodes(1))
    bound(decide(cluster, make_pod("p", requests={"cpu": "3"})))
    outcome = rejected(decide(cluster, make_pod("q", requests={"cpu": "3"}, priority=10)))
    assert outcome.preemption == {"Preemption is not done by this scheduler": 1}
    never = make_pod("r", requests={"cpu": "3"}, priority=10, preemptionPolicy="Never")
    assert condition_text(rejected(decide(cluster, never))).message == (
        "0/1 nodes are available: 1 Insufficient cpu. preemption: not eligible due to preemptionPolicy=Never."
    )


class Slow:
    """An allocator whose attempts take `steps` steps; `between` is called after each of them."""

    def __init__(self, steps: int, between: Callable[[int], None]) -> None:
        self.inner = Allocator(share_ids=lambda: "share")
        self.steps = steps
        self.between = between
        self.attempts = 0

    def allocate(self, *args: object, **more: object) -> "Slow.Attempt":
        self.attempts += 1
        return Slow.Attempt(self, self.inner.allocate(*args, **more))  # type: ignore[arg-type]

    class Attempt:
        def __init__(self, slow: "Slow", inner: object) -> None:
            self.slow = slow
            self.left = slow.steps
            self.outcome = inner.step(Never())  # type: ignore[attr-defined]

        def step(self, budget: object) -> object:
            self.left -= 1
            self.slow.between(self.slow.attempts)
            return self.outcome if self.left < 0 else None


class Never:
    def exhausted(self) -> bool:
        return False


@pytest.mark.parametrize("name", ["example.com/gpu", "deviceclass.resource.kubernetes.io/gpu"])
def test_an_extended_resource_of_a_device_class_needs_devices_unless_a_node_has_it_itself(name: str) -> None:
    cluster = known_cluster(some_nodes(1))
    gpu = make_class()
    gpu["spec"]["extendedResourceName"] = "example.com/gpu"
    cluster.apply_class(make_class(), gpu)
    assert rejected(decide(cluster, make_pod("p", requests={name: "1"}))).counts == {"cannot allocate all claims": 1}
    plugin_node = make_node("n1")
    plugin_node["status"]["allocatable"][name] = "2"
    cluster.apply_node(None, plugin_node)
    assert bound(decide(cluster, make_pod("q", requests={name: "1"}))).node == "n1"


def claimant(number: int, **more: object) -> Raw:
    return make_pod(f"p{number}", claims=[{"name": "gpu", "resourceClaimName": f"c{number}"}], **more)  # type: ignore[arg-type]


def test_pods_that_ask_for_the_same_are_rejected_by_one_search_until_something_changes() -> None:
    cluster = known_cluster(some_nodes(2), devices=1)
    for number in range(5):
        cluster.apply_claim(None, make_claim(f"c{number}", count=2))
    counting = Slow(0, lambda attempt: None)
    cycle = make_cycle(cluster, allocator=counting)
    first = rejected(decide(cluster, claimant(0), cycle))
    second = rejected(decide(cluster, claimant(1), cycle))
    assert counting.attempts == 1
    assert (second.counts, second.preemption) == (first.counts, first.preemption)
    assert first.explain is not None
    assert second.explain is not None
    assert [entry.claim for entry in first.explain().claims] == ["default/c0"]
    assert [entry.claim for entry in second.explain().claims] == ["default/c1"]
    rejected(decide(cluster, claimant(2, priority=5), cycle))
    assert counting.attempts == 2
    cluster.apply_slice(None, make_slice("n0", 2, name="slice-n0"))
    bound(decide(cluster, claimant(3), cycle))
    assert counting.attempts == 3


def test_the_event_loop_gets_its_turn_between_slices() -> None:
    cluster = known_cluster(some_nodes(1), devices=1)
    cluster.apply_claim(None, make_claim("c"))
    pod = known_pod(cluster, make_pod("p", claims=CLAIM))
    turns = 0

    async def main() -> None:
        async def others() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        task = asyncio.create_task(others())
        bound(await make_cycle(cluster, allocator=Slow(5, lambda attempt: None)).decide(pod))
        task.cancel()

    asyncio.run(main())
    assert turns >= 5


@pytest.mark.parametrize("what", ["slice", "node label", "node full", "claim taken"])
def test_a_decision_on_what_has_changed_meanwhile_is_made_anew(what: str) -> None:
    cluster = known_cluster(some_nodes(1), devices=1)
    cluster.apply_claim(None, make_claim("c"))
    rival = make_claim("rival")
    cluster.apply_claim(None, rival)
    pod = known_pod(cluster, make_pod("p", claims=CLAIM, requests={"cpu": "3"}))

    def change(attempt: int) -> None:
        if attempt > 1:
            return
        if what == "slice":
            old = make_slice("n0", 1)
            cluster.apply_slice(old, make_slice("n0", 2))
        elif what == "node label":
            cluster.apply_node(make_node("n0"), make_node("n0", labels={"a": "b"}))
        elif what == "node full":
            cluster.apply_pod(None, make_pod("other", node="n0", requests={"cpu": "2"}))
        else:
            cluster.apply_claim(rival, newer(rival, allocation=make_allocation("gpu-0", node="n0")))

    slow = Slow(1, change)
    outcome = asyncio.run(make_cycle(cluster, allocator=slow).decide(pod))
    if what == "node full":
        assert rejected(outcome).counts == {"Insufficient cpu": 1}
    elif what == "claim taken":
        assert rejected(outcome).counts == {"cannot allocate all claims": 1}
        assert slow.attempts == 2
    else:
        bound(outcome)
        assert slow.attempts == 2


def test_a_decision_is_made_anew_when_an_allocated_claim_has_moved_to_another_node_meanwhile() -> None:
    cluster = known_cluster(some_nodes(2), devices=2)
    cluster.apply_claim(None, make_claim("c"))
    there = make_claim("d", allocation=make_allocation("port-0", node="n0", driver="network.example.com"))
    cluster.apply_claim(None, there)
    pod = known_pod(cluster, make_pod("p", claims=[*CLAIM, {"name": "other", "resourceClaimName": "d"}]))

    def change(attempt: int) -> None:
        if attempt == 1:
            moved = make_allocation("port-0", node="n1", driver="network.example.com")
            cluster.apply_claim(there, newer(there, allocation=moved))

    assert bound(asyncio.run(make_cycle(cluster, allocator=Slow(1, change)).decide(pod))).node == "n1"


def test_a_cluster_that_never_stands_still_ends_in_an_error_and_nothing_assumed() -> None:
    cluster = known_cluster(some_nodes(1), devices=1)
    cluster.apply_claim(None, make_claim("c"))
    pod = known_pod(cluster, make_pod("p", claims=CLAIM))
    slow = Slow(0, lambda attempt: cluster.apply_node(make_node("n0"), make_node("n0", labels={"a": str(attempt)})))
    outcome = rejected(asyncio.run(make_cycle(cluster, allocator=slow).decide(pod)))
    assert (outcome.kind, slow.attempts) == ("error", ATTEMPTS)
    assert cluster.pods.assumed_node("uid-p") is None


def test_a_pod_that_is_deleted_meanwhile_is_not_decided() -> None:
    cluster = known_cluster(some_nodes(1), devices=1)
    cluster.apply_claim(None, make_claim("c"))
    raw = make_pod("p", claims=CLAIM)
    pod = known_pod(cluster, raw)
    slow = Slow(1, lambda attempt: cluster.apply_pod(raw, None))
    assert asyncio.run(make_cycle(cluster, allocator=slow).decide(pod)) is None


def test_an_attempt_that_takes_too_long_is_an_error_that_says_so() -> None:
    cluster = known_cluster(some_nodes(3), devices=1)
    cluster.apply_claim(None, make_claim("c", count=2))
    clock = FakeClock()
    pod = known_pod(cluster, make_pod("p", claims=CLAIM))

    class Creeping:
        def allocate(self, *args: object, limit: object, **more: object) -> object:
            inner = Allocator(share_ids=lambda: "share").allocate(*args, limit=limit, **more)  # type: ignore[arg-type]
            clock.advance(11)
            return inner

    outcome = rejected(asyncio.run(make_cycle(cluster, clock, Creeping()).decide(pod)))
    assert outcome.kind == "error"
    assert "timed out trying to allocate devices" in outcome.error
