"""What the devices that are held consume of their pools' counter sets, read live from the slices."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dra_allocator.candidates import Candidates
from dra_allocator.device import CounterConsumption
from dra_allocator.occupancy import FREE, SHARED, usage
from dra_allocator.pools import PoolOnNode
from dra_allocator.problem import NodeProblem


def held_consumption(problem: NodeProblem, pool: PoolOnNode) -> Iterator[CounterConsumption]:
    """Yield what each held device of the pool consumes, also devices that the node does not see.

    A device that is held but no longer in its slice contributes nothing.
    """
    view = problem.view
    rows = view.table.rows
    states = view.occupancy.states()
    overlaid = {row: device for device in view.overlay.devices for row in view.table.rows_of(device)}
    for record in pool.universe:
        if record.shared_counters:
            continue
        held = set(record.rows[np.flatnonzero(states[record.rows] != FREE)].tolist())
        for row in record.rows.tolist() if overlaid else held:
            device = overlaid.get(row)
            if row in held if device is None else usage(view.holders(device)) != FREE:
                yield from rows.traits_of(row).consumes_counters


class Charges:
    """Which devices the choice so far has charged: a shared device is charged once, with its first share.

    Devices that others hold shares of are charged already. Admin access charges nothing.
    """

    def __init__(self, problem: NodeProblem) -> None:
        self._problem = problem
        self._shares: dict[int, int] = {}

    def is_due(self, request: Candidates, position: int) -> bool:
        """Return whether picking the device has to be charged."""
        if request.admin or not self._problem.traits[position].consumes_counters:
            return False
        return not self._problem.is_shareable(position) or (
            position not in self._shares and self._problem.held[position] != SHARED
        )

    def add(self, request: Candidates, position: int) -> None:
        """Note a pick."""
        if not request.admin and self._problem.is_shareable(position):
            self._shares[position] = self._shares.get(position, 0) + 1

    def remove(self, request: Candidates, position: int) -> None:
        """Undo the latest `add`."""
        if not request.admin and self._problem.is_shareable(position):
            self._shares[position] -= 1
            if not self._shares[position]:
                del self._shares[position]

    def state(self) -> frozenset[int]:
        """Return the shared devices that are charged."""
        return frozenset(self._shares)
