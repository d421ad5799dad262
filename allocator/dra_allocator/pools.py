"""Is a pool usable: newest generation, complete, valid? In general that depends on who looks.

Rules (resource.k8s.io/v1 ResourceSlice.spec.pool, KEP-4381, KEP-4815), for one node:

* Only slices of the pool's highest generation count, also if the node sees none of them.
* The pool is complete if the slices that the node sees, or all slices of the pool, are as many as
  `resourceSliceCount` says. Nothing is taken from an incomplete pool.
* It is invalid if two devices that the node may see share a name, two counter sets share a name, or a device
  consumes a counter that does not exist. Nothing is taken from an invalid pool.

Almost every pool looks the same to every node that sees it; this is worked out once per change of the pool.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from dra_allocator.device import CounterSet
from dra_allocator.features import Features
from dra_allocator.records import PoolRecord, SliceRecord
from dra_allocator.rows import Rows


class PoolRules(NamedTuple):
    """The features that decide which slices are looked at."""

    partitionable: bool
    groups: bool

    @classmethod
    def of(cls, features: Features) -> PoolRules:
        """Return the rules under these features."""
        return cls(features.partitionable_devices, features.partitionable_devices and features.compatibility_groups)


class PoolState(Enum):
    """What a pool is to a node."""

    COMPLETE = "complete"
    INCOMPLETE = "incomplete"
    INVALID = "invalid"
    VARIES = "varies"


@dataclass(frozen=True, slots=True)
class Assessment:
    """What a pool is to all nodes that see it; VARIES: nodes differ, ask `on_node`.

    `counted` are the slices that count for completeness, `reason` says what is invalid.
    """

    state: PoolState
    counted: tuple[SliceRecord, ...]
    reason: str = ""


@dataclass(frozen=True, slots=True)
class PoolOnNode:
    """What one node sees of a pool.

    `device_slices` by name; `universe`: the slices whose devices and counter sets the accounting knows.
    """

    record: PoolRecord
    state: PoolState
    reason: str
    device_slices: tuple[SliceRecord, ...]
    universe: tuple[SliceRecord, ...]

    @property
    def has_binding_conditions(self) -> bool:
        """Whether the pool is to be searched after all others (KEP-5007)."""
        return self.state is PoolState.COMPLETE and any(record.has_binding_conditions for record in self.device_slices)


def is_seen(record: SliceRecord, rules: PoolRules) -> bool:
    """Return whether the slice may be looked at under these rules by a node in its scope."""
    if record.unsupported is not None or (record.uses_groups and not rules.groups):
        return False
    return rules.partitionable or not (record.per_device or record.shared_counters)


def assess(pool: PoolRecord, rules: PoolRules, rows: Rows) -> Assessment:
    """Return what the pool is to the nodes that see it; remembered until the pool changes."""
    known = pool.assessments.get(rules)
    if known is not None and known[0] == pool.version:
        return known[1]
    counted = tuple(record for record in pool.newest_slices() if rules.groups or not record.uses_groups)
    assessment = _assess(counted, rules, rows)
    pool.assessments[rules] = pool.version, assessment
    return assessment


def on_node(pool: PoolRecord, seen: Sequence[SliceRecord], rules: PoolRules, rows: Rows) -> PoolOnNode:
    """Return what a node sees that sees these slices (at least one) of the pool's newest generation."""
    assessment = assess(pool, rules, rows)
    seen = sorted(seen, key=lambda record: record.name)
    devices = tuple(record for record in seen if not is_counter_slice(record, rules))
    state, reason, universe = assessment.state, assessment.reason, assessment.counted
    if state is PoolState.VARIES:
        sees_all = len(seen) == seen[0].slice_count
        universe = tuple(seen) if sees_all else assessment.counted
        if not sees_all and len(assessment.counted) != seen[0].slice_count:
            state = PoolState.INCOMPLETE
        else:
            reason = _duplicate_device(devices, rows) or (
                _counter_problem(universe, rows) if rules.partitionable else ""
            )
            state = PoolState.INVALID if reason else PoolState.COMPLETE
    return PoolOnNode(pool, state, reason, devices, universe)


def is_counter_slice(record: SliceRecord, rules: PoolRules) -> bool:
    """Return whether the slice is there for its counter sets; it has no devices then."""
    return rules.partitionable and bool(record.shared_counters)


def counter_sets(universe: Iterable[SliceRecord]) -> dict[str, CounterSet]:
    """Return the counter sets of a valid pool by name."""
    return {counters.name: counters for record in universe for counters in record.shared_counters}


def _assess(counted: tuple[SliceRecord, ...], rules: PoolRules, rows: Rows) -> Assessment:
    counts = {record.slice_count for record in counted}
    if len(counts) != 1 or len(counted) > max(counts):
        return Assessment(PoolState.VARIES, counted)
    if len(counted) < max(counts):
        return Assessment(PoolState.INCOMPLETE, counted)
    reason = _counter_problem(counted, rows) if rules.partitionable else ""
    if reason:
        return Assessment(PoolState.INVALID, counted, reason)
    devices = tuple(record for record in counted if not is_counter_slice(record, rules))
    if _duplicate_device(devices, rows):
        return Assessment(PoolState.VARIES, counted)
    return Assessment(PoolState.COMPLETE, counted)


def _duplicate_device(records: Sequence[SliceRecord], rows: Rows) -> str:
    names: set[str] = set()
    for record in records:
        for row in record.rows.tolist():
            name = rows.name(row)
            if name in names:
                return f"duplicate device name {name}"
            names.add(name)
    return ""


def _counter_problem(records: Sequence[SliceRecord], rows: Rows) -> str:
    sets: dict[str, CounterSet] = {}
    for record in records:
        for counters in record.shared_counters:
            if counters.name in sets:
                return f"duplicate counter set name {counters.name}"
            sets[counters.name] = counters
    traits_ids = {
        traits_id for record in records if not record.shared_counters for traits_id in rows.traits_ids[record.rows]
    }
    for traits_id in traits_ids:
        for consumption in rows.traits[int(traits_id)].consumes_counters:
            known = sets.get(consumption.counter_set)
            if known is None:
                return f"counter set {consumption.counter_set} not found"
            for name in consumption.counters:
                if name not in known.counters:
                    return f"counter {name} not found in counter set {known.name}"
    return ""
