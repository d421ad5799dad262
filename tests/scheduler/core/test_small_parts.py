"""Locks, signals, supervision, readiness."""

import asyncio

import pytest

from dra_scheduler.errors import SchedulerError, TaskDiedError
from dra_scheduler.locks import Locks
from dra_scheduler.readiness import Readiness, allocated_at, readiness
from dra_scheduler.signals import Signals
from dra_scheduler.supervision import Supervisor
from support.objects import Raw, make_claim


async def test_one_holder_at_a_time_per_name_in_order_of_asking() -> None:
    locks = Locks()
    order: list[str] = []

    async def hold(name: str, who: str) -> None:
        async with locks.hold(name):
            order.append(f"{who} in")
            await asyncio.sleep(0)
            order.append(f"{who} out")

    await asyncio.gather(hold("a", "1"), hold("a", "2"), hold("a", "3"))
    assert order == ["1 in", "1 out", "2 in", "2 out", "3 in", "3 out"]
    order.clear()
    await asyncio.gather(hold("a", "1"), hold("b", "2"))
    assert order == ["1 in", "2 in", "1 out", "2 out"]


async def test_a_holder_that_fails_or_is_cancelled_lets_go() -> None:
    locks = Locks()

    async def waits() -> None:
        async with locks.hold("a"):
            await asyncio.Event().wait()

    first, second = asyncio.create_task(waits()), asyncio.create_task(waits())
    await asyncio.sleep(0)
    second.cancel()
    first.cancel()
    await asyncio.gather(first, second, return_exceptions=True)
    async with asyncio.timeout(1), locks.hold("a"):
        pass


async def test_only_those_that_listen_to_it_are_woken() -> None:
    signals = Signals()
    with signals.listen(["a", "b"]) as first, signals.listen(["c"]) as second:
        signals.notify("b")
        assert (first.is_set(), second.is_set()) == (True, False)
    signals.notify("a")


async def test_an_error_in_a_task_is_the_failure_and_a_foreign_one_is_the_cause() -> None:
    async def fails(error: Exception) -> None:
        raise error

    ours = Supervisor()
    ours.once("part", fails(SchedulerError("ours")))
    await ours.failure()
    with pytest.raises(SchedulerError, match="ours"):
        ours.raise_failure()
    foreign = Supervisor()
    foreign.once("part", fails(KeyError("x")))
    await foreign.failure()
    with pytest.raises(TaskDiedError) as caught:
        foreign.raise_failure()
    assert isinstance(caught.value.__cause__, KeyError)


async def test_a_task_that_loses_a_cancellation_is_cancelled_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dra_scheduler.supervision.CANCEL_AGAIN", 0.0)
    lost = 0

    async def loses() -> None:
        nonlocal lost
        while lost < 3:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                lost += 1
        await asyncio.Event().wait()

    supervisor = Supervisor()
    supervisor.for_ever("part", loses())
    await asyncio.sleep(0)
    await supervisor.cancel()
    assert lost == 3
    supervisor.raise_failure()


async def test_a_task_that_must_run_for_ever_may_not_end() -> None:
    async def ends() -> None:
        return

    supervisor = Supervisor()
    supervisor.once("part", ends())
    await asyncio.sleep(0)
    supervisor.raise_failure()
    supervisor.for_ever("reflector", ends())
    await supervisor.failure()
    with pytest.raises(TaskDiedError, match="reflector ended"):
        supervisor.raise_failure()


def conditional(*device: Raw) -> Raw:
    claim = make_claim("c")
    result = {"request": "gpu", "driver": "d", "pool": "p", "device": "x"}
    result |= {"bindingConditions": ["Attached"], "bindingFailureConditions": ["Broken"]}  # type: ignore[dict-item]
    allocation = {"devices": {"results": [result]}, "allocationTimestamp": "2026-01-01T00:00:00Z"}
    claim["status"] = {"allocation": allocation, "devices": list(device)}
    return claim


def reported(pool: str = "p", **conditions: str) -> Raw:
    listed = [{"type": kind, "status": value} for kind, value in conditions.items()]
    return {"driver": "d", "pool": pool, "device": "x", "conditions": listed}


@pytest.mark.parametrize(
    ("devices", "expected"),
    [
        ([], Readiness.WAITING),
        ([reported(Attached="False")], Readiness.WAITING),
        ([reported("other", Attached="True")], Readiness.WAITING),
        ([reported(Attached="True")], Readiness.READY),
        ([reported(Attached="True", Broken="False")], Readiness.READY),
        ([reported(Attached="True", Broken="True")], Readiness.FAILED),
    ],
)
def test_readiness_is_what_the_conditions_of_the_very_device_say(devices: list[Raw], expected: Readiness) -> None:
    assert readiness(conditional(*devices)) is expected


def test_a_claim_without_binding_conditions_is_ready() -> None:
    assert readiness(make_claim("c")) is Readiness.READY
    assert allocated_at(make_claim("c")) is None
    since = allocated_at(conditional())
    assert since is not None
    assert since.isoformat() == "2026-01-01T00:00:00+00:00"
