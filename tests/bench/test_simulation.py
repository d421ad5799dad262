"""The simulation: it finds what is wrong, the same seed is the same life, and lives end well."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from dra_bench.main import main
from dra_bench.simulation import objects
from dra_bench.simulation.judge import violations
from dra_bench.simulation.life import live
from dra_bench.simulation.state import State

JSON = dict[str, Any]
NODE = "n0"
SPECIAL = "resource.kubernetes.io/extended-resource-claim"


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


def test_a_bound_pod_whose_devices_are_not_attached_is_found() -> None:
    port = {**result("port-0", objects.FABRIC, bindingConditions=[objects.ATTACHED])}
    held = claim("a", port, users=("p",))
    assert "devices of claim a are not attached" in found(state(held, pods=(pod("p", "a", NODE),)))
    told = {key: port[key] for key in ("driver", "pool", "device")}
    held["status"]["devices"] = [{**told, "conditions": [{"type": objects.ATTACHED, "status": "True"}]}]
    assert found(state(held, pods=(pod("p", "a", NODE),))) == ""


def test_a_node_whose_devices_take_more_cpu_than_it_has_is_found() -> None:
    pods, claims = [], []
    for number in range(4):
        name = f"p{number}"
        one = pod(name, name, NODE)
        mapping = [{"name": "cpu", "quantity": objects.CORES_EACH}]
        one["status"] = {"nodeAllocatableResourceClaimStatuses": [{"resourceClaimName": name, "mapping": mapping}]}
        pods.append(one)
        claims.append(claim(name, result(f"cores-{number}", objects.CORES), users=(name,)))
    assert found(state(*claims[:3], pods=tuple(pods[:3]))) == ""
    assert "of 64 cpu is taken" in found(state(*claims, pods=tuple(pods)))


def test_admin_access_and_ended_pods_take_nothing_and_an_ended_pod_has_nothing_reserved() -> None:
    watching = claim("b", result("gpu-0", adminAccess=True), users=("q",), ask="watching")
    done = pod("p", "a", NODE) | {"status": {"phase": "Succeeded"}}
    using = claim("a", result("gpu-0"), users=("p",))
    assert "a pod, or group of pods, that is gone" in found(state(using, watching, pods=(done, pod("q", "b", NODE))))
    free = claim("a", result("gpu-0"))
    assert found(state(free, watching, pods=(done, pod("q", "b", NODE)))) == ""


def test_a_special_claim_that_no_pod_uses_is_found() -> None:
    waits = objects.extended_pod("x", 3)
    waits["metadata"]["uid"] = "x"
    owned = claim("x-1", ownerReferences=[{"kind": "Pod", "uid": "x"}], annotations={SPECIAL: "true"})
    assert found(state(owned, pods=(waits,))) == "claim x-1 for extended resources is left of an attempt that failed"
    waits = objects.extended_pod("x", 2)
    waits["metadata"]["uid"] = "x"
    assert found(state(pods=(waits,))) == "pod x waits although it fits on n0"


def test_a_taint_rule_keeps_a_pod_from_a_device() -> None:
    waits = state(claim("a"), pods=(pod("p", "a"),), cards=1)
    assert found(waits) == "pod p waits although it fits on n0"
    assert found(replace(waits, rules=named(objects.taint_rule(f"{NODE}-gpu", "gpu-0")))) == ""


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
