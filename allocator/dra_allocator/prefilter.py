"""Which nodes can be ruled out, or in, by counting: one comparison over all nodes instead of a search on each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dra_allocator.arrays import BoolArray
from dra_allocator.counts import NONE, RequestCounts, Signature
from dra_allocator.lru import ByteLru
from dra_allocator.masks import MaskStore
from dra_allocator.requests import ResolvedClaim, ResolvedRequest
from dra_allocator.sums import Longs
from dra_allocator.view import View


class Prefilter:
    """Counts by request signature, bounded by bytes."""

    def __init__(self, masks: MaskStore, max_bytes: int) -> None:
        self._masks = masks
        self._counts: ByteLru[RequestCounts] = ByteLru(max_bytes)

    def possible(self, view: View, claims: Sequence[ResolvedClaim]) -> BoolArray:
        """Return per node id whether the claims may fit; those for which it is False do not.

        A claim with a request for all devices leaves every node open: such a request can end in an error.
        """
        return self._survey(view, claims)[0]

    def survey(self, view: View, claims: Sequence[ResolvedClaim]) -> tuple[BoolArray, BoolArray]:
        """Return `possible`, and per node id whether that is already the exact answer."""
        possible, flagged, counted = self._survey(view, claims)
        if not counted:
            return possible, np.zeros_like(possible)
        if self._counts_decide(view, claims):
            return possible, np.ones_like(possible) if flagged is None else ~flagged
        return possible, ~possible

    def _survey(self, view: View, claims: Sequence[ResolvedClaim]) -> tuple[BoolArray, BoolArray | None, bool]:
        """Return `possible`, the nodes with devices to be looked at (None: none), and whether anything was counted."""
        size = len(view.table.nodes)
        requests = [request for claim in claims for request in claim.requests]
        if any(one.is_all for alternatives in requests for one in alternatives):
            return np.ones(size, np.bool_), None, False
        possible: BoolArray | None = None
        flagged: BoolArray | None = None
        for needs in self._needs(view, requests):
            enough = [_padded(counts.available(view), size) >= wanted for counts, wanted in needs]
            some = enough[0] if len(enough) == 1 else np.logical_or.reduce(enough)
            possible = some if possible is None else possible & some
            for counts, _ in needs:
                look = counts.flagged(view)
                if look is not None:
                    flagged = (_padded(look, size) > 0) | (False if flagged is None else flagged)
        if possible is None:
            possible = np.ones(size, np.bool_)
        return (possible if flagged is None else possible | flagged), flagged, True

    def counts(self, view: View, request: ResolvedRequest) -> RequestCounts:
        """Return the up-to-date counts of a request."""
        key = view.table, view.ledger, view.features, Signature.of(request)
        counts = self._counts.get(key)
        if counts is None:
            base = View(view.table, view.ledger, view.features)
            counts = RequestCounts(base, self._masks, key[3])
        if counts.catch_up():
            self._counts.put(key, counts, counts.size)
        return counts

    def _needs(
        self, view: View, requests: Sequence[tuple[ResolvedRequest, ...]]
    ) -> list[list[tuple[RequestCounts, int]]]:
        """Return what has to be there: of each entry one of the counts has to reach its number.

        Plain requests with the same candidates need these together, unless the devices can be shared.
        """
        needs = []
        sums: dict[int, int] = {}
        largest: dict[int, int] = {}
        known: dict[int, RequestCounts] = {}
        for alternatives in requests:
            if len(alternatives) > 1:
                needs.append([(self.counts(view, one), one.spec.count) for one in alternatives])
                continue
            counts = self.counts(view, alternatives[0])
            key = id(counts)
            known[key] = counts
            wanted = alternatives[0].spec.count
            largest[key] = max(largest.get(key, 0), wanted)
            sums[key] = largest[key] if alternatives[0].spec.admin_access else sums.get(key, 0) + wanted
        needs += [[(counts, largest[key] if counts.bounds else sums[key])] for key, counts in known.items()]
        return needs

    def _counts_decide(self, view: View, claims: Sequence[ResolvedClaim]) -> bool:
        """Return whether counts are the whole truth: nothing but numbers of free devices matters."""
        requests = [request for claim in claims for alternatives in claim.requests for request in alternatives]
        if any(claim.constraints for claim in claims) or any(
            request.alternative is not None or request.spec.admin_access or request.spec.capacity
            for request in requests
        ):
            return False
        counts = list({id(one): one for one in (self.counts(view, request) for request in requests)}.values())
        if any(one.bounds for one in counts):
            return False
        if len(counts) < 2:
            return True
        times = np.zeros(len(view.table.rows), np.uint8)
        for one in counts:
            times += (one.codes != NONE).astype(np.uint8)
        return bool(times.max(initial=0) <= 1)


def _padded(counts: Longs, size: int) -> Longs:
    """Return the counts for so many node ids: nodes newer than the last count have no devices of their own."""
    return counts if len(counts) == size else np.concatenate([counts, np.zeros(size - len(counts), np.int64)])
