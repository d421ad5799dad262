"""From what a sieve found to data: one request, one claim."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from dra_allocator.arrays import BoolArray
from dra_allocator.device import DeviceID
from dra_allocator.pool_health import Fallen
from dra_allocator.reasons import Sieve
from dra_allocator.rejection import ClaimRejection, NearestMiss, Reason, ReasonCount, RequestRejection
from dra_allocator.requests import MAX_DEVICES, ResolvedClaim, ResolvedRequest, display_name
from dra_allocator.sight import Sight
from dra_allocator.view import View

_HOLDERS = 256
"""Devices whose holders are looked up: less than a millisecond."""

_Holders = dict[int, tuple[DeviceID, list[str]]]
"""By row the device, and the claims (uids) that hold it."""


def told(
    view: View, sight: Sight, claim: ResolvedClaim, sieves: Mapping[int, Sieve], nearest: int | None
) -> ClaimRejection:
    """Return why a claim does not fit. `nearest` is the node that came closest to all claims."""
    requests = [one for alternatives in claim.requests for one in alternatives if id(one) in sieves]
    used = {id(one): _in_use(sieves[id(one)], len(view.table.rows)) for one in requests}
    either = np.logical_or.reduce([np.zeros(len(view.table.rows), np.bool_), *used.values()])
    numbers = np.flatnonzero(either)
    if len(numbers) > _HOLDERS and nearest is not None:
        near = either & sight.of_node(nearest)
        numbers = np.concatenate([np.flatnonzero(near), np.flatnonzero(either & ~near)])
    holders = _holders(view, numbers[:_HOLDERS].tolist())
    return ClaimRejection(
        claim_uid=claim.claim.uid,
        claim=display_name(claim.claim),
        requests=tuple(
            _with_holders(_request(sight, one, sieves[id(one)], nearest), used[id(one)], holders) for one in requests
        ),
        in_use_by=_by_claim(holders.values()),
        more_in_use=max(0, len(numbers) - _HOLDERS),
    )


def _in_use(sieve: Sieve, rows: int) -> BoolArray:
    """Return the rows that a request could have if they were not in use."""
    used: BoolArray = np.zeros(rows, np.bool_)
    for fallen in sieve.fallen:
        if fallen.reason == "in-use":
            used |= fallen.rows
    return used


def _holders(view: View, rows: Iterable[int]) -> _Holders:
    found = {}
    for row in rows:
        device = view.table.rows.device_id(row)
        found[row] = device, [holder.claim_uid for holder in view.holders(device)]
    return found


def _by_claim(holders: Iterable[tuple[DeviceID, list[str]]]) -> dict[str, tuple[DeviceID, ...]]:
    claims: dict[str, dict[DeviceID, None]] = {}
    for device, uids in holders:
        for uid in uids:
            claims.setdefault(uid, {})[device] = None
    return {uid: tuple(devices) for uid, devices in claims.items()}


def _with_holders(request: RequestRejection, used: BoolArray, holders: _Holders) -> RequestRejection:
    known = [entry for row, entry in holders.items() if used[row]]
    more = int(np.count_nonzero(used)) - len(known)
    return replace(request, in_use_by=_by_claim(known), more_in_use=more)


def _request(sight: Sight, request: ResolvedRequest, sieve: Sieve, nearest: int | None) -> RequestRejection:
    counts = [
        ReasonCount(one.reason, int(np.count_nonzero(one.rows)), sight.nodes_with(one.rows), one.detail, one.facts)
        for one in sieve.fallen
    ]
    asked = int(np.count_nonzero(sight.asked))
    enough = int(np.count_nonzero(sight.asked & (sieve.available >= sieve.wanted)))
    if not sieve.visible.any():
        counts.append(ReasonCount("no-device-visible", 0, asked))
    if enough < asked:
        counts.append(ReasonCount("too-few", 0, asked - enough))
    if sieve.wanted > MAX_DEVICES:
        counts.append(ReasonCount("too-many", 0, asked))
    counts.sort(key=lambda count: -count.devices)
    return RequestRejection(
        request=request.name,
        wanted=sieve.wanted,
        candidates=int(np.count_nonzero(sieve.left)),
        reasons=tuple(counts),
        nearest=None if enough else _nearest(sight, sieve, nearest),
        device_class=request.device_class.name,
        of_class=int(np.count_nonzero(sieve.of_class)),
        nodes_enough=enough,
        is_all=request.is_all,
        most_of_class=int((sight.per_node(sieve.of_class) * sight.asked).max(initial=0)),
    )


def _nearest(sight: Sight, sieve: Sieve, nearest: int | None) -> NearestMiss | None:
    """Return what the node that came closest has; where that is none at all, another node that has most."""
    if nearest is None:
        return None
    if not sieve.available[nearest]:
        nearest = int(np.argmax(np.where(sight.asked, sieve.available, -1)))
    seen = sight.of_node(nearest)
    lost: dict[Reason, int] = {}
    for fallen in sieve.fallen:
        lost[fallen.reason] = lost.get(fallen.reason, 0) + _hits(fallen, seen)
    kept = {reason: count for reason, count in lost.items() if count}
    return NearestMiss(sight.name(nearest), sieve.wanted, int(sieve.available[nearest]), kept)


def _hits(fallen: Fallen, rows: BoolArray) -> int:
    return int(np.count_nonzero(fallen.rows & rows))
