"""Why claims do not fit: computed when somebody asks, from the view of the decision.

pools, classes, selectors, taints, holders   per request, for all rows at once     `reasons`
the node that came closest                   from what is left per node            here
rules about the choice as a whole            searched on a few nodes               `jointly`
nodes that were not asked                    by the counts of the prefilter        here

Within slices (`dra_cel.slices`) it has a rest between pieces of work of about a millisecond; if the table changes in a
rest it is made anew.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence

import numpy as np

from dra_allocator.arrays import BoolArray, IntArray
from dra_allocator.claim import ResourceClaim
from dra_allocator.effort import Effort
from dra_allocator.errors import AttemptFailedError, StaleRowsError
from dra_allocator.jointly import Jointly
from dra_allocator.masks import MaskStore
from dra_allocator.outcome import AllocationError
from dra_allocator.pool_health import PoolHealth
from dra_allocator.prefilter import Prefilter
from dra_allocator.reasons import Sieve
from dra_allocator.rejection import ClaimRejection, Elsewhere, Explanation, Missing
from dra_allocator.requests import ResolvedClaim, ResolvedRequest, display_name, resolve
from dra_allocator.sight import Sight
from dra_allocator.telling import told
from dra_allocator.view import View
from dra_cel.slices import rest, unbroken
from dra_cel.suggestion import closest

_ATTEMPTS = 3
_DONE = object()
_SEARCHED_NODES = 8
_NAMED_NODES = 64
_DIFFERENT_REQUESTS = 8
_NAMED_CLASSES = 8


class _Piece:
    """A budget for the smallest piece of work after which a rest is possible."""

    def exhausted(self) -> bool:
        return True


_PIECE = _Piece()


class Explainer:
    """An `Explain` for claims and nodes; what it found is remembered."""

    def __init__(
        self,
        view: View,
        masks: MaskStore,
        prefilter: Prefilter,
        claims: Sequence[ResourceClaim],
        nodes: Sequence[str] | IntArray,
    ) -> None:
        self._view = view
        self._masks = masks
        self._prefilter = prefilter
        self._claims = claims
        self._nodes = nodes
        self._known: Explanation | None = None

    def __call__(self, node: str | None = None, /) -> Explanation:
        """See `Explain`."""
        if node is not None:
            return self._explain([node])
        if self._known is None:
            self._known = self._explain(self._nodes)
        return self._known

    def _explain(self, nodes: Sequence[str] | IntArray) -> Explanation:
        for _ in range(_ATTEMPTS):
            try:
                return self._attempt(nodes)
            except StaleRowsError:
                continue
        with unbroken():
            return self._attempt(nodes)

    def _attempt(self, nodes: Sequence[str] | IntArray) -> Explanation:
        """Explain once. Raises StaleRowsError if the table changes in a rest."""
        view = self._view
        try:
            claims = resolve(view.table, view.features, self._claims)
        except AttemptFailedError as failure:
            return Explanation(len(nodes), missing=tuple(self._missing(failure.error)))
        while not self._prefilter.prepare(view, claims, _PIECE):
            rest()
        return _Explanation(view, self._masks, claims, nodes).run(self._prefilter)

    def _missing(self, error: AllocationError) -> Iterator[Missing]:
        """Yield the class that an error is about."""
        if error.kind != "unknown-class":
            return
        classes = sorted(self._view.table.classes)
        for claim in self._claims:
            for request in claim.requests:
                for one in request.first_available or (request,):
                    if one.device_class and one.device_class not in self._view.table.classes:
                        name = one.device_class
                        meant = closest(name, classes) or ""
                        few = tuple(classes[:_NAMED_CLASSES])
                        yield Missing("DeviceClass", name, display_name(claim), request.name, meant, few)


class _Explanation:
    """One explanation in the making."""

    def __init__(
        self, view: View, masks: MaskStore, claims: Sequence[ResolvedClaim], nodes: Sequence[str] | IntArray
    ) -> None:
        self._view = view
        self._masks = masks
        self._claims = claims
        self._effort = Effort()
        self._version = view.table.version
        with unbroken():
            self._sight = Sight(view, nodes)
            self._health = PoolHealth(view, self._sight)
        self._pause()

    def run(self, prefilter: Prefilter) -> Explanation:
        sight = self._sight
        sieves = self._sieves()
        enough, missing = self._compare(sieves)
        nearest = self._nearest(missing)
        jointly = self._jointly(enough, sieves)
        self._in_pieces(jointly.run())
        with unbroken():
            elsewhere = self._elsewhere(prefilter)
        return Explanation(
            nodes=int(np.count_nonzero(sight.asked)),
            claims=tuple(self._told(claim, sieves, nearest) for claim in self._claims),
            together=jointly.found,
            nodes_enough=int(np.count_nonzero(enough)),
            nearest="" if nearest is None else sight.name(nearest),
            elsewhere=elsewhere,
            fits_on=jointly.fits_on,
            left_out=sum(id(one) not in sieves for claim in self._claims for some in claim.requests for one in some),
        )

    def _in_pieces(self, work: Iterator[None]) -> None:
        """Do work with a pause between its pieces."""
        going = True
        while going:
            with unbroken():
                going = next(work, _DONE) is not _DONE
            self._pause()

    def _pause(self) -> None:
        rest()
        if self._view.table.version != self._version:
            raise StaleRowsError

    def _told(self, claim: ResolvedClaim, sieves: dict[int, Sieve], nearest: int | None) -> ClaimRejection:
        with unbroken():
            entry = told(self._view, self._sight, claim, sieves, nearest)
        self._pause()
        return entry

    def _sieves(self) -> dict[int, Sieve]:
        """Return what the requests' devices fell out for, by `id` of the request; equal requests share it."""
        known: dict[Hashable, Sieve] = {}
        sieves: dict[int, Sieve] = {}
        for request in (one for claim in self._claims for some in claim.requests for one in some):
            key = _signature(request)
            if key not in known and len(known) < _DIFFERENT_REQUESTS:
                sieve = known[key] = Sieve(self._view, self._masks, request, self._health, self._effort)
                self._in_pieces(sieve.run())
                sieve.count(self._sight)
            if key in known:
                sieves[id(request)] = known[key]
        return sieves

    def _compare(self, sieves: dict[int, Sieve]) -> tuple[BoolArray, IntArray]:
        """Return the asked nodes that have enough for every request alone, and per node how many devices lack."""
        enough = self._sight.asked.copy()
        lacking = np.zeros(len(enough), np.int32)
        for claim in self._claims:
            for alternatives in claim.requests:
                known = [sieves[id(one)] for one in alternatives if id(one) in sieves]
                if len(known) < len(alternatives):
                    continue
                lacks = [np.maximum(0, one.wanted - one.available).astype(np.int32) for one in known]
                least = lacks[0] if len(lacks) == 1 else np.minimum.reduce(lacks)
                enough &= least == 0
                lacking += least
        return enough, lacking

    def _nearest(self, lacking: IntArray) -> int | None:
        """Return the asked node that lacks least."""
        asked = self._sight.asked
        if not asked.any():
            return None
        return int(np.argmin(np.where(asked, lacking, np.iinfo(np.int32).max)))

    def _jointly(self, enough: BoolArray, sieves: dict[int, Sieve]) -> Jointly:
        """Search the nodes with most devices among those that have enough."""
        total = np.zeros(len(enough), np.int64)
        for sieve in sieves.values():
            total += sieve.available
        nodes = np.flatnonzero(enough)
        best = nodes[np.argsort(-total[nodes], kind="stable")[:_SEARCHED_NODES]]
        return Jointly(self._view, self._masks, self._claims, best.tolist(), self._effort)

    def _elsewhere(self, prefilter: Prefilter) -> Elsewhere | None:
        """Return the nodes that were not asked and may have what is wanted."""
        others = self._view.table.nodes.present() & ~self._sight.asked
        if not others.any() or not any(claim.requests for claim in self._claims):
            return None
        survey = prefilter.survey(self._view, self._claims)
        if not survey.counted:
            return None
        found = np.flatnonzero(survey.possible & others)
        if not len(found):
            return None
        return Elsewhere(len(found), tuple(map(self._sight.name, found[:_NAMED_NODES].tolist())))


def _signature(request: ResolvedRequest) -> Hashable:
    """Return all of a request that decides which devices it can have and how many it wants."""
    spec = request.spec
    texts = tuple((selector.text, selector.of_class) for selector in request.selectors)
    amounts = tuple(sorted((name, amount.nanos) for name, amount in spec.capacity.items()))
    return texts, spec.tolerations, spec.admin_access, amounts, spec.mode, spec.count, request.device_class.name
