"""Why devices fall out of a request, one reason per device: the first in the order in which they are asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from dra_allocator.arrays import BoolArray
from dra_allocator.masks import MaskStore, SelectorMasks
from dra_allocator.occupancy import FREE, SHARED, usage
from dra_allocator.pools import PoolRules, PoolState, assess, is_counter_slice, is_seen
from dra_allocator.records import PoolRecord
from dra_allocator.rejection import Reason
from dra_allocator.requests import ResolvedRequest
from dra_allocator.rules.fitness import blocking_taints, is_tolerated
from dra_allocator.taint_rules import TaintRules
from dra_allocator.traits import Traits
from dra_allocator.view import View
from dra_cel.errors import CelError

_MAX_EVALUATIONS = 4096
_MAX_COST = 50_000
"""Rows that masks leave open are evaluated one by one up to so many, and up to so much CEL cost, which is a few
milliseconds: selectors are written by whoever may create claims. The rest is reported as not evaluated."""
_COST_OF_FAILURE = 100


@dataclass(frozen=True, slots=True)
class Fallen:
    """The rows that fell out for one reason."""

    reason: Reason
    detail: str
    rows: BoolArray


class Sieve:
    """Takes the rows out of a request reason by reason; `left` are those that have not fallen out yet."""

    def __init__(self, view: View, masks: MaskStore, request: ResolvedRequest, visible: BoolArray) -> None:
        self._view = view
        self._masks = masks
        self._request = request
        self.left: BoolArray = visible.copy()
        self.fallen: list[Fallen] = []

    def run(self) -> None:
        """Apply all reasons in order."""
        self._drop_pools()
        self._drop_traits("unsupported-device", self._unsupported)
        for selector in self._request.selectors:
            masks = self._masks.get(self._view.table, selector.text)
            reason: Reason = "class-selector" if selector.of_class else "claim-selector"
            self._drop_selected(masks, reason, f"selector {selector.index}")
        self._drop_taints()
        if not self._request.spec.admin_access:
            self._drop("in-use", "", self._in_use())

    def _drop(self, reason: Reason, detail: str, rows: BoolArray) -> None:
        hit = self.left & rows
        if not hit.any():
            return
        self.left &= ~rows
        for index, known in enumerate(self.fallen):
            if (known.reason, known.detail) == (reason, detail):
                self.fallen[index] = Fallen(reason, detail, known.rows | hit)
                return
        self.fallen.append(Fallen(reason, detail, hit))

    def _drop_pools(self) -> None:
        table, rules = self._view.table, PoolRules.of(self._view.features)
        for pool in table.pools.values():
            state = assess(pool, rules, table.rows)
            reason: Reason = "incomplete-pool" if state.state is PoolState.INCOMPLETE else "invalid-pool"
            if state.state in (PoolState.INCOMPLETE, PoolState.INVALID):
                rows = np.zeros_like(self.left)
                rows[pool.rows()] = True
                self._drop(reason, f"{pool.id}{': ' if state.reason else ''}{state.reason}", rows)
            elif state.state is PoolState.VARIES:
                self._drop_duplicates(pool)

    def _drop_duplicates(self, pool: PoolRecord) -> None:
        """Drop what is seen by the nodes for which the pool publishes a name twice."""
        homes = self._view.table.rows.homes
        for name, twins in self._view.table.twins(pool).items():
            seen, counts = np.unique(homes[list(twins)], return_counts=True)
            rows = np.zeros_like(self.left)
            rows[pool.rows()] = np.isin(homes[pool.rows()], seen[counts > 1])
            self._drop("invalid-pool", f"{pool.id}: duplicate device name {name}", rows)

    def _drop_traits(self, reason: Reason, why: Callable[[Traits], Iterator[str]]) -> None:
        traits_ids = self._view.table.rows.traits_ids
        for traits_id in np.unique(traits_ids[self.left]).tolist():
            for detail in why(self._view.table.rows.traits[traits_id]):
                self._drop(reason, detail, traits_ids == traits_id)

    def _unsupported(self, traits: Traits) -> Iterator[str]:
        features = self._view.features
        if traits.unsupported is not None:
            yield traits.unsupported
        if traits.binding_conditions and not features.binding_conditions:
            yield "has binding conditions, but the DRADeviceBindingConditions feature is disabled"
        if traits.consumes_counters and not features.partitionable_devices:
            yield "consumes counters, but the DRAPartitionableDevices feature is disabled"

    def _drop_selected(self, masks: SelectorMasks, reason: Reason, detail: str) -> None:
        matches, failed = masks.match.copy(), masks.failing.copy()
        undecided: BoolArray = self.left & masks.open & ~failed
        cost = 0
        for row in np.flatnonzero(undecided)[:_MAX_EVALUATIONS].tolist():
            if cost > _MAX_COST:
                break
            undecided[row] = False
            try:
                matches[row], spent = masks.evaluate(row)
                cost += spent
            except CelError:
                failed[row] = True
                cost += _COST_OF_FAILURE
        self._drop("selector-error", detail, failed)
        self._drop("not-evaluated", detail, undecided)
        self._drop(reason, detail, ~matches)

    def _drop_taints(self) -> None:
        if not self._view.features.device_taints:
            return
        tolerations = self._request.spec.tolerations

        def why(traits: Traits) -> Iterator[str]:
            yield from (one.key for one in blocking_taints(traits.taints) if not is_tolerated(one, tolerations))

        self._drop_traits("tainted", why)
        for taint, marked in TaintRules.of(self._view.table, self._masks).marked():
            if not is_tolerated(taint, tolerations):
                self._drop("tainted", taint.key, marked)

    def _in_use(self) -> BoolArray:
        view = self._view
        states = view.occupancy.states().copy()
        for device in view.overlay.devices:
            for row in view.table.rows_of(device):
                states[row] = usage(view.holders(device))
        shared = np.flatnonzero(states == SHARED)
        used: BoolArray = states != FREE
        if view.features.consumable_capacity:
            used[[row for row in shared.tolist() if view.table.rows.traits_of(row).allow_multiple_allocations]] = False
        return used


def visible_rows(view: View, nodes: BoolArray) -> BoolArray:
    """Return the rows of the pools' newest generations that one of the nodes (a mask over ids) sees."""
    table, rules = view.table, PoolRules.of(view.features)
    homes = table.rows.homes
    in_scope = np.zeros(len(homes), np.bool_)
    local = homes >= 0
    in_scope[local] = nodes[homes[local]]
    for number in range(len(table.scopes)):
        if (table.scopes.mask(number, len(nodes)) & nodes).any():
            in_scope |= homes == -2 - number
    current = np.zeros(len(homes), np.bool_)
    for pool in table.pools.values():
        for record in pool.newest_slices():
            if is_seen(record, rules) and not is_counter_slice(record, rules):
                current[record.rows] = True
    return in_scope & current
