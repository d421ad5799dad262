"""matchAttribute: the devices of the named requests have one value in common (KEP-4381; lists: KEP-5491)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence

from dra_allocator.candidates import Candidates, Need
from dra_allocator.claim import Constraint
from dra_allocator.matching import can_all_have
from dra_allocator.problem import NodeProblem
from dra_allocator.requests import covers
from dra_allocator.rules.attributes import ConstrainedAttribute, Value


class MatchAttribute:
    """Keeps a stack of what the devices so far have in common, one entry per device.

    With list attributes that is the intersection of their values as sets. Without, two devices must have the same
    scalar, and a list passes for the first device only.
    """

    def __init__(
        self, problem: NodeProblem, claim: int, constraint: Constraint, attribute: ConstrainedAttribute, lists: bool
    ) -> None:
        self._problem = problem
        self._claim = claim
        self._requests = constraint.requests
        self._attribute = attribute
        self.can_fail = attribute.is_derived
        self._lists = lists
        self._common: list[Value] = []

    def take(self, request: Candidates, position: int) -> bool:
        """See `Rule`."""
        if not self._covers(request):
            return True
        common = self._narrowed(self._attribute.of(request, position))
        if common is None:
            return False
        self._common.append(common)
        return True

    def release(self, request: Candidates, position: int) -> None:
        """See `Rule`."""
        if self._covers(request):
            self._common.pop()

    def key(self, position: int) -> Hashable:
        """See `Rule`. Derived attributes differ by request, so there each device stands for itself."""
        return position if self._attribute.is_derived else self._attribute.published(position)

    def state(self) -> Hashable:
        """See `Rule`."""
        return self._common[-1] if self._common else None

    def prune(self, request: Candidates, positions: Sequence[int], wanted: int) -> Sequence[int]:
        """Keep the devices that share a value with enough others."""
        if not self._covers(request):
            return positions
        fitting = {position: self._narrowed(self._attribute.of(request, position)) for position in positions}
        sizes = Counter(element for value in fitting.values() if value for element in value.elements)
        return [
            position
            for position, value in fitting.items()
            if value and any(sizes[element] >= wanted for element in value.elements)
        ]

    def fails(self, request: Candidates, position: int) -> bool:
        """See `Rule`."""
        return self._covers(request) and self._attribute.fails(request, position)

    def suffices(self, needs: Sequence[Need]) -> bool:
        """Some value has to be there often enough for every need, and for all of them and the others together."""
        having: list[dict[object, list[int]] | None] = [
            self._by_element(need) if self._covers(need.candidates) else None for need in needs
        ]
        enough = [
            {element for element, positions in one.items() if len(positions) >= need.wanted}
            for need, one in zip(needs, having, strict=True)
            if one is not None
        ]
        return not enough or any(self._goes(element, needs, having) for element in set.intersection(*enough))

    def _by_element(self, need: Need) -> dict[object, list[int]]:
        """Return the positions of a need that may have this in common with all others."""
        found: dict[object, list[int]] = {}
        for position in need.positions:
            value = self._narrowed(self._attribute.of(need.candidates, position))
            for element in value.elements if value else ():
                found.setdefault(element, []).append(position)
        return found

    def _goes(self, element: object, needs: Sequence[Need], having: Sequence[dict[object, list[int]] | None]) -> bool:
        """Return whether all needs can have devices at once if this is what those that are covered have in common."""
        chosen = (need.positions if one is None else one[element] for need, one in zip(needs, having, strict=True))
        return can_all_have(
            [self._problem.demand(need.wanted, positions) for need, positions in zip(needs, chosen, strict=True)]
        )

    def _covers(self, request: Candidates) -> bool:
        return request.claim == self._claim and covers(self._requests, request.request)

    def _narrowed(self, value: Value | None) -> Value | None:
        """Return what the devices would have in common with one of this value more; None if nothing."""
        if value is None or (self._lists and not value.elements):
            return None
        if not self._common:
            return value
        common = self._common[-1]
        if not self._lists:
            return common if value == common and not value.is_list else None
        elements = common.elements & value.elements
        return Value(elements, True) if elements else None
