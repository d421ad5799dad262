"""However a scheduler ends, pods with extended resources, and with devices that take cpu, come to the same good end."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dra_bench.simulation.faults import Faults
from dra_scheduler.settings import Settings
from support.chaos import crash
from support.invariants import check_invariants
from support.stage import Raw, Stage, claim, device_class, node, on_stage, pod, resource_slice

NAME = "example.com/gpu"
ON = Settings(feature_gates={"DRANodeAllocatableResources": True})


def asking(name: str, count: int) -> Raw:
    made = pod(name, cpu="1")
    amounts = {NAME: str(count)}
    made["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1"} | amounts, "limits": amounts}
    return made


def taking_slice(node_name: str) -> Raw:
    made = resource_slice(node_name, 1, number=1)
    made["spec"] |= {"driver": "cpu.example.com", "pool": {"name": node_name, "generation": 1, "resourceSliceCount": 1}}
    made["spec"]["devices"][0]["nodeAllocatableResources"] = {"cpu": {"mapping": {"deviceMultiplier": "2"}}}
    return made


def objects() -> list[Raw]:
    """Two nodes with two devices and six cpus each; on each another device that takes two of the cpus."""
    stands_for = device_class()
    stands_for["spec"]["extendedResourceName"] = NAME
    return [
        *(node(f"n{i}", cpu="6") for i in range(2)),
        *(resource_slice(f"n{i}", 2) for i in range(2)),
        *(taking_slice(f"n{i}") for i in range(2)),
        stands_for,
        device_class("cpu", 'device.driver == "cpu.example.com"'),
        *(claim(f"c{i}", of="cpu") for i in range(2)),
        *(asking(f"one{i}", 1) for i in range(3)),
        *(pod(f"taking{i}", claim=f"c{i}", cpu="1") for i in range(2)),
    ]


async def everything_runs(stage: Stage) -> None:
    await stage.settle()
    await check_invariants(stage)
    pods, claims = await stage.pods(), await stage.claims()
    assert {found["status"]["phase"] for found in pods.values()} == {"Running"}
    special = {name for name in claims if "-extended-resources-" in name}
    named = {p["status"].get("extendedResourceClaimStatus", {}).get("resourceClaimName") for p in pods.values()}
    assert special == named - {None}
    assert len(special) == 3
    cpu: dict[str, int] = {}
    for found in pods.values():
        entries = found["status"].get("nodeAllocatableResourceClaimStatuses") or []
        cpu[found["spec"]["nodeName"]] = cpu.get(found["spec"]["nodeName"], 0) + 1 + 2 * len(entries)
    assert max(cpu.values()) <= 6


@pytest.mark.parametrize("executed", [False, True], ids=["before it took effect", "after it took effect"])
def test_a_crash_at_any_write_leaves_no_special_claim_behind(executed: bool) -> None:
    def crashing(at: int) -> Callable[[Stage], object]:
        async def play(stage: Stage) -> bool:
            crashed = await crash(stage, objects(), at, executed=executed)
            await everything_runs(stage)
            return crashed

        return play

    writes = 0
    while on_stage(crashing(writes), ON, start=False):  # type: ignore[arg-type]
        writes += 1
    # Three claims made, five allocated, five statuses of pods, five bindings.
    assert writes >= 3 + 5 + 5 + 5


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from([0.02, 0.1, 0.25]))
def test_faults_of_all_kinds_leave_no_special_claim_behind(seed: int, rate: float) -> None:
    async def play(stage: Stage) -> None:
        source = random.Random(seed)
        transport = Faults(stage.transport, source, 0.0)
        await stage.start(transport)
        await stage.settle()
        transport.rate = rate
        await stage.create(*objects())
        await asyncio.sleep(source.choice([1.0, 5.0, 60.0]))
        transport.calm = True
        await asyncio.sleep(20)
        await everything_runs(stage)

    on_stage(play, ON, start=False, seed=seed)
