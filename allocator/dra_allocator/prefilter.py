"""Which nodes can be ruled out, or in, by counting: one comparison over all nodes instead of a search on each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from dra_allocator.arrays import BoolArray
from dra_allocator.budget import UNLIMITED, Budget
from dra_allocator.counts import RequestCounts
from dra_allocator.lru import ByteLru
from dra_allocator.masks import MaskStore
from dra_allocator.requests import ResolvedClaim, ResolvedRequest, covers
from dra_allocator.spread import Spread
from dra_allocator.sums import NONE, Longs
from dra_allocator.view import View


@dataclass(frozen=True, slots=True)
class Survey:
    """What counting says, per node id.

    Attributes:
        possible: the claims may fit; where it is False they do not.
        unknown: a device has to be looked at; None: on no node.
        failing: a selector fails on a device that may be visited; None: on no node.
        counted: whether anything was counted at all.

    """

    possible: BoolArray
    unknown: BoolArray | None = None
    failing: BoolArray | None = None
    counted: bool = False


class ConstraintNeed(NamedTuple):
    """What a constraint wants of one request: so many devices with one value, or so many values."""

    request: ResolvedRequest
    number: int
    kind: Literal["match", "distinct"]
    attribute: str
    wanted: int


class Prefilter:
    """Counts by request signature, bounded by bytes."""

    def __init__(self, masks: MaskStore, max_bytes: int) -> None:
        self._masks = masks
        self._counts: ByteLru[RequestCounts] = ByteLru(max_bytes)
        self._spreads: ByteLru[Spread] = ByteLru(max_bytes // 4)

    def survey(self, view: View, claims: Sequence[ResolvedClaim]) -> Survey:
        """Return what counting says about each node.

        A claim with a request for all devices leaves every node open: such a request can end in an error.
        """
        size = len(view.table.nodes)
        requests = [request for claim in claims for request in claim.requests]
        if any(one.spec.mode == "All" for alternatives in requests for one in alternatives):
            return Survey(np.ones(size, np.bool_))
        possible: BoolArray | None = None
        unknown: BoolArray | None = None
        failing: BoolArray | None = None
        for needs in self._needs(view, requests):
            enough = [_padded(counts.available(view), size) >= wanted for counts, wanted in needs]
            some = enough[0] if len(enough) == 1 else np.logical_or.reduce(enough)
            possible = some if possible is None else possible & some
            for counts, _ in needs:
                unknown = _either(unknown, counts.unknown(view), size)
                failing = _either(failing, counts.failing(view), size)
        if possible is None:
            possible = np.ones(size, np.bool_)
        if any(claim.claim.constraints for claim in claims):
            for bound in self._constraints(view, claims, size):
                possible = possible & bound
        return Survey(possible if unknown is None else possible | unknown, unknown, failing, True)

    def decided(self, view: View, claims: Sequence[ResolvedClaim], survey: Survey) -> BoolArray:
        """Return per node id whether the survey's `possible` is the exact answer."""
        if not survey.counted:
            return np.zeros_like(survey.possible)
        if not self._counts_decide(view, claims):
            return ~survey.possible
        decided = np.ones_like(survey.possible)
        for doubt in (survey.unknown, survey.failing):
            if doubt is not None:
                decided &= ~(survey.possible & doubt)
        return decided

    def prepare(self, view: View, claims: Sequence[ResolvedClaim], budget: Budget) -> bool:
        """Bring all that counting needs up to date; return False if the budget ended it before."""
        requests = [one for claim in claims for alternatives in claim.requests for one in alternatives]
        if not view.prepare(budget):
            return False
        for request in requests:
            if not self._prepare(view, request, budget):
                return False
        if not any(claim.claim.constraints for claim in claims) or any(request.is_all for request in requests):
            return True
        return all(self.spread(view, need, budget).is_current() for need in constraint_needs(claims))

    def _prepare(self, view: View, request: ResolvedRequest, budget: Budget) -> bool:
        """Bring the counts of a request up to date, and before that the masks, unless they are by all appearance."""
        known = self._counts.get((view.followers, request.signature))
        if known is None or not known.has_read_table():
            for text in request.signature.selectors:
                if not self._masks.prepare(view.table, text, budget):
                    return False
        return request.is_all or self._caught_up(view, request, known, budget)[1]

    def counts(self, view: View, request: ResolvedRequest, budget: Budget = UNLIMITED) -> RequestCounts:
        """Return the counts of a request, up to date as far as the budget allows."""
        known = self._counts.get((view.followers, request.signature))
        return self._caught_up(view, request, known, budget)[0]

    def _caught_up(
        self, view: View, request: ResolvedRequest, known: RequestCounts | None, budget: Budget
    ) -> tuple[RequestCounts, bool]:
        """Return the counts of a request and whether they are up to date: as far as the budget allows."""
        if known is not None and known.is_current():
            return known, True
        counts, size = known, 0 if known is None else known.size
        if counts is None:
            base = View(view.table, view.ledger, view.features)
            counts = RequestCounts(base, self._masks, request.signature)
        done = counts.catch_up(budget)
        if counts.size != size or known is None:
            self._counts.put((view.followers, request.signature), counts, counts.size)
        return counts, done

    def spread(self, view: View, need: ConstraintNeed, budget: Budget = UNLIMITED) -> Spread:
        """Return how an attribute is spread over what a request can have, up to date as far as the budget allows."""
        counts = self.counts(view, need.request)
        key = view.followers, need.request.signature, need.attribute
        spread = self._spreads.get(key)
        if spread is None or spread.counts is not counts:
            spread = Spread(counts, need.attribute)
        if not spread.is_current():
            spread.catch_up(budget)
            self._spreads.put(key, spread, spread.size)
        return spread

    def _constraints(self, view: View, claims: Sequence[ResolvedClaim], size: int) -> Iterator[BoolArray]:
        """Yield per node id whether there may be enough for a constraint, as far as that can be said."""
        wanted: dict[object, int] = {}
        for need in constraint_needs(claims):
            spread = self.spread(view, need)
            numbers = spread.most(size) if need.kind == "match" else spread.different(size)
            if numbers is None:
                continue
            together = need.kind == "distinct" or not (spread.counts.bounds or need.request.spec.admin_access)
            key = need.request.claim, need.number, id(spread)
            wanted[key] = need.wanted + (wanted.get(key, 0) if together else 0)
            enough: BoolArray = numbers >= wanted[key]
            for home in spread.counts.overlaid_homes(view):
                enough[home if home >= 0 else slice(None)] = True
            yield enough

    def _needs(
        self, view: View, requests: Sequence[tuple[ResolvedRequest, ...]]
    ) -> list[list[tuple[RequestCounts, int]]]:
        """Return what has to be there: of each entry one of the counts has to reach its number.

        Plain requests with the same candidates need these together, unless the devices can be shared.
        """
        if len(requests) == 1 and len(requests[0]) == 1:
            return [[(self.counts(view, requests[0][0]), requests[0][0].spec.count)]]
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


def constraint_needs(claims: Sequence[ResolvedClaim]) -> Iterator[ConstraintNeed]:
    """Yield what constraints want at least of each plain request that they cover."""
    for claim in claims:
        for number, constraint in enumerate(claim.constraints):
            covered = [
                request
                for alternatives in claim.requests
                for request in alternatives
                if covers(constraint.requests, request)
            ]
            derived = {one.name for request in covered for one in request.spec.derived_attributes}
            if constraint.attribute not in derived:
                for request in covered:
                    if request.alternative is None:
                        yield ConstraintNeed(request, number, constraint.kind, constraint.attribute, request.spec.count)


def _either(known: BoolArray | None, counts: Longs | None, size: int) -> BoolArray | None:
    if counts is None:
        return known
    some: BoolArray = _padded(counts, size) > 0
    return some if known is None else known | some


def _padded(counts: Longs, size: int) -> Longs:
    """Return the counts for so many node ids: nodes newer than the last count have no devices of their own."""
    return counts if len(counts) == size else np.concatenate([counts, np.zeros(size - len(counts), np.int64)])
