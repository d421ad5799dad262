"""distinctAttribute: no two devices of the named requests have a value in common (KEP-5075; lists: KEP-5491)."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from dra_allocator.candidates import Candidates, Need
from dra_allocator.claim import Constraint
from dra_allocator.requests import covers
from dra_allocator.rules.attributes import ConstrainedAttribute, Value


class DistinctAttribute:
    """Keeps the values so far. Every one counts, not only the last (Kubernetes before 1.37 compared with that).

    With list attributes the values are disjoint sets. Without, scalars differ, and a list passes as the first only.
    """

    def __init__(self, claim: int, constraint: Constraint, attribute: ConstrainedAttribute, lists: bool) -> None:
        self._claim = claim
        self._requests = constraint.requests
        self._attribute = attribute
        self.can_fail = attribute.is_derived
        self._lists = lists
        self._values: list[Value] = []

    def take(self, request: Candidates, position: int) -> bool:
        """See `Rule`."""
        if not self._covers(request):
            return True
        value = self._attribute.of(request, position)
        if value is None or not self._is_new(value):
            return False
        self._values.append(value)
        return True

    def release(self, request: Candidates, position: int) -> None:
        """See `Rule`."""
        if self._covers(request):
            self._values.pop()

    def key(self, position: int) -> Hashable:
        """See `Rule`. Derived attributes differ by request, so there each device stands for itself."""
        return position if self._attribute.is_derived else self._attribute.published(position)

    def state(self) -> Hashable:
        """See `Rule`."""
        return frozenset(self._values)

    def prune(self, request: Candidates, positions: Sequence[int], wanted: int) -> Sequence[int]:
        """Keep the devices with a new value; there have to be as many values as devices are wanted."""
        if not self._covers(request):
            return positions
        kept = []
        elements: set[object] = set()
        for position in positions:
            value = self._attribute.of(request, position)
            if value is not None and self._is_new(value):
                kept.append(position)
                elements |= self._tokens(value)
        return kept if len(elements) >= wanted else ()

    def fails(self, request: Candidates, position: int) -> bool:
        """See `Rule`."""
        return self._covers(request) and self._attribute.fails(request, position)

    def suffices(self, needs: Sequence[Need]) -> bool:
        """All needs together take as many values as devices."""
        elements: set[object] = set()
        wanted = 0
        for need in needs:
            if not self._covers(need.candidates):
                continue
            wanted += need.wanted
            values = (self._attribute.of(need.candidates, position) for position in need.positions)
            elements.update(*(self._tokens(value) for value in values if value is not None and self._is_new(value)))
        return wanted <= len(elements)

    def _covers(self, request: Candidates) -> bool:
        return request.claim == self._claim and covers(self._requests, request.request)

    def _tokens(self, value: Value) -> frozenset[object]:
        """Return what a device with this value takes at least one of, and no other device may take."""
        return value.elements if self._lists or not value.is_list else frozenset((value,))

    def _is_new(self, value: Value) -> bool:
        if self._lists:
            return bool(value.elements) and not any(value.elements & known.elements for known in self._values)
        if value.is_list:
            return not self._values
        return value not in self._values
