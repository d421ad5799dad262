"""An allocator that is obviously right: try everything in the documented order, check each full choice as a whole."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence

from dra_allocator.claim import DeviceRequest, ResourceClaim
from dra_allocator.device import Device, DeviceID, NodeScope, ResourceSlice
from dra_cel.device import DeviceFields
from dra_cel.selector import compile_selector
from support.whole_choice import Held, Pick, could_serve, is_valid

Seen = tuple[DeviceID, Device]


def visible(slices: Iterable[ResourceSlice], node: str) -> Iterator[Seen]:
    pools: dict[tuple[str, str], list[ResourceSlice]] = {}
    for one in slices:
        pools.setdefault((one.driver, one.pool), []).append(one)
    usable = []
    for key, members in pools.items():
        newest = [one for one in members if one.generation == max(one.generation for one in members)]
        seen = sorted((one for one in newest if _sees(one.scope, node)), key=lambda one: one.name)
        if seen and newest[0].slice_count in (len(newest), len(seen)):
            binding = any(device.binding_conditions for one in seen for device in one.devices)
            usable.append((binding, key, [(key, device) for one in seen for device in one.devices]))
    for _, (driver, pool), devices in sorted(usable, key=lambda entry: entry[:2]):
        yield from ((DeviceID(driver, pool, device.name), device) for _, device in devices)


def _sees(scope: NodeScope | None, node: str) -> bool:
    return scope is not None and (scope.all_nodes or scope.node_name == node)


def allocate(
    slices: Sequence[ResourceSlice], node: str, claims: Sequence[ResourceClaim], held: Held
) -> list[Pick] | None:
    devices = list(visible(slices, node))
    options = [
        [(number, picks) for picks in _options(number, request, devices)]
        for number, claim in enumerate(claims)
        for request in claim.requests
    ]
    for choice in itertools.product(*options):
        picks = [pick for _, some in choice for pick in some]
        if is_valid(slices, claims, picks, held):
            return picks
    return None


def _options(claim: int, request: DeviceRequest, devices: Sequence[Seen]) -> Iterator[list[Pick]]:
    for one in request.first_available or (request,):
        name = f"{request.name}/{one.name}" if request.first_available else request.name
        selected = [seen for seen in devices if _selects(one, seen)]
        sets = [tuple(selected)] if one.mode == "All" else itertools.combinations(selected, one.count)
        yield from ([(claim, name, one, *seen) for seen in some] for some in sets if some)


def _selects(request: DeviceRequest, seen: Seen) -> bool:
    amounts = {key: one.value for key, one in seen[1].capacity.items()}
    fields = DeviceFields(seen[0].driver, seen[1].attributes, amounts, seen[1].allow_multiple_allocations)
    return (request.mode != "All" or could_serve(request, seen[1])) and all(
        compile_selector(text).matches(fields) for text in request.selectors
    )
