"""Pools whose slices do not add up: nothing is taken from an incomplete or invalid pool."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from dra_cel.quantity import Quantity
from dra_scheduler.lint.finding import Fault, Rule
from dra_scheduler.lint.inputs import Inputs
from dra_scheduler.lint.published import PublishedDevice, SliceSource


def _slice_count(inputs: Inputs) -> Iterator[Fault]:
    if not _all_slices(inputs):
        return
    for pool in inputs.published.slices:
        slices = inputs.published.newest(pool)
        generation = slices[0].slice.generation
        for source in slices:
            count = source.slice.slice_count
            if count != len(slices):
                many = f"has {len(slices)} slice{'' if len(slices) == 1 else 's'} of generation {generation}"
                problem = f"says {count}, but pool {pool[1]} of {pool[0]} {many}"
                yield Fault(source.document, "spec.pool.resourceSliceCount", problem, _count_hint(count, slices))
                break


def _count_hint(count: int, slices: list[SliceSource]) -> str:
    if len(slices) < count:
        return "nothing is taken from the pool until all its slices are there"
    nodes = {source.slice.scope.node_name for source in slices if source.slice.scope is not None}
    return "give each node a pool of its own" if len(nodes) > 1 else "write the number of slices in each of them"


def _old_generation(inputs: Inputs) -> Iterator[Fault]:
    for pool, slices in inputs.published.slices.items():
        generation = max(one.slice.generation for one in slices)
        for source in slices:
            if source.slice.generation < generation:
                problem = f"is older than generation {generation} of pool {pool[1]}: its devices do not count"
                yield Fault(source.document, "spec.pool.generation", problem, "delete the slice, or publish it anew")


def _all_slices(inputs: Inputs) -> bool:
    return not inputs.scope.has_gaps and not any(name[0] == "ResourceSlice" for name in inputs.scope.unread)


def _twins(inputs: Inputs) -> list[tuple[PublishedDevice, PublishedDevice]]:
    """Return each device whose name its pool has already, with the first of that name."""
    first: dict[tuple[str, str, str], PublishedDevice] = {}
    found = []
    for one in inputs.published.devices:
        other = first.setdefault((*one.source.pool, one.device.name), one)
        if other is not one and other.source is not one.source:  # within one slice the API server sees it
            found.append((one, other))
    return found


def _node(one: PublishedDevice) -> str | None:
    scope = one.device.scope or one.source.slice.scope
    return None if scope is None else scope.node_name


def _on_several_nodes(inputs: Inputs) -> Iterator[Fault]:
    for one, other in inputs.shared(_twins):
        if _node(one) and _node(other) and _node(one) != _node(other):
            problem = f"{one} is also on node {_node(other)} (ResourceSlice {other.source.slice.name})"
            hint = "whoever gets one of them holds both: give each node a pool of its own"
            yield Fault(one.source.document, f"{one.field}.name", problem, hint)


def _device_twice(inputs: Inputs) -> Iterator[Fault]:
    for one, other in inputs.shared(_twins):
        if not (_node(one) and _node(other) and _node(one) != _node(other)):
            problem = f"{one} is also in ResourceSlice {other.source.slice.name}"
            hint = "device names are unique in a pool: on a node that sees both, nothing of it can be used"
            yield Fault(one.source.document, f"{one.field}.name", problem, hint)


def _counter_undefined(inputs: Inputs) -> Iterator[Fault]:
    for one, i, counters in _consumptions(inputs):
        consumed = one.device.consumes_counters[i]
        where = f"{one.field}.consumesCounters[{i}]"
        hint = "nothing is taken from the pool: define it in sharedCounters of a slice of the pool"
        if counters is None:
            problem = f"the pool has no counter set {consumed.counter_set!r}"
            yield Fault(one.source.document, f"{where}.counterSet", problem, hint)
            continue
        for name in consumed.counters:
            if name not in counters:
                problem = f"counter set {consumed.counter_set!r} has no counter {name!r}"
                yield Fault(one.source.document, f"{where}.counters[{name}]", problem, hint)


def _counter_exceeded(inputs: Inputs) -> Iterator[Fault]:
    for one, i, counters in _consumptions(inputs):
        for name, amount in one.device.consumes_counters[i].counters.items():
            if counters is not None and name in counters and counters[name] < amount:
                where = f"{one.field}.consumesCounters[{i}].counters[{name}]"
                problem = f"takes {amount} of a counter that has {counters[name]}: the device can never be used"
                yield Fault(one.source.document, where, problem)


def _consumptions(inputs: Inputs) -> Iterator[tuple[PublishedDevice, int, Mapping[str, Quantity] | None]]:
    """Yield device, position in `consumesCounters` and the counters of the set, None where there is no such set."""
    if not _all_slices(inputs):
        return
    sets = {
        (pool, counter_set.name): counter_set.counters
        for pool in inputs.published.slices
        for source in inputs.published.newest(pool)
        for counter_set in source.slice.shared_counters
    }
    incomplete = _incomplete(inputs)
    for one in inputs.published.devices:
        for i, consumed in enumerate(one.device.consumes_counters):
            counters = sets.get((one.source.pool, consumed.counter_set))
            if counters is not None or one.source.pool not in incomplete:
                yield one, i, counters


def _incomplete(inputs: Inputs) -> set[tuple[str, str]]:
    """Return the pools that lack slices: what is not defined in them may be in those."""
    counts = Counter(pool for pool in inputs.published.slices for _ in inputs.published.newest(pool))
    return {pool for pool, many in counts.items() if inputs.published.newest(pool)[0].slice.slice_count > many}


RULES = (
    Rule("pool-slice-count", "error", "a pool has more or fewer slices than resourceSliceCount says", _slice_count),
    Rule("pool-old-generation", "warning", "a slice is of an older generation than its pool", _old_generation),
    Rule("device-on-several-nodes", "error", "one (driver, pool, device) is on several nodes", _on_several_nodes),
    Rule("device-twice", "error", "a pool has two devices of one name", _device_twice),
    Rule("counter-undefined", "error", "a device takes from a counter that its pool does not have", _counter_undefined),
    Rule("counter-exceeded", "error", "a device takes more of a counter than there is", _counter_exceeded),
)
