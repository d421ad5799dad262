"""Shared counters: the partitions picked in a pool consume no more than its counter sets have (KEP-4815).

Amounts are exact integers of nano-units. Pools are told apart by driver and name.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from dra_allocator.candidates import Candidates, Need
from dra_allocator.pools import PoolOnNode, counter_sets
from dra_allocator.problem import NodeProblem
from dra_allocator.rules.pool_use import Charges, held_consumption
from dra_allocator.traits import Traits

Counter = tuple[str, str]
"""Counter set and counter."""


class Counters:
    """Keeps what is left of each counter of each pool.

    A pool of which more is consumed than there is gives nothing that consumes counters, as in Kubernetes.
    """

    def __init__(self, problem: NodeProblem) -> None:
        self._problem = problem
        self._charges = Charges(problem)
        self._left: dict[int, dict[Counter, int]] = {}
        self._amounts: dict[int, tuple[tuple[Counter, int], ...]] = {}

    def take(self, request: Candidates, position: int) -> bool:
        """See `Rule`."""
        if self._charges.is_due(request, position):
            left = self._pool(position)
            if not self._fits(left, position):
                return False
            for counter, amount in self._consumption(position):
                left[counter] -= amount
        self._charges.add(request, position)
        return True

    def release(self, request: Candidates, position: int) -> None:
        """See `Rule`."""
        self._charges.remove(request, position)
        if self._charges.is_due(request, position):
            left = self._pool(position)
            for counter, amount in self._consumption(position):
                left[counter] += amount

    def key(self, position: int) -> Hashable:
        """See `Rule`."""
        amounts = self._consumption(position)
        return (self._number(position), amounts) if amounts else None

    def state(self) -> Hashable:
        """See `Rule`."""
        left = frozenset((number, frozenset(pool.items())) for number, pool in self._left.items())
        return left, self._charges.state()

    def prune(self, request: Candidates, positions: Sequence[int], wanted: int) -> Sequence[int]:
        """Keep the devices whose counters are there; each counter alone has to have enough for so many."""
        charged: dict[int, list[int]] = {}
        kept = []
        for position in positions:
            if not self._charges.is_due(request, position):
                kept.append(position)
            elif self._fits(self._pool(position), position):
                kept.append(position)
                charged.setdefault(self._number(position), []).append(position)
        most = len(kept) - sum(len(group) - self._most(group) for group in charged.values())
        return kept if most >= wanted else ()

    def fails(self, request: Candidates, position: int) -> bool:
        """See `Rule`."""
        return False

    def suffices(self, needs: Sequence[Need]) -> bool:
        """Each counter alone has to have enough for all needs together."""
        wanted = sum(need.wanted for need in needs)
        positions = {position for need in needs for position in need.positions}
        if any(self._problem.is_shareable(position) for position in positions):
            return True
        candidates = next((need.candidates for need in needs if not need.candidates.admin), None)
        return candidates is None or len(self.prune(candidates, sorted(positions), wanted)) >= wanted

    def _most(self, group: Sequence[int]) -> int:
        """Return at most how many of a pool's devices fit, looking at one counter at a time."""
        needs: dict[Counter, list[int]] = {}
        for position in group:
            for counter, amount in self._consumption(position):
                needs.setdefault(counter, []).append(amount)
        most = len(group)
        left = self._pool(group[0])
        for counter, amounts in needs.items():
            remaining, count = left[counter], len(group) - len(amounts)
            for amount in sorted(amounts):
                remaining -= amount
                if remaining < 0:
                    break
                count += 1
            most = min(most, count)
        return most

    def _fits(self, left: dict[Counter, int], position: int) -> bool:
        needs: dict[Counter, int] = {}
        for counter, amount in self._consumption(position):
            needs[counter] = needs.get(counter, 0) + amount
        return all(left[counter] >= amount for counter, amount in needs.items()) and min(left.values()) >= 0

    def _consumption(self, position: int) -> tuple[tuple[Counter, int], ...]:
        traits = self._problem.traits[position]
        if not traits.consumes_counters:
            return ()
        amounts = self._amounts.get(id(traits))
        if amounts is None:
            amounts = self._amounts[id(traits)] = consumed_counters(traits)
        return amounts

    def _number(self, position: int) -> int:
        return int(self._problem.layout.pool_numbers[position])

    def _pool(self, position: int) -> dict[Counter, int]:
        number = self._number(position)
        left = self._left.get(number)
        if left is None:
            left = self._left[number] = self._available(self._problem.layout.pools[number])
        return left

    def _available(self, pool: PoolOnNode) -> dict[Counter, int]:
        left = {
            (name, counter): amount.nanos
            for name, counters in counter_sets(pool.universe).items()
            for counter, amount in counters.counters.items()
        }
        for consumption in held_consumption(self._problem, pool):
            for counter, amount in consumption.counters.items():
                left[consumption.counter_set, counter] -= amount.nanos
        return left


def consumed_counters(traits: Traits) -> tuple[tuple[Counter, int], ...]:
    """Return what a device consumes, as counters and nano-units."""
    return tuple(
        ((consumption.counter_set, counter), amount.nanos)
        for consumption in traits.consumes_counters
        for counter, amount in consumption.counters.items()
    )
