"""Under which terms a pod is decided: alone, or as one of a group whose pods leave each other room."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dra_allocator.claim import ResourceClaim


@dataclass(frozen=True, slots=True)
class Terms:
    """`tentative`: what is decided is only tried, so nobody is told of it.

    `avoid` are nodes not to take, `skip` is how many alternatives of each prioritized list to leave out; the last one
    always stays.
    """

    tentative: bool = False
    avoid: frozenset[str] = frozenset()
    skip: int = 0

    @property
    def limited(self) -> bool:
        """Whether the answer may be another than without these terms."""
        return bool(self.avoid or self.skip)

    def specs(self, claims: Sequence[ResourceClaim]) -> list[ResourceClaim]:
        """Return what to ask the allocator for."""
        return [self._narrowed(claim) for claim in claims] if self.skip else list(claims)

    def _narrowed(self, claim: ResourceClaim) -> ResourceClaim:
        requests = tuple(
            replace(
                request, first_available=request.first_available[min(self.skip, len(request.first_available) - 1) :]
            )
            if request.first_available
            else request
            for request in claim.requests
        )
        return replace(claim, requests=requests)


ALONE = Terms()
"""Nobody else to think of."""
