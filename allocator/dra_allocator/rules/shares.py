"""Consumable capacity: the shares of a device consume no more than it has, and requests can be served at all."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

from dra_allocator.candidates import Candidates, Need
from dra_allocator.capacity import fits
from dra_allocator.errors import AttemptFailedError
from dra_allocator.occupancy import FREE
from dra_allocator.problem import NodeProblem
from dra_cel.quantity import Quantity


class Shares:
    """Keeps what is used of each capacity of each shared device, in nano-units.

    A device that cannot be shared is checked too: it must be able to serve the request. With admin access that is all
    that counts: it consumes nothing, whatever others use.
    """

    can_fail = True

    def __init__(self, problem: NodeProblem) -> None:
        self._problem = problem
        self._used: dict[int, dict[str, int]] = {}
        self._taken: dict[int, dict[str, int]] = {}
        self._amounts: dict[tuple[Candidates, int], dict[str, Quantity] | None] = {}

    def take(self, request: Candidates, position: int) -> bool:
        """See `Rule`."""
        if self._is_trivial(request, position):
            return True
        if not self._is_served(request, position):
            return False
        amounts = self._consumption(request, position)
        if amounts is not None and not request.admin and self._problem.is_shareable(position):
            self._change(position, amounts, 1)
        return True

    def release(self, request: Candidates, position: int) -> None:
        """See `Rule`."""
        if not request.admin and self._problem.is_shareable(position):
            self._change(position, self._consumption(request, position) or {}, -1)

    def share(self, request: Candidates, position: int) -> Mapping[str, Quantity] | None:
        """Return what a pick consumes by the slice's spelling; None: the device is not shared.

        With admin access it is a share too, which tells it from others of the device, but consumes nothing.
        """
        if not self._problem.is_shareable(position):
            return None
        return {} if request.admin else self._consumption(request, position)

    def key(self, position: int) -> Hashable:
        """See `Rule`."""
        capacities = self._problem.capacities(position)
        policies = id(self._problem.traits[position].policies) if self._problem.traits[position].policies else 0
        amounts = tuple((name, capacity.value.nanos) for name, capacity in capacities.items())
        return amounts, policies, tuple(sorted(self._base(position).items()))

    def state(self) -> Hashable:
        """See `Rule`."""
        return frozenset((position, frozenset(taken.items())) for position, taken in self._taken.items())

    def prune(self, request: Candidates, positions: Sequence[int], wanted: int) -> Sequence[int]:
        """Keep the devices that can serve the request now; those that would end in an error have to be visited."""
        return [position for position in positions if self._may_take(request, position)]

    def fails(self, request: Candidates, position: int) -> bool:
        """See `Rule`."""
        try:
            if not self._is_trivial(request, position):
                self._consumption(request, position)
        except AttemptFailedError:
            return True
        return False

    def suffices(self, needs: Sequence[Need]) -> bool:
        """All needs together, each at its least, take no more of a capacity than their devices have left."""
        positions = {position for need in needs for position in need.positions}
        names = {name for position in positions for name in self._problem.capacities(position)}
        try:
            return all(
                sum(need.wanted * self._least(need, name) for need in needs)
                <= sum(self._left(position, name) for position in positions)
                for name in names
            )
        except AttemptFailedError:
            return True

    def _least(self, need: Need, name: str) -> int:
        """Return the least that a device of the need takes of a capacity, in nano-units."""
        served = (self._consumption(need.candidates, position) for position in need.positions)
        amounts = [amounts[name].nanos if name in amounts else 0 for amounts in served if amounts is not None]
        return min(amounts, default=0)

    def _left(self, position: int, name: str) -> int:
        capacity = self._problem.capacities(position).get(name)
        return 0 if capacity is None else max(0, capacity.value.nanos - self._use(position).get(name, 0))

    def _may_take(self, request: Candidates, position: int) -> bool:
        try:
            return self._is_trivial(request, position) or self._is_served(request, position)
        except AttemptFailedError:
            return True

    def _is_served(self, request: Candidates, position: int) -> bool:
        """Return whether the device has what is asked for beside what is used; with admin access nothing is."""
        amounts = self._consumption(request, position)
        used = {} if request.admin else self._use(position)
        return amounts is not None and fits(amounts, used, self._problem.capacities(position))

    def _is_trivial(self, request: Candidates, position: int) -> bool:
        """Return whether the whole device is taken without asking for amounts."""
        traits = self._problem.traits[position]
        return not (request.request.spec.capacity or traits.policies or self._problem.is_shareable(position))

    def _consumption(self, request: Candidates, position: int) -> dict[str, Quantity] | None:
        key = request, position
        if key not in self._amounts:
            self._amounts[key] = self._problem.consumption(request.request, position)
        return self._amounts[key]

    def _use(self, position: int) -> dict[str, int]:
        used = self._used.get(position)
        if used is None:
            used = self._used[position] = self._base(position)
        return used

    def _base(self, position: int) -> dict[str, int]:
        """Return what the others' shares use."""
        used: dict[str, int] = {}
        if self._problem.held[position] != FREE:
            for holder in self._problem.holders(position):
                for name, amount in holder.consumed.items():
                    used[name] = used.get(name, 0) + amount.nanos
        return used

    def _change(self, position: int, amounts: Mapping[str, Quantity], sign: int) -> None:
        used = self._use(position)
        taken = self._taken.setdefault(position, {})
        for name, amount in amounts.items():
            used[name] = used.get(name, 0) + sign * amount.nanos
            taken[name] = taken.get(name, 0) + sign * amount.nanos
        if not any(taken.values()):
            del self._taken[position]
