"""Shared counters: the partitions picked in a pool consume no more than its counter sets have (KEP-4815).

Amounts are exact integers of nano-units. Pools are told apart by driver and name.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from dra_allocator.candidates import Candidates, Need
from dra_allocator.knapsack import Knapsack
from dra_allocator.lightest import Floats
from dra_allocator.matching import Demand
from dra_allocator.pools import PoolOnNode, counter_sets
from dra_allocator.problem import NodeProblem
from dra_allocator.reachable import Reachable
from dra_allocator.rules.pool_use import Charges, held_consumption
from dra_allocator.traits import Traits

Counter = tuple[str, str]
"""Counter set and counter."""

_LARGEST_MATRIX = 1 << 16
"""Devices times counters: with more, looking ahead takes longer than it saves."""


class Counters:
    """Keeps what is left of each counter of each pool.

    A pool of which more is consumed than there is gives nothing that consumes counters, as in Kubernetes.
    """

    can_fail = False

    def __init__(self, problem: NodeProblem) -> None:
        self._problem = problem
        self._charges = Charges(problem)
        self._left: dict[int, dict[Counter, int]] = {}
        self._amounts: dict[int, tuple[tuple[Counter, int], ...]] = {}
        self._sums: dict[int, tuple[tuple[Counter, int], ...]] = {}
        self._numbers: list[int] = problem.layout.pool_numbers.tolist()
        self._columns: dict[tuple[int, Counter], int] = {}
        self._matrix: Floats | None = None
        self._reachable: tuple[Hashable, Reachable] | None = None

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
        charged: dict[int, list[tuple[tuple[Counter, int], ...]]] = {}
        pools: dict[int, dict[Counter, int] | None] = {}
        kept = []
        for position in positions:
            if not self._charges.is_due(request, position):
                kept.append(position)
                continue
            number = self._numbers[position]
            if number not in pools:
                left = self._pool_left(number)
                pools[number] = left if min(left.values()) >= 0 else None
            room = pools[number]
            needs = self._needs(position)
            if room is not None and all(room[counter] >= amount for counter, amount in needs):
                kept.append(position)
                charged.setdefault(number, []).append(needs)
        most = len(kept) - sum(len(group) - self._most(number, group) for number, group in charged.items())
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

    def firsts(self, need: Need, later: Sequence[Demand], effort: int) -> Sequence[int]:
        """Return those positions of a need that may be the first of it, its others coming after it.

        `later`: what later requests take at least, only devices that cannot be shared. `effort`: see `Knapsack`.
        """
        if need.candidates.admin or not need.positions:
            return need.positions
        matrix = self._consumed()
        if matrix is None:
            return need.positions
        free = [one for one in need.positions if not self._charges.is_due(need.candidates, one)]
        if free:
            matrix = matrix.copy()
            matrix[free] = 0
        left = self._room()
        demands = [(need.wanted, need.positions), *later]
        possible = Knapsack(matrix, left, demands).firsts(effort)
        return [position for position, may_be in zip(need.positions, possible, strict=True) if may_be]

    def exact_firsts(self, need: Need, taken: Sequence[int], rows: Sequence[int]) -> Sequence[int]:
        """Like `firsts`, but exact, for the last request: if sums are few enough, and no device can be shared.

        `taken`: what the request has been given; `rows`: those and all others it could have had, in order.
        """
        matrix = self._consumed()
        if need.candidates.admin or matrix is None or any(map(self._problem.is_shareable, rows)):
            return need.positions
        left = self._room()
        before = left + matrix[list(taken)].sum(axis=0)
        key = id(need.candidates), tuple(rows), tuple(before.tolist())
        if self._reachable is None or self._reachable[0] != key:
            some, wanted = matrix[list(rows)], need.wanted + len(taken)
            weights = Knapsack(some, before, [(wanted, range(len(rows)))]).strictest()
            self._reachable = key, Reachable(some, before, wanted, weights)
        reachable = self._reachable[1]
        if not reachable.is_complete:
            return need.positions
        places = {position: at for at, position in enumerate(rows)}
        possible = reachable.firsts([places[one] for one in need.positions], need.wanted, left)
        return [position for position, may_be in zip(need.positions, possible, strict=True) if may_be]

    def _room(self) -> Floats:
        return np.array([max(0, self._pool_left(number)[counter]) for number, counter in self._columns], np.float64)

    def _consumed(self) -> Floats | None:
        """Return what each device consumes, one column per counter; None: too much to compute with."""
        if self._matrix is None:
            entries: dict[tuple[int, int], int] = {}
            for position in range(len(self._problem)):
                for counter, amount in self._consumption(position):
                    column = self._columns.setdefault((self._number(position), counter), len(self._columns))
                    entries[position, column] = entries.get((position, column), 0) + amount
            shape = len(self._problem), len(self._columns)
            if shape[0] * shape[1] > _LARGEST_MATRIX or any(amount < 0 for amount in entries.values()):
                shape = 0, 0
            self._matrix = np.zeros(shape)
            if shape[1]:
                for place, amount in entries.items():
                    self._matrix[place] = amount
        return self._matrix if self._matrix.size else None

    def _most(self, number: int, group: Sequence[tuple[tuple[Counter, int], ...]]) -> int:
        """Return at most how many of a pool's devices with these needs fit, looking at one counter at a time."""
        needs: dict[Counter, list[int]] = {}
        for some in group:
            for counter, amount in some:
                needs.setdefault(counter, []).append(amount)
        most = len(group)
        left = self._pool_left(number)
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
        return min(left.values()) >= 0 and all(left[counter] >= amount for counter, amount in self._needs(position))

    def _needs(self, position: int) -> tuple[tuple[Counter, int], ...]:
        """Return what a device consumes of each counter, each counter once."""
        traits = self._problem.traits[position]
        needs = self._sums.get(id(traits))
        if needs is None:
            sums: dict[Counter, int] = {}
            for counter, amount in self._consumption(position):
                sums[counter] = sums.get(counter, 0) + amount
            needs = self._sums[id(traits)] = tuple(sums.items())
        return needs

    def _consumption(self, position: int) -> tuple[tuple[Counter, int], ...]:
        traits = self._problem.traits[position]
        if not traits.consumes_counters:
            return ()
        amounts = self._amounts.get(id(traits))
        if amounts is None:
            amounts = self._amounts[id(traits)] = consumed_counters(traits)
        return amounts

    def _number(self, position: int) -> int:
        return self._numbers[position]

    def _pool(self, position: int) -> dict[Counter, int]:
        return self._pool_left(self._number(position))

    def _pool_left(self, number: int) -> dict[Counter, int]:
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
