"""Why claims do not fit: computed when somebody asks, from the view of the decision.

Devices fall out one by one for reasons of their own (`reasons`). Where enough devices are left on a node and the
claims still do not fit, the rules decide together: the search is tried again without one of them at a time, and the
first whose absence helps is named.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from dra_allocator.arrays import BoolArray, IntArray
from dra_allocator.device import DeviceID
from dra_allocator.errors import AttemptFailedError, StaleRowsError
from dra_allocator.masks import MaskStore
from dra_allocator.problem import NodeProblem
from dra_allocator.reasons import Fallen, Sieve, visible_rows
from dra_allocator.rejection import ClaimRejection, NearestMiss, Reason, ReasonCount, RequestRejection
from dra_allocator.requests import MAX_DEVICES, ResolvedClaim, ResolvedRequest, display_name
from dra_allocator.rules.account import Account
from dra_allocator.search import Search
from dra_allocator.sums import Longs
from dra_allocator.view import View
from dra_allocator.visibility import NOWHERE

_SEARCHED_NODES = 32
_SEARCH_STEPS = 2000


def explain(
    view: View, masks: MaskStore, claims: Sequence[ResolvedClaim], nodes: Sequence[str] | IntArray
) -> tuple[ClaimRejection, ...]:
    """Return per claim and request how many devices and nodes fell out for which reason.

    Rules about several devices are looked at on at most 32 of the nodes that have enough devices.
    """
    return _Explanation(view, masks, claims, nodes).run()


class _Explanation:
    def __init__(
        self, view: View, masks: MaskStore, claims: Sequence[ResolvedClaim], nodes: Sequence[str] | IntArray
    ) -> None:
        self._view = view
        self._masks = masks
        self._claims = claims
        self._asked = _node_mask(view, nodes)
        self._visible = visible_rows(view, self._asked)

    def run(self) -> tuple[ClaimRejection, ...]:
        sieves = {
            id(request): self._sieve(request)
            for claim in self._claims
            for alternatives in claim.requests
            for request in alternatives
        }
        enough = self._asked.copy()
        for claim in self._claims:
            for alternatives in claim.requests:
                some = [self._available(sieves[id(one)]) >= self._wanted(one, sieves[id(one)]) for one in alternatives]
                enough &= np.logical_or.reduce(some)
        joint = self._joint_reasons(enough)
        return tuple(self._claim(claim, sieves, joint) for claim in self._claims)

    def _sieve(self, request: ResolvedRequest) -> Sieve:
        sieve = Sieve(self._view, self._masks, request, self._visible)
        sieve.run()
        return sieve

    def _claim(self, claim: ResolvedClaim, sieves: dict[int, Sieve], joint: list[ReasonCount]) -> ClaimRejection:
        requests = [one for alternatives in claim.requests for one in alternatives]
        in_use: dict[str, dict[DeviceID, None]] = {}
        for request in requests:
            for fallen in sieves[id(request)].fallen:
                if fallen.reason == "in-use":
                    for uid, device in self._holders(fallen):
                        in_use.setdefault(uid, {})[device] = None
        return ClaimRejection(
            claim_uid=claim.claim.uid,
            claim=display_name(claim.claim),
            requests=tuple(self._request(one, sieves[id(one)], joint) for one in requests),
            in_use_by={uid: tuple(devices) for uid, devices in in_use.items()},
        )

    def _request(self, request: ResolvedRequest, sieve: Sieve, joint: list[ReasonCount]) -> RequestRejection:
        counts = [
            ReasonCount(one.reason, int(np.count_nonzero(one.rows)), self._nodes_with(one.rows), one.detail)
            for one in sieve.fallen
        ]
        available = self._available(sieve)
        wanted = self._wanted(request, sieve)
        if not self._visible.any():
            counts.append(ReasonCount("no-device-visible", 0, int(np.count_nonzero(self._asked))))
        short = self._asked & (available < wanted)
        if short.any():
            counts.append(ReasonCount("too-few", 0, int(np.count_nonzero(short))))
        if wanted > MAX_DEVICES:
            counts.append(ReasonCount("too-many", 0, int(np.count_nonzero(self._asked))))
        counts.sort(key=lambda count: -count.devices)
        return RequestRejection(
            request=request.name,
            wanted=wanted,
            candidates=int(np.count_nonzero(sieve.left)),
            reasons=(*counts, *joint),
            nearest=self._nearest(available, wanted),
        )

    def _wanted(self, request: ResolvedRequest, sieve: Sieve) -> int:
        """Return the number of devices; in mode All every selected one, held or not, on the node with most of them."""
        if not request.is_all:
            return request.spec.count
        rows = sieve.left.copy()
        for fallen in sieve.fallen:
            if fallen.reason in ("in-use", "tainted"):
                rows |= fallen.rows
        most: int = (self._per_node(rows) * self._asked).max(initial=0)
        return max(1, int(most))

    def _nearest(self, available: Longs, wanted: int) -> NearestMiss | None:
        if not self._asked.any():
            return None
        best = int(np.argmax(np.where(self._asked, available, -1)))
        if available[best] >= wanted:
            return None
        return NearestMiss(self._view.table.node_name(best), wanted, int(available[best]))

    def _available(self, sieve: Sieve) -> Longs:
        return self._per_node(sieve.left)

    def _per_node(self, rows: BoolArray) -> Longs:
        table = self._view.table
        homes = table.rows.homes[rows]
        counts = np.bincount(homes[homes >= 0], minlength=len(self._asked)).astype(np.int64)
        numbers, sizes = np.unique(homes[homes < NOWHERE], return_counts=True)
        for home, size in zip(numbers.tolist(), sizes.tolist(), strict=True):
            counts += size * table.scopes.mask(-2 - home, len(counts))
        return counts

    def _nodes_with(self, rows: BoolArray) -> int:
        return int(np.count_nonzero(self._asked & (self._per_node(rows) > 0)))

    def _holders(self, fallen: Fallen) -> Iterator[tuple[str, DeviceID]]:
        for row in np.flatnonzero(fallen.rows).tolist():
            device = self._view.table.rows.device_id(row)
            for holder in self._view.holders(device):
                yield holder.claim_uid, device

    # Rules about the choice as a whole.

    def _joint_reasons(self, enough: BoolArray) -> list[ReasonCount]:
        counts: dict[tuple[Reason, str], int] = {}
        for node_id in np.flatnonzero(enough)[:_SEARCHED_NODES].tolist():
            key = self._joint_reason(node_id)
            if key is not None:
                counts[key] = counts.get(key, 0) + 1
        return [ReasonCount(reason, 0, nodes, detail) for (reason, detail), nodes in counts.items()]

    def _joint_reason(self, node_id: int) -> tuple[Reason, str] | None:
        try:
            problem = NodeProblem(self._view, self._masks, self._view.layout(node_id), self._claims)
            account = Account(problem, self._claims)
            for number, rule in enumerate(account.rules):
                others = [*account.rules[:number], *account.rules[number + 1 :]]
                if Search(problem, others).step(_Steps()):
                    return account.reason(rule)
            return "too-few", "for all requests together"
        except (AttemptFailedError, StaleRowsError):
            return None


class _Steps:
    """A budget of so many questions."""

    def __init__(self) -> None:
        self._left = _SEARCH_STEPS // 16

    def exhausted(self) -> bool:
        self._left -= 1
        return self._left < 0


def _node_mask(view: View, nodes: Sequence[str] | IntArray) -> BoolArray:
    mask = np.zeros(len(view.table.nodes), np.bool_)
    if isinstance(nodes, np.ndarray):
        mask[nodes] = True
    else:
        mask[[node_id for node_id in map(view.table.node_id, nodes) if node_id is not None]] = True
    return mask
