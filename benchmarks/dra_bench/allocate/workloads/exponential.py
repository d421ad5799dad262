"""exponential: small questions that a plain search answers in exponential time, on one node (or as many as asked for).

Nearly all of them have no solution: that is where trying everything hurts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from dra_bench.allocate import objects
from dra_bench.allocate.scenario import Hold, Scenario, Size, Workload

JSON = dict[str, Any]
D = objects.DRIVER


@dataclass(frozen=True, slots=True)
class _Case:
    """A case: devices of a node, those that are held, and the claims of one pod."""

    name: str
    summary: str
    devices: Sequence[JSON]
    claims: tuple[JSON, ...]
    held: Sequence[str] = ()
    fits: bool = False
    counters: Sequence[JSON] = ()

    def slices(self, number: int) -> Sequence[JSON]:
        parts = 2 if self.counters else 1
        found = [objects.resource_slice(number, self.devices, parts=parts)]
        if self.counters:
            found.append(objects.resource_slice(number, (), part=1, parts=2, sharedCounters=list(self.counters)))
        return found

    def scenario(self, size: Size) -> Scenario:
        holds = tuple((Hold(node, name),) for node in range(size.nodes) for name in self.held)
        slices = partial(_Case.slices, self)
        return Scenario(size, slices, self.claims, holds, "window" if self.fits else "none", window=0, fits=self.fits)


def _gpus(count: int, **values: int) -> list[JSON]:
    """Return devices; each keyword is an attribute that goes through so many values."""
    return [
        objects.gpu(at, attributes={name: {"int": at % several} for name, several in values.items()})
        for at in range(count)
    ]


def _partitions(count: int, slots: int) -> tuple[list[JSON], list[JSON]]:
    """Return partitions that are alike and counters that allow so many of them."""
    consumes = [{"counterSet": "all", "counters": {"slots": {"value": "1"}}}]
    counters = [{"name": "all", "counters": {"slots": {"value": str(slots)}}}]
    return [objects.gpu(at, consumesCounters=consumes) for at in range(count)], counters


def _different(count: int, **limits: int) -> tuple[list[JSON], list[JSON]]:
    """Return partitions of which no two are alike and what there is of their three counters."""
    amounts = [(100 + 37 * at % 101, 250 - 37 * at % 101, 100 + 53 * at % 97) for at in range(count)]
    consumed = [{name: {"value": str(one)} for name, one in zip("abc", some, strict=True)} for some in amounts]
    counters = {name: {"value": str(limit)} for name, limit in limits.items()}
    devices = [
        objects.gpu(at, consumesCounters=[{"counterSet": "all", "counters": one}]) for at, one in enumerate(consumed)
    ]
    return devices, [{"name": "all", "counters": counters}]


def _sharing(count: int) -> list[JSON]:
    capacity = {"memory": {"value": "20Gi"}}
    return [objects.gpu(at, capacity=capacity, allowMultipleAllocations=True) for at in range(count)]


def _prioritized(name: str, *counts: int) -> JSON:
    return objects.alternatives(*(objects.request(name=f"n{count}", count=count) for count in counts), name=name)


def _named(count: int, **more: Any) -> list[JSON]:
    return [objects.request(name=f"r{at}", **more) for at in range(count)]


def _half(low: int, high: int) -> str:
    index = f'device.attributes["{D}"].index'
    return f"{index} >= {low} && {index} < {high}"


def _cases() -> list[_Case]:
    claim, request = objects.claim, objects.request
    match, distinct = objects.match, objects.distinct
    sixteen, seven_slots = _partitions(16, 15), _partitions(24, 7)
    names = [f"gpu-{at}" for at in range(12)]
    five = claim(request(count=5), constraints=[match("model")])
    overlapping = [
        request(_half(0, 20), name="a", count=11),
        request(_half(5, 25), name="b", count=8),
        request(_half(0, 25), name="c", count=7),
    ]
    mixed = claim(*_named(6), constraints=[match("rack"), distinct("slot")])
    tight, unlike = _different(24, a=1500, b=1900, c=1400), "24 partitions that are all different"
    two_requests = claim(request(name="a", count=5), request(name="b", count=5))
    shares = _named(17, capacity={"requests": {"memory": "5Gi"}})
    return [
        _Case("five-of-four", "5 of 4 free devices, 16 in all, same model", _gpus(16), (five,), names),
        _Case("32-of-31", "32 of 31 devices", _gpus(31), (claim(request(count=32)),)),
        _Case("32-of-31-match", "the same with the same model", _gpus(31), (_matching(32),)),
        _Case("prioritized", "two lists [32, 16] over 31 devices", _gpus(31), (_lists(),)),
        _Case("prioritized-match", "the same with the same model", _gpus(31), (_lists(match("model")),)),
        _Case("distinct", "5 different ones of 4 values, 16 devices", _gpus(16, slot=4), (_distinct(5),)),
        _Case("distinct-wide", "17 different ones of 16 values, 64 devices", _gpus(64, slot=16), (_distinct(17),)),
        _Case("match-split", "9 alike, 8 of each of 8 values", _gpus(64, slot=8), (_matching(9, "slot"),)),
        _Case("match-distinct", "6 of one rack in different slots, 5 slots", _gpus(40, rack=8, slot=5), (mixed,)),
        _Case("all-counters", "all of 16 under counters for 15", sixteen[0], (_all(),), counters=sixteen[1]),
        _Case("counters", "8 of 24 under counters for 7", seven_slots[0], (_eight(),), counters=seven_slots[1]),
        _Case(
            "counters-singly", "the same as 8 requests", seven_slots[0], (claim(*_named(8)),), (), False, seven_slots[1]
        ),
        _Case("overlapping", "11, 8 and 7 of overlapping sets, 25 devices", _gpus(25), (claim(*overlapping),)),
        _Case("two-claims", "two claims of 16 over 31 devices", _gpus(31), (claim(request(count=16)),) * 2),
        _Case("shares", "17 shares of 5Gi, room for 16", _sharing(4), (claim(*shares),)),
        _Case("knapsack", f"10 of {unlike}", tight[0], (claim(request(count=10)),), counters=tight[1]),
        _Case("knapsack-requests", f"5 and 5 of {unlike}", tight[0], (two_requests,), counters=tight[1]),
        _Case("last-alike", "4 alike, only the last 4 of 64 are", _last_alike(), (_matching(4, "group"),), fits=True),
    ]


def _lists(*constraints: JSON) -> JSON:
    return objects.claim(_prioritized("a", 32, 16), _prioritized("b", 32, 16), constraints=constraints)


def _matching(count: int, attribute: str = "model") -> JSON:
    return objects.claim(objects.request(count=count), constraints=[objects.match(attribute)])


def _distinct(count: int) -> JSON:
    return objects.claim(objects.request(count=count), constraints=[objects.distinct("slot")])


def _all() -> JSON:
    return objects.claim(objects.request(allocationMode="All"))


def _eight() -> JSON:
    return objects.claim(objects.request(count=8))


def _last_alike() -> list[JSON]:
    groups = [at // 3 for at in range(60)] + [99] * 4
    return [objects.gpu(at, attributes={"group": {"int": group}}) for at, group in enumerate(groups)]


WORKLOADS = tuple(
    Workload(f"exponential/{case.name}", case.summary, case.scenario, 1, len(case.devices), fixed_devices=True)
    for case in _cases()
)
