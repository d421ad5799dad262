"""However a scheduler ends, the next one brings the cluster to the same good end."""

import asyncio
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dra_bench.simulation.faults import Faults
from support.chaos import crash
from support.invariants import check_invariants
from support.stage import Raw, Stage, claim, device_class, node, on_stage, pod, resource_slice, template


def objects() -> list[Raw]:
    """Two nodes with two devices each; three pods with a claim of their own, and two that share one."""
    return [
        *(node(f"n{i}") for i in range(2)),
        device_class(),
        *(resource_slice(f"n{i}", 2) for i in range(2)),
        template(),
        claim("shared"),
        *(pod(f"own{i}", template="gpu") for i in range(3)),
        *(pod(f"sharing{i}", claim="shared") for i in range(2)),
    ]


async def everything_runs(stage: Stage) -> None:
    await stage.settle()
    await check_invariants(stage)
    phases = {name: found["status"]["phase"] for name, found in (await stage.pods()).items()}
    assert set(phases.values()) == {"Running"}, phases


@pytest.mark.parametrize("executed", [False, True], ids=["before it took effect", "after it took effect"])
def test_a_crash_at_any_write_changes_nothing_in_the_end(executed: bool) -> None:
    async def play(stage: Stage, at: int) -> bool:
        crashed = await crash(stage, objects(), at, executed=executed)
        await everything_runs(stage)
        return crashed

    writes = 0
    while on_stage(lambda stage, at=writes: play(stage, at), start=False):  # type: ignore[misc]
        writes += 1
    # Three claims with finalizer and status, one of them shared by a second pod, five bindings, some events.
    assert writes >= 3 * 2 + 3 + 5


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from([0.02, 0.1, 0.25]))
def test_faults_of_all_kinds_change_nothing_in_the_end(seed: int, rate: float) -> None:
    async def play(stage: Stage) -> None:
        source = random.Random(seed)
        transport = Faults(stage.transport, source, 0.0)
        await stage.start(transport)
        await stage.settle()
        transport.rate = rate
        await stage.create(*objects())
        await asyncio.sleep(source.choice([1.0, 5.0, 60.0]))
        transport.calm = True
        # Watches that were cut last come back within their longest backoff.
        await asyncio.sleep(20)
        await everything_runs(stage)

    on_stage(play, start=False, seed=seed)
