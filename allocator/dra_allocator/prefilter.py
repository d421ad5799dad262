"""Which nodes can be ruled out, or in, by counting: one comparison over all nodes instead of a search on each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from dra_allocator.arrays import BoolArray
from dra_allocator.counts import NONE, RequestCounts, Signature
from dra_allocator.lru import ByteLru
from dra_allocator.masks import MaskStore
from dra_allocator.requests import ResolvedClaim, ResolvedRequest
from dra_allocator.view import View


class Prefilter:
    """Counts by request signature, bounded by bytes."""

    def __init__(self, masks: MaskStore, max_bytes: int) -> None:
        self._masks = masks
        self._counts: ByteLru[RequestCounts] = ByteLru(max_bytes)

    def survey(self, view: View, claims: Sequence[ResolvedClaim]) -> tuple[BoolArray, BoolArray]:
        """Return per node id whether the claims may fit, and whether that is already the exact answer.

        A claim with a request for all devices leaves every node open: such a request can end in an error.
        """
        size = len(view.table.nodes)
        possible = np.ones(size, np.bool_)
        flagged = np.zeros(size, np.bool_)
        requests = [request for claim in claims for request in claim.requests]
        if any(one.is_all for alternatives in requests for one in alternatives):
            return possible, np.zeros(size, np.bool_)
        for counts, wanted in self._needs(view, requests):
            flagged |= counts.flagged(view)
            possible &= counts.available(view) >= wanted
        for alternatives in requests:
            if len(alternatives) > 1:
                some = np.zeros(size, np.bool_)
                for one in alternatives:
                    counts = self._counted(view, one)
                    flagged |= counts.flagged(view)
                    some |= counts.available(view) >= one.spec.count
                possible &= some
        decided = np.full(size, self._counts_decide(view, claims)) & ~flagged
        return possible | flagged, decided | (~possible & ~flagged)

    def counts(self, view: View, request: ResolvedRequest) -> RequestCounts:
        """Return the up-to-date counts of a request."""
        return self._counted(view, request)

    def _needs(
        self, view: View, requests: Sequence[tuple[ResolvedRequest, ...]]
    ) -> Iterator[tuple[RequestCounts, int]]:
        """Yield what the plain requests need: those with the same candidates together, unless these can be shared."""
        sums: dict[int, int] = {}
        largest: dict[int, int] = {}
        known: dict[int, RequestCounts] = {}
        for alternatives in requests:
            if len(alternatives) == 1:
                counts = self._counted(view, alternatives[0])
                key = id(counts)
                known[key] = counts
                wanted = alternatives[0].spec.count
                sums[key] = sums.get(key, 0) + wanted
                largest[key] = max(largest.get(key, 0), wanted)
                if alternatives[0].spec.admin_access:
                    sums[key] = largest[key]
        for key, counts in known.items():
            yield counts, largest[key] if counts.bounds else sums[key]

    def _counts_decide(self, view: View, claims: Sequence[ResolvedClaim]) -> bool:
        """Return whether counts are the whole truth: nothing but numbers of free devices matters."""
        requests = [request for claim in claims for alternatives in claim.requests for request in alternatives]
        if any(claim.constraints for claim in claims) or any(
            request.alternative is not None or request.spec.admin_access or request.spec.capacity
            for request in requests
        ):
            return False
        counts = list({id(one): one for one in (self._counted(view, request) for request in requests)}.values())
        if any(one.bounds for one in counts):
            return False
        if len(counts) < 2:
            return True
        times = np.zeros(len(view.table.rows), np.uint8)
        for one in counts:
            times += (one.codes != NONE).astype(np.uint8)
        return bool(times.max(initial=0) <= 1)

    def _counted(self, view: View, request: ResolvedRequest) -> RequestCounts:
        key = view.table, view.ledger, view.features, Signature.of(request)
        counts = self._counts.get(key)
        if counts is None:
            base = View(view.table, view.ledger, view.features)
            counts = RequestCounts(base, self._masks, key[3])
        if counts.catch_up():
            self._counts.put(key, counts, counts.size)
        return counts
