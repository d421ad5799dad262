"""Requests that can never be satisfied, or never matter."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dra_allocator.claim import DeviceRequest
from dra_scheduler.lint.finding import Fault, Rule
from dra_scheduler.lint.inputs import Inputs
from dra_scheduler.lint.judge import BoolArray
from dra_scheduler.lint.sources import Ask, ClaimSource

MAX_DEVICES = 32
"""Devices of one claim (resource.k8s.io/v1 AllocationResultsMaxSize)."""


def _class_missing(inputs: Inputs) -> Iterator[Fault]:
    for source in inputs.claims:
        for ask in source.asks():
            name = ask.request.device_class
            if inputs.is_missing("DeviceClass", "", name):
                near = difflib.get_close_matches(name, inputs.classes, 1)
                hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(sorted(inputs.classes))}"
                yield Fault(source.document, f"{ask.field}.deviceClassName", f"there is no DeviceClass {name!r}", hint)


def _too_many_devices(inputs: Inputs) -> Iterator[Fault]:
    for source in inputs.claims:
        least = sum(_least(request) for request in source.claim.requests)
        if least > MAX_DEVICES:
            problem = f"the requests need {least} devices at least, a claim can have {MAX_DEVICES}"
            yield Fault(source.document, f"{source.path}.devices.requests", problem, "use several claims")


def _least(request: DeviceRequest) -> int:
    """Return how many devices the request takes at least; mode All may find a single one."""
    if request.first_available:
        return min(_least(alternative) for alternative in request.first_available)
    return request.count if request.mode == "ExactCount" and request.unsupported is None else 1


def _too_few_devices(inputs: Inputs) -> Iterator[Fault]:
    if not inputs.knows_devices:
        return
    for source in inputs.claims:
        for ask in source.asks():
            matching = inputs.matching(ask)
            if matching is None or not matching.any() or ask.request.mode != "ExactCount":
                continue
            most = _most_on_one_node(inputs, matching)
            if most is not None and ask.request.count > most:
                problem = f"asks for {ask.request.count} devices, at most {most} that match can be on one node"
                yield Fault(source.document, f"{ask.field}.count", problem, "all devices of a claim are on one node")


@dataclass(frozen=True, slots=True)
class _Where:
    """By device: the number of its node, 0 where more than one node may see it; whether it can be shared."""

    node: npt.NDArray[np.int64]
    is_shareable: BoolArray


def _where(inputs: Inputs) -> _Where:
    numbers: dict[str, int] = {}
    nodes = []
    for one in inputs.published.devices:
        scope = one.device.scope or one.source.slice.scope
        name = None if scope is None else scope.node_name
        nodes.append(numbers.setdefault(name, len(numbers) + 1) if name else 0)
    shareable = [one.device.allow_multiple_allocations for one in inputs.published.devices]
    return _Where(np.array(nodes, np.int64), np.array(shareable, np.bool_))


def _most_on_one_node(inputs: Inputs, matching: BoolArray) -> int | None:
    """Return an upper bound for the devices that one node can have; None where a device can be shared."""
    where = inputs.shared(_where)
    if (where.is_shareable & matching).any():
        return None
    counts = np.bincount(where.node[matching], minlength=1)
    return int(counts[0]) + int(counts[1:].max(initial=0))


def _unreachable(inputs: Inputs) -> Iterator[Fault]:
    for source in inputs.claims:
        for i, request in enumerate(source.claim.requests):
            for j, later in enumerate(request.first_available):
                earlier = _subsuming(source, request, later, j)
                if earlier is not None:
                    where = f"{source.path}.devices.requests[{i}].firstAvailable[{j}]"
                    problem = (
                        f"is never reached: whatever satisfies {later.name!r} satisfies {earlier.name!r} before it"
                    )
                    yield Fault(source.document, where, problem, "put the stricter alternative first")


def _subsuming(source: ClaimSource, request: DeviceRequest, later: DeviceRequest, end: int) -> DeviceRequest | None:
    """Return an earlier alternative that is satisfied wherever the later one is, or None."""
    for earlier in request.first_available[:end]:
        if _subsumes(earlier, later) and not _is_constrained(source, f"{request.name}/{earlier.name}"):
            return earlier
    return None


def _subsumes(earlier: DeviceRequest, later: DeviceRequest) -> bool:
    if earlier.unsupported or later.unsupported or earlier.device_class != later.device_class:
        return False
    if (earlier.capacity, earlier.derived_attributes) != (later.capacity, later.derived_attributes):
        return False
    if not set(earlier.selectors) <= set(later.selectors) or not set(later.tolerations) <= set(earlier.tolerations):
        return False
    if earlier.mode == "All" or later.mode == "All":
        return earlier.mode == later.mode and set(earlier.selectors) == set(later.selectors)
    return earlier.count <= later.count


def _is_constrained(source: ClaimSource, reference: str) -> bool:
    """Tell whether a constraint concerns this alternative and not the whole request."""
    return any(reference in constraint.requests for constraint in source.claim.constraints)


def _capacity(inputs: Inputs) -> Iterator[Fault]:
    if not inputs.knows_devices:
        return
    for source in inputs.claims:
        for ask in source.asks():
            matching = inputs.matching(ask)
            if ask.request.capacity and matching is not None and matching.any():
                yield from _unsatisfiable(inputs, source, ask, matching)


def _unsatisfiable(inputs: Inputs, source: ClaimSource, ask: Ask, matching: BoolArray) -> Iterator[Fault]:
    devices = [inputs.published.devices[row].device for row in np.flatnonzero(matching)]
    for name, amount in ask.request.capacity.items():
        present = [c.value for device in devices for c in device.capacity.values() if c.published == name]
        where = f"{ask.field}.capacity.requests[{name}]"
        if not present:
            spelled = sorted({c.published for device in devices for c in device.capacity.values()})
            near = [one for one in spelled if one.rpartition("/")[2] == name.rpartition("/")[2]]
            near = near or difflib.get_close_matches(name, spelled, 1)
            hint = f"did you mean {near[0]}? it is compared letter by letter" if near else ""
            yield Fault(source.document, where, f"no device that matches has a capacity {name!r}", hint)
        elif max(present) < amount:
            yield Fault(
                source.document, where, f"asks for {amount}, no device that matches has more than {max(present)}"
            )


RULES = (
    Rule("class-missing", "error", "a request names a DeviceClass that is not there", _class_missing),
    Rule("too-many-devices", "error", "a claim needs more devices than an allocation can hold", _too_many_devices),
    Rule("too-few-devices", "error", "a request asks for more devices than a node can have", _too_few_devices),
    Rule("subrequest-unreachable", "warning", "an earlier alternative is satisfied whenever this one is", _unreachable),
    Rule("capacity-unsatisfiable", "error", "no device has the capacity that is asked for", _capacity),
)
