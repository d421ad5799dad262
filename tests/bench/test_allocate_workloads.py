"""Each workload of `dra-bench allocate` decides what it says; Kubernetes' allocator agrees where it has been built."""

from __future__ import annotations

import pytest

from dra_allocator.outcome import Allocation, Outcome
from dra_allocator.rejection import Rejection
from dra_bench.allocate.errors import WrongOutcomeError
from dra_bench.allocate.loop import Turnover, check, measure
from dra_bench.allocate.peer import Plan, nodes_to_find, peer_times
from dra_bench.allocate.registry import WORKLOADS
from dra_bench.allocate.scenario import Scenario
from dra_bench.allocate.world import World
from dra_bench.oracle.binary import oracle_path

NODES = 40


def scenario(name: str, nodes: int = NODES) -> Scenario:
    workload = WORKLOADS[name]
    return workload.scenario(1 if name.startswith("exponential/") else nodes)


def decide(world: World, number: int = 0) -> Outcome:
    return world.decide(world.claims(number), number)


@pytest.mark.parametrize("name", WORKLOADS)
def test_decisions_of_a_workload_end_as_it_says(name: str) -> None:
    world = World(scenario(name))
    measured = measure(world, 0.0, lambda part: None, least=12)
    assert len(measured.durations) == 12
    assert world.ledger.conflicts() == frozenset()


@pytest.mark.parametrize("name", WORKLOADS)
@pytest.mark.skipif(not oracle_path().exists(), reason="Kubernetes' allocator has not been built: make oracle")
def test_kubernetes_comes_to_the_same_outcome(name: str) -> None:
    peer = peer_times(scenario(name), Plan(0.0, attempt_seconds=0.2), lambda part: None)
    assert peer is not None
    assert min(peer.all_ms, peer.sample_ms) > 0


def test_selectors_choose_the_model_and_its_memory() -> None:
    world = World(scenario("selector"))
    outcome = decide(world)
    assert isinstance(outcome, Allocation)
    device = world.table.device(outcome.claims[0].result.devices[0].device)
    assert device is not None
    assert device.attributes["gpu.example.com/model"] == "H100"


@pytest.mark.parametrize(
    ("name", "count", "attribute", "different"), [("match", 5, "pciRoot", 1), ("distinct", 4, "numa", 4)]
)
def test_constraints_hold(name: str, count: int, attribute: str, different: int) -> None:
    world = World(scenario(name))
    outcome = decide(world)
    assert isinstance(outcome, Allocation)
    devices = [world.table.device(one.device) for one in outcome.claims[0].result.devices]
    values = {one.attributes[f"gpu.example.com/{attribute}"] for one in devices if one is not None}
    assert (len(devices), len(values)) == (count, different)


def test_shared_devices_that_are_full_are_passed_over() -> None:
    world = World(scenario("shared"))
    outcome = decide(world)
    assert isinstance(outcome, Allocation)
    entry = outcome.claims[0].result.devices[0]
    assert entry.share_id is not None
    assert outcome.node == "node-000031"  # 1,000 shares fill the 250 devices of the first 31 nodes and a bit


def test_taints_of_rules_count_on_both_sides() -> None:
    tainted = scenario("taints")
    assert tainted.ruled_slices is not None
    published, ruled = tainted.slices(4)[0], tainted.ruled_slices(4)[0]
    assert "taints" not in published["spec"]["devices"][1]
    assert [taint["key"] for taint in ruled["spec"]["devices"][1]["taints"]] == ["example.com/broken"]


def test_explained_rejections_have_their_reasons() -> None:
    outcome = decide(World(scenario("nofit")))
    assert isinstance(outcome, Rejection)
    reasons = {one.reason for one in outcome.explain().claims[0].requests[0].reasons}
    assert "claim-selector" in reasons


def test_filling_begins_anew_when_nothing_fits() -> None:
    world = World(scenario("fill", 2))
    measure(world, 0.0, lambda part: None, least=40)
    assert len(set(world.ledger.held())) <= 16


def test_churn_keeps_as_much_held_as_at_first() -> None:
    world = World(scenario("churn"))
    before = len(set(world.ledger.held()))
    measure(world, 0.0, lambda part: None, least=30)
    assert len(set(world.ledger.held())) == before


def test_windows_let_claims_go_in_order() -> None:
    world = World(scenario("match"))
    turnover = Turnover(world)
    for number in range(world.scenario.window + 1):
        decide(world, number)
        turnover.after([f"{number}-0"])
    assert world.ledger.result("0-0") is None
    assert world.ledger.result("1-0") is not None


def test_an_outcome_that_the_workload_does_not_say_ends_the_measurement() -> None:
    with pytest.raises(WrongOutcomeError, match="decision 3 ended with Rejection"):
        check(scenario("match"), Rejection(1, tuple), 3)


@pytest.mark.parametrize(("nodes", "expected"), [(1, 1), (99, 99), (100, 100), (500, 230), (5000, 500), (50_000, 2500)])
def test_the_sample_is_kube_schedulers(nodes: int, expected: int) -> None:
    assert nodes_to_find(nodes) == expected
