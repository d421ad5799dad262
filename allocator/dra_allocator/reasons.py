"""Why devices fall out of a request, one reason per device: the first in the order in which they are asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from dra_allocator.arrays import BoolArray
from dra_allocator.capacity_left import CapacityLeft
from dra_allocator.conditions import Conditions
from dra_allocator.effort import Effort
from dra_allocator.facts import Fact, TaintFact
from dra_allocator.masks import MaskStore, SelectorMasks
from dra_allocator.occupancy import FREE, SHARED, usage
from dra_allocator.pool_health import Fallen, PoolHealth
from dra_allocator.rejection import Reason
from dra_allocator.requests import ResolvedRequest
from dra_allocator.rules.fitness import blocking_taints, is_tolerated
from dra_allocator.selection import ClaimSelector
from dra_allocator.sight import Sight
from dra_allocator.sums import Longs
from dra_allocator.taint_rules import TaintRules
from dra_allocator.traits import Traits
from dra_allocator.view import View
from dra_cel.errors import CelError

_COST_OF_FAILURE = 100


class Sieve:
    """Takes the rows out of a request reason by reason.

    Attributes:
        left: rows that have not fallen out.
        fallen: those that have, by reason.
        of_class: rows that the class's selectors let pass.
        visible: rows that the asked nodes see.
        available: how many of `left` each node sees; see `count`.
        wanted: devices, on one node; see `count`.

    """

    def __init__(
        self, view: View, masks: MaskStore, request: ResolvedRequest, health: PoolHealth, effort: Effort
    ) -> None:
        self._view = view
        self._masks = masks
        self._request = request
        self._health = health
        self._effort = effort
        self.left: BoolArray = health.visible.copy()
        self.visible = health.visible
        self.of_class: BoolArray = self.left
        self.available: Longs = np.zeros(0, np.int64)
        self.wanted = request.spec.count
        self.fallen: list[Fallen] = []

    def run(self) -> Iterator[None]:
        """Apply all reasons in order; yields between pieces of work of about a millisecond."""
        for pools in self._health.fallen:
            self._drop(pools.reason, pools.detail, pools.rows, pools.facts)
        self._drop_traits("unsupported-device", self._unsupported)
        class_selectors = [one for one in self._request.selectors if one.of_class]
        for selector in class_selectors:
            yield
            self._drop_selected(selector)
        self.of_class = self.left.copy()
        for selector in self._request.selectors[len(class_selectors) :]:
            yield
            self._drop_selected(selector)
        yield
        self._drop_taints()
        if not self._request.spec.admin_access:
            self._drop("in-use", "", self._in_use())
        yield
        short, facts = CapacityLeft(self._view, self._request).short(self.left)
        if short is not None:
            self._drop("capacity", "", short, facts)

    def count(self, sight: Sight) -> None:
        """Count what is left on each node.

        In mode All every selected device is wanted, held or not, as many as the node with most of them has.
        """
        self.available = sight.per_node(self.left)
        if self._request.is_all:
            rows = self.left.copy()
            for fallen in self.fallen:
                if fallen.reason in ("in-use", "tainted"):
                    rows |= fallen.rows
            most: int = (sight.per_node(rows) * sight.asked).max(initial=0)
            self.wanted = max(1, int(most))

    def _drop(self, reason: Reason, detail: str, rows: BoolArray, facts: tuple[Fact, ...] = ()) -> BoolArray | None:
        """Take rows out; returns those that had been left, None if there were none."""
        hit = self.left & rows
        if not hit.any():
            return None
        self.left &= ~rows
        for index, known in enumerate(self.fallen):
            if (known.reason, known.detail) == (reason, detail):
                merged = tuple(dict.fromkeys((*known.facts, *facts)))
                self.fallen[index] = Fallen(reason, detail, known.rows | hit, merged)
                return hit
        self.fallen.append(Fallen(reason, detail, hit, facts))
        return hit

    def _drop_traits(self, reason: Reason, why: Callable[[Traits], Iterator[tuple[str, Fact | None]]]) -> None:
        traits_ids = self._view.table.rows.traits_ids
        for traits_id in np.flatnonzero(np.bincount(traits_ids[self.left])).tolist():
            for detail, fact in why(self._view.table.rows.traits[traits_id]):
                self._drop(reason, detail, traits_ids == traits_id, () if fact is None else (fact,))

    def _unsupported(self, traits: Traits) -> Iterator[tuple[str, Fact | None]]:
        features = self._view.features
        if traits.unsupported is not None:
            yield traits.unsupported, None
        if traits.binding_conditions and not features.binding_conditions:
            yield "has binding conditions, but the DRADeviceBindingConditions feature is disabled", None
        if traits.consumes_counters and not features.partitionable_devices:
            yield "consumes counters, but the DRAPartitionableDevices feature is disabled", None

    def _drop_selected(self, selector: ClaimSelector) -> None:
        """Take out what the selector is false for, fails on, or has not been evaluated for."""
        if not self.left.any():
            return
        masks = self._masks.get(self._view.table, selector.text)
        matches, failed, undecided = self._evaluated(masks)
        detail = f"selector {selector.index}"
        conditions = Conditions(self._view.table, self._masks, selector.text, self._effort)
        self._drop("not-evaluated", detail, undecided)
        self._drop("selector-error", detail, failed, conditions.unmet(self.left & failed))
        reason: Reason = "class-selector" if selector.of_class else "claim-selector"
        self._drop(reason, detail, ~matches, conditions.unmet(self.left & ~matches))

    def _evaluated(self, masks: SelectorMasks) -> tuple[BoolArray, BoolArray, BoolArray]:
        """Return for which rows the selector is true, fails, and is not known: rows that masks leave open are evaluated
        one by one, as far as the effort allows.
        """
        matches, failed = masks.match.copy(), masks.failing.copy()
        undecided: BoolArray = self.left & masks.open & ~failed
        for row in np.flatnonzero(undecided)[: max(0, self._effort.evaluations)].tolist():
            if not self._effort.may_evaluate():
                break
            undecided[row] = False
            try:
                matches[row], spent = masks.evaluate(row)
                self._effort.evaluated(spent)
            except CelError:
                failed[row] = True
                self._effort.evaluated(_COST_OF_FAILURE)
        return matches, failed, undecided

    def _drop_taints(self) -> None:
        if not self._view.features.device_taints:
            return
        tolerations = self._request.spec.tolerations

        def why(traits: Traits) -> Iterator[tuple[str, Fact | None]]:
            for one in blocking_taints(traits.taints):
                if not is_tolerated(one, tolerations):
                    yield one.key, TaintFact(one.key, one.value, one.effect)

        self._drop_traits("tainted", why)
        for taint, marked in TaintRules.of(self._view.table, self._masks).marked():
            if not is_tolerated(taint, tolerations):
                self._drop("tainted", taint.key, marked, (TaintFact(taint.key, taint.value, taint.effect),))

    def _in_use(self) -> BoolArray:
        view = self._view
        states = view.occupancy.states().copy()
        for device in view.overlay.devices:
            for row in view.table.rows_of(device):
                states[row] = usage(view.holders(device))
        used: BoolArray = states != FREE
        shared: BoolArray = states == SHARED
        if view.features.consumable_capacity and shared.any():
            used &= ~(shared & self._shareable())
        return used

    def _shareable(self) -> BoolArray:
        traits, ids = self._view.table.rows.traits, self._view.table.rows.traits_ids
        shareable = np.array([traits[number].allow_multiple_allocations for number in range(len(traits))], np.bool_)
        return shareable[ids]
