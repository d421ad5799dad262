"""The simulation: it finds what is wrong, the same seed is the same life, and lives end well."""

from __future__ import annotations

from typing import Any

import pytest

from dra_bench.main import main
from dra_bench.simulation import objects
from dra_bench.simulation.judge import violations
from dra_bench.simulation.life import live
from dra_bench.simulation.state import State

JSON = dict[str, Any]
NODE = "n0"


def named(*found: JSON) -> dict[str, JSON]:
    return {one["metadata"]["name"]: one for one in found}


def result(device: str, driver: str = objects.GPU, **rest: Any) -> JSON:
    return {
        "request": "r",
        "driver": driver,
        "pool": f"{NODE}-{driver.partition('.')[0]}",
        "device": device,
        **rest,
    }


def claim(name: str, *results: JSON, users: tuple[str, ...] = (), ask: str = "one", **meta: Any) -> JSON:
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [NODE]}]}
    allocation = {"devices": {"results": [*results]}, "nodeSelector": {"nodeSelectorTerms": [term]}}
    return {
        "metadata": {"name": name, **meta},
        "spec": {"devices": {"requests": objects.ASKS[ask]}},
        "status": {
            **({"allocation": allocation} if results else {}),
            "reservedFor": [{"resource": "pods", "uid": uid} for uid in users],
        },
    }


def pod(name: str, claim_name: str, node: str = "") -> JSON:
    made = objects.pod(name, claim=claim_name)
    made["metadata"]["uid"] = name
    made["spec"] |= {"nodeName": node} if node else {}
    return made


def state(*claims: JSON, pods: tuple[JSON, ...] = (), kind: str = "plain", cards: int = 2, nodes: int = 1) -> State:
    slices = [objects.nics(NODE), objects.cards(NODE, kind, cards)]
    if kind == "partitions":
        slices.append(objects.counters(NODE, cards))
    return State(
        named(*(objects.node(f"n{number}") for number in range(nodes))),
        named(*pods),
        named(*claims),
        named(*slices),
        named(*objects.classes()),
        {},
    )


def found(one: State) -> str:
    return "; ".join(violations(one))


def test_a_cluster_in_order_has_nothing_wrong() -> None:
    held = claim("a", result("gpu-0"), users=("p",))
    assert found(state(held, pods=(pod("p", "a", NODE),))) == ""


def test_a_device_with_two_users_is_found() -> None:
    assert "is held by a, b" in found(state(claim("a", result("gpu-0")), claim("b", result("gpu-0"))))


def test_capacity_beyond_what_there_is_is_found() -> None:
    shares = [
        claim(name, result("nic-0", objects.NIC, shareID=name, consumedCapacity={"bandwidth": "6"})) for name in "ab"
    ]
    assert "12 of 10 bandwidth is taken by a, b" in found(state(*shares))


def test_counters_beyond_what_there_is_are_found() -> None:
    both = claim("a", result("gpu-0-whole")), claim("b", result("gpu-0-half-0"))
    assert "counter parts of card-0 in n0-gpu: 3 is taken" in found(state(*both, kind="partitions"))


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        (claim("a", result("gpu-0")), "is not reserved for it"),
        (claim("a", users=("p",)), "has no devices"),
        (claim("a", result("gpu-0"), users=("p", "other")), "that is gone or has no node"),
    ],
)
def test_a_bound_pod_without_what_it_needs_is_found(wrong: JSON, text: str) -> None:
    assert text in found(state(wrong, pods=(pod("p", "a", NODE),)))


def test_a_pod_on_another_node_than_its_devices_is_found() -> None:
    held = claim("a", result("gpu-0"), users=("p",))
    assert "cannot be used" in found(state(held, pods=(pod("p", "a", "n1"),), nodes=2))


def test_what_is_left_of_pods_that_are_gone_is_found() -> None:
    owned = claim("a", ownerReferences=[{"kind": "Pod", "uid": "gone"}])
    assert found(state(owned)) == "claim a is left of a pod that is gone"
    deleted = claim("a", deletionTimestamp="2026-01-01T00:00:00Z", finalizers=["x"])
    assert found(state(deleted)) == "claim a is deleted, but does not go away: ['x']"


def test_a_pod_that_fits_but_waits_is_found() -> None:
    assert found(state(claim("a"), pods=(pod("p", "a"),))) == "pod p waits although it fits on n0"
    assert found(state(claim("a", ask="two"), pods=(pod("p", "a"),), cards=1)) == ""
    assert "claim that nobody creates" in found(state(pods=(pod("p", "a"),)))


def test_an_allocation_that_nobody_uses_does_not_keep_its_pod_from_fitting() -> None:
    assert found(state(claim("a", result("gpu-0")), pods=(pod("p", "a"),))) == "pod p waits although it fits on n0"


@pytest.mark.parametrize("seed", range(12))
def test_lives_end_well(seed: int) -> None:
    wrong, log = live(seed)
    assert wrong == [], "\n".join(log)


def test_the_same_seed_is_the_same_life() -> None:
    assert live(4) == live(4)


def test_the_command_counts_lives_and_goes_on_where_it_ended(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    results = tmp_path / "simulation.json"
    assert main(["simulate", "--seeds", "0-1", "--results", str(results)]) == 0
    assert main(["simulate", "--seeds", "0-2", "--results", str(results), "--log"]) == 0
    text = capsys.readouterr().out
    assert "2 lives, 0 failed" in text
    assert "seeds 0-1 are in" in text
    assert "seed 2:" in text
