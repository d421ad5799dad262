"""Is a full choice of devices allowed? Each rule looks at the whole choice, nothing is kept from step to step."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence

from dra_allocator.capacity import consumption
from dra_allocator.claim import Constraint, DeviceRequest, ResourceClaim
from dra_allocator.device import Device, DeviceCapacity, DeviceID, ResourceSlice

Held = Mapping[DeviceID, Sequence[Mapping[str, int] | None]]
"""Per device its holders: None for the whole device, consumed nano-units for a share."""
Pick = tuple[int, str, DeviceRequest, DeviceID, Device]
"""Claim, name of the request in results, request, device."""


def spelled(device: Device) -> dict[str, DeviceCapacity]:
    return {one.published: one for one in device.capacity.values()}


def is_valid(
    slices: Sequence[ResourceSlice], claims: Sequence[ResourceClaim], picks: Sequence[Pick], held: Held
) -> bool:
    per_claim = Counter(pick[0] for pick in picks)
    return (
        max(per_claim.values()) <= 32
        and all(_is_tolerated(pick) for pick in picks)
        and _uses_are_fine(picks, held)
        and _counters_are_fine(slices, picks, held)
        and all(
            _holds(constraint, [p for p in picks if p[0] == n and _named(constraint.requests, p[1])])
            for n, claim in enumerate(claims)
            for constraint in claim.constraints
        )
    )


def _named(requests: Sequence[str], name: str) -> bool:
    return not requests or name in requests or name.split("/")[0] in requests


def _is_tolerated(pick: Pick) -> bool:
    return all(
        taint.effect == "None" or any(one.key in ("", taint.key) for one in pick[2].tolerations)
        for taint in pick[4].taints
    )


def could_serve(request: DeviceRequest, device: Device) -> bool:
    """Whether the device has what is asked for, as if nobody held it: admin access needs that too."""
    amounts = consumption(request.capacity, spelled(device), True)
    return amounts is not None and all(amounts[name] <= one.value for name, one in spelled(device).items())


def _uses_are_fine(picks: Sequence[Pick], held: Held) -> bool:
    for device_id, device in {pick[3]: pick[4] for pick in picks}.items():
        mine = [pick for pick in picks if pick[3] == device_id]
        if not all(could_serve(pick[2], device) for pick in mine):
            return False
        users = [pick for pick in mine if not pick[2].admin_access]
        shared = device.allow_multiple_allocations
        whole_claims = Counter(pick[0] for pick in mine if not shared)
        if any(count > 1 for count in whole_claims.values()) or (not shared and len(users) > 1):
            return False
        holders = held.get(device_id, ())
        if users and (any(holder is None for holder in holders) or (holders and not shared)):
            return False
        used: Counter[str] = Counter()
        for holder in holders if users else ():
            used.update(holder or {})
        for pick in users:
            amounts = consumption(pick[2].capacity, spelled(device), True)
            if amounts is None:
                return False
            used.update({name: amount.nanos for name, amount in amounts.items()})
        if any(used[one.published] > one.value.nanos for one in device.capacity.values()) and users:
            return False
    return True


def _counters_are_fine(slices: Sequence[ResourceSlice], picks: Sequence[Pick], held: Held) -> bool:
    groups: dict[tuple[str, str, str], list[frozenset[str]]] = {}
    newest = {
        (s.driver, s.pool): max(o.generation for o in slices if (o.driver, o.pool) == (s.driver, s.pool))
        for s in slices
    }
    current = [one for one in slices if one.generation == newest[one.driver, one.pool]]
    left = {
        (one.driver, one.pool, counters.name, name): amount.nanos
        for one in current
        for counters in one.shared_counters
        for name, amount in counters.counters.items()
    }
    picked = {pick[3] for pick in picks if not pick[2].admin_access}
    new = [pick for pick in picks if pick[3] not in held and not pick[2].admin_access]
    charged = [pick for pick in new if pick[4].consumes_counters]
    touched = {(pick[3].driver, pick[3].pool) for pick in charged}
    for one in current:
        for device in one.devices:
            if DeviceID(one.driver, one.pool, device.name) in picked | held.keys():
                for use in device.consumes_counters:
                    groups.setdefault((one.driver, one.pool, use.counter_set), []).append(
                        frozenset(use.compatibility_groups)
                    )
                    for name, amount in use.counters.items():
                        left[one.driver, one.pool, use.counter_set, name] -= amount.nanos
    return all(amount >= 0 for key, amount in left.items() if key[:2] in touched) and all(
        not any(members) or frozenset.intersection(*members) for key, members in groups.items() if key[:2] in touched
    )


def _holds(constraint: Constraint, picks: Sequence[Pick]) -> bool:
    values = [pick[4].attributes.get(constraint.attribute) for pick in picks]
    if None in values:
        return False
    sets = [{(type(e), e) for e in (value if isinstance(value, tuple) else (value,))} for value in values]
    if not all(sets):
        return False
    if constraint.kind == "match":
        return not sets or bool(set.intersection(*sets))
    return all(not (one & other) for one, other in itertools.combinations(sets, 2))
