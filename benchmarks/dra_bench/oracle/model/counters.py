"""Counters and compatibility groups of partitionable devices (KEP-4815)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from fractions import Fraction
from typing import Any

from dra_bench.oracle.model.amounts import amount
from dra_bench.oracle.model.picks import Candidate
from dra_bench.oracle.model.pools import DeviceKey, Pool

JSON = dict[str, Any]
Charged = Sequence[tuple[Candidate, bool]]  # picks that count, and whether the device is shared


class CounterRules:
    """`in_use` are all devices that are allocated, `shared` those of them that have shares.

    `forgetful`: with Kubernetes' bug 16.
    """

    def __init__(
        self, in_use: Collection[DeviceKey], shared: Collection[DeviceKey], *, groups: bool, forgetful: bool
    ) -> None:
        self._in_use = in_use
        self._shared = shared
        self._groups = groups
        self._agree = _agree_with_first if forgetful else _agree

    def admit(self, candidate: Candidate, shared: bool, picks: Charged) -> bool:
        """Whether the counters are left and the groups agree. A further share of a device takes nothing more."""
        if shared and (candidate.key in self._shared or any(c.key == candidate.key and s for c, s in picks)):
            return True
        charged = [*self._allocated(candidate.pool), *self._chosen(candidate.pool, picks)]
        return self._left(candidate, charged) and (not self._groups or self._agree(candidate.device, charged))

    def _allocated(self, pool: Pool) -> Iterable[JSON]:
        for one in (*pool.slices, *(other for other in pool.everything if other not in pool.slices)):
            for device in one["spec"].get("devices", ()):
                if pool.key(device) in self._in_use:
                    yield device

    def _chosen(self, pool: Pool, picks: Charged) -> Iterable[JSON]:
        seen: set[DeviceKey] = set()
        for candidate, shared in picks:
            if (candidate.pool.driver, candidate.pool.name) != (pool.driver, pool.name):
                continue
            if shared and (candidate.key in self._shared or candidate.key in seen):
                continue
            seen.add(candidate.key)
            yield candidate.device

    def _left(self, candidate: Candidate, charged: Sequence[JSON]) -> bool:
        """All counters of the pool are looked at, also those that the device does not use, as documented."""
        used: dict[tuple[str, str], Fraction] = {}
        for device in (*charged, candidate.device):
            for consumption in device.get("consumesCounters", ()):
                for name, counter in consumption["counters"].items():
                    key = (consumption["counterSet"], name)
                    used[key] = used.get(key, Fraction(0)) + amount(counter["value"])
        return all(
            used.get((set_name, name), 0) <= amount(value)
            for set_name, counters in candidate.pool.counters.items()
            for name, value in counters.items()
        )


def _agree(device: JSON, charged: Sequence[JSON]) -> bool:
    """All devices on a counter set share a group, or none of them has any."""
    for own, others in _groups(device, charged):
        if others and not (frozenset.intersection(own, *others) or not (own or any(others))):
            return False
    return True


def _agree_with_first(device: JSON, charged: Sequence[JSON]) -> bool:
    """Bug 16: the first device decides whether groups are needed; others are passed over where they contradict it."""
    for own, others in _groups(device, charged):
        if not others:
            continue
        common = frozenset.intersection(*filter(None, others)) if others[0] else frozenset()
        if bool(own) != bool(others[0]) or (own and not own & common):
            return False
    return True


def _groups(device: JSON, charged: Sequence[JSON]) -> Iterable[tuple[frozenset[str], list[frozenset[str]]]]:
    """For each counter set of the device: its own groups, and those of each device that is charged to it."""
    for consumption in device.get("consumesCounters", ()):
        others = [
            frozenset(other.get("compatibilityGroups", ()))
            for one in charged
            for other in one.get("consumesCounters", ())
            if other["counterSet"] == consumption["counterSet"]
        ]
        yield frozenset(consumption.get("compatibilityGroups", ())), others
