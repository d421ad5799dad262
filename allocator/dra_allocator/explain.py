"""Why claims do not fit: computed when somebody asks, from the view of the decision."""

from __future__ import annotations

from collections.abc import Sequence

from dra_allocator.arrays import IntArray
from dra_allocator.masks import MaskStore
from dra_allocator.rejection import ClaimRejection
from dra_allocator.requests import ResolvedClaim
from dra_allocator.view import View


def explain(
    view: View, masks: MaskStore, claims: Sequence[ResolvedClaim], nodes: Sequence[str] | IntArray
) -> tuple[ClaimRejection, ...]:
    """Return per claim and request how many devices and nodes fell out for which reason."""
    return ()
