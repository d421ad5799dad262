"""One node as a search problem: its devices by position, and each request's candidates among them.

Position p is the p-th device of the node in the documented search order. What the search needs of the table is
copied here, so that a search that pauses is not confused by changes; only the late evaluation of a selector reads
the table again, and refuses with StaleRowsError if it has changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from dra_allocator.arrays import BoolArray, ByteArray
from dra_allocator.candidates import NO, OPEN, YES, Candidates
from dra_allocator.capacity import CapacityError, consumption, fits
from dra_allocator.claim import DerivedAttribute
from dra_allocator.device import DeviceCapacity, DeviceID, DeviceTaint
from dra_allocator.errors import AttemptFailedError, StaleRowsError
from dra_allocator.ledger import Holder
from dra_allocator.masks import MaskStore, SelectorMasks
from dra_allocator.matching import Demand
from dra_allocator.node import Node
from dra_allocator.occupancy import FREE, SHARED, WHOLE, usage
from dra_allocator.outcome import AllocationError, Stamp
from dra_allocator.pools import PoolOnNode, PoolState
from dra_allocator.ranks import NodeLayout
from dra_allocator.requests import ResolvedClaim, ResolvedRequest, check_limit
from dra_allocator.selection import ClaimSelector
from dra_allocator.taint_rules import TaintRules
from dra_allocator.view import View
from dra_cel.device import AttributeValue
from dra_cel.errors import CelError, CompileError
from dra_cel.quantity import Quantity


class NodeProblem:
    """The devices of one node and the requests' candidates.

    Attributes:
        layout: what the node sees.
        traits: per position.
        held: FREE, WHOLE or SHARED per position, in the view's eyes.
        claims: per claim, per request, per alternative its candidates.

    Raises:
        AttemptFailedError: from the constructor, if mode All meets an unusable pool, an error or too many devices.

    """

    def __init__(
        self,
        view: View,
        masks: MaskStore,
        layout: NodeLayout,
        claims: Sequence[ResolvedClaim],
        stamp: Stamp | None = None,
    ) -> None:
        self.view = view
        self.layout = layout
        self._masks = masks
        self._version = view.table.version
        self._stamp = stamp
        self._rows: list[int] = layout.rows.tolist()
        self.traits = layout.traits
        rules = TaintRules.of(view.table, masks).marked() if view.table.taint_rules else ()
        self._ruled_taints = [(taint, marked[layout.rows]) for taint, marked in rules]
        self._capacities: dict[int, dict[str, DeviceCapacity]] = {}
        self.held = self._held_states()
        self._base = self._selectable_at_all()
        self.claims = tuple(self._claim(claim) for claim in claims)

    def __len__(self) -> int:
        """Return the number of devices that the node sees."""
        return len(self._rows)

    def row(self, position: int) -> int:
        """Return the table's row of a position."""
        return self._rows[position]

    def device(self, position: int) -> DeviceID:
        """Return the DeviceID of a position."""
        self.check_current()
        return self.view.table.rows.device_id(self._rows[position])

    def pool(self, position: int) -> PoolOnNode:
        """Return the pool of a position."""
        return self.layout.pool_of(position)

    @property
    def node(self) -> Node:
        """The node."""
        node = self.view.table.nodes[self.layout.node_id]
        if node is None:
            raise StaleRowsError
        return node

    def skips_node_operations(self, position: int) -> tuple[str, ...]:
        """Return `skipNodeOperations` of the device's slice."""
        return self.layout.records[position].skip_node_operations

    def taints(self, position: int) -> tuple[DeviceTaint, ...]:
        """Return the device's taints, those of DeviceTaintRules included."""
        ruled = tuple(taint for taint, marked in self._ruled_taints if marked[position])
        return self.traits[position].taints + ruled

    def holders(self, position: int) -> tuple[Holder, ...]:
        """Return who holds the device, in the view's eyes."""
        return self.view.holders(self.device(position))

    def capacities(self, position: int) -> dict[str, DeviceCapacity]:
        """Return the device's capacities by the slice's spelling of their names."""
        known = self._capacities.get(position)
        if known is None:
            self.check_current()
            known = self._capacities[position] = self.view.table.rows.capacities(self._rows[position])
        return known

    def derive(self, request: ResolvedRequest, attribute: DerivedAttribute, position: int) -> AttributeValue:
        """Return the value of a derived attribute on a device.

        Raises:
            AttemptFailedError: the expression does not compile, or fails on the device.

        """
        self.check_current()
        compiled = self._masks.derived(attribute.expression)
        if isinstance(compiled, CompileError):
            cause = f"compile derived attribute {attribute.name} failed: {compiled}"
            raise request.failure("derived-attribute", cause) from compiled
        unreadable = self.traits[position].unreadable
        if unreadable is not None:  # whatever the expression reads
            raise self._derivation_failure(request, attribute, position, unreadable)
        try:
            value = compiled.value(self.view.table.rows.columns.fields(self._rows[position]))
            self.check_current()
        except CelError as error:
            self.check_current()
            raise self._derivation_failure(request, attribute, position, str(error)) from error
        return value

    def _derivation_failure(
        self, request: ResolvedRequest, attribute: DerivedAttribute, position: int, reason: str
    ) -> AttemptFailedError:
        cause = f"evaluate derived attribute {attribute.name} on device {self.device(position)} failed: {reason}"
        return request.failure("derived-attribute", cause, node=True)

    def consumption(self, request: ResolvedRequest, position: int) -> dict[str, Quantity] | None:
        """Return what a request consumes of a device's capacities, None if the device cannot serve it at all.

        Raises:
            AttemptFailedError: an amount is negative or cannot be represented.

        """
        fractional = self.view.features.fractional_capacity_range
        try:
            return consumption(request.spec.capacity, self.capacities(position), fractional)
        except CapacityError as error:
            cause = AllocationError(
                scope="node",
                kind="capacity",
                cause=f"checking capacity: {error}",
                claim=request.claim_name,
                request=request.spec.name,
                device=self.device(position),
            )
            raise AttemptFailedError(cause) from error

    def is_shareable(self, position: int) -> bool:
        """Return whether the device may be allocated more than once (KEP-5075)."""
        return self.view.features.consumable_capacity and self.traits[position].allow_multiple_allocations

    def demand(self, wanted: int, positions: Iterable[int]) -> Demand:
        """Return how many of these devices are taken that cannot be shared, at least, and which those are."""
        known = sorted(positions)
        alone = [position for position in known if not self.is_shareable(position)]
        return max(0, wanted - (len(known) - len(alone))), alone

    def check_current(self) -> None:
        """Raise StaleRowsError if what the problem reads of the table is not as it was.

        With a stamp only its parts count; changes elsewhere in the table are no reason to begin anew.
        """
        version = self.view.table.version
        if version == self._version:
            return
        if self._stamp is None or not self.view.table_unchanged(self._stamp):
            raise StaleRowsError
        self._version = version

    def resolve(self, request: ResolvedRequest, position: int) -> bool:
        """Evaluate the selectors of an OPEN position, in order: the first that is false ends it.

        Raises:
            AttemptFailedError: a selector does not compile, or fails on the device.

        """
        self.check_current()
        row = self._rows[position]
        for selector in request.selectors:
            unreadable = self.traits[position].unreadable
            if unreadable is not None:
                raise self._selector_failure(request, selector, position, unreadable)
            masks = self._settled(selector.text)
            if masks.open[row]:
                try:
                    matches = masks.resolve(row)
                except CelError as error:
                    self.check_current()
                    raise self._selector_failure(request, selector, position, error) from error
                self.check_current()
            else:
                matches = bool(masks.match[row])
            if not matches:
                return False
        return True

    def _settled(self, text: str) -> SelectorMasks:
        """Return the masks of a selector; the table may have changed while they were made."""
        masks = self._masks.settled(self.view.table, text)
        self.check_current()
        return masks

    def _held_states(self) -> list[int]:
        states: list[int] = self.view.occupancy.states()[self.layout.where].tolist()
        for device in self.view.overlay.devices:
            for row in self.view.table.rows_of(device):
                if row in self._rows:
                    states[self._rows.index(row)] = usage(self.view.holders(device))
        return states

    def _selectable_at_all(self) -> BoolArray | None:
        """Return per position whether selectors are asked at all; None: for each."""
        if self.layout.is_ordinary:
            return None
        binding = self.view.features.binding_conditions
        return np.array(
            [one.unsupported is None and (binding or not one.binding_conditions) for one in self.traits], np.bool_
        )

    def _claim(self, claim: ResolvedClaim) -> tuple[tuple[Candidates, ...], ...]:
        total = 0
        requests = []
        depends = False
        for alternatives in claim.requests:
            candidates = tuple(self._candidates(request) for request in alternatives)
            depends = depends or any(one.is_all for one in candidates)
            if depends:
                total += self._check_limit(alternatives, candidates, total)
            else:
                total += min(one.wanted for one in candidates)
            requests.append(candidates)
        return tuple(requests)

    def _check_limit(
        self, alternatives: tuple[ResolvedRequest, ...], candidates: tuple[Candidates, ...], total: int
    ) -> int:
        try:
            return check_limit(alternatives, [one.wanted for one in candidates], total)
        except AttemptFailedError as failure:
            raise AttemptFailedError(replace(failure.error, scope="node")) from failure

    def _candidates(self, request: ResolvedRequest) -> Candidates:
        status = self._status(request)
        if request.is_all:
            positions = self._all_positions(request, status)
            return Candidates(request, status, positions, len(positions))
        positions = [position for position, one in enumerate(status) if one]
        if not request.spec.admin_access:
            held = self.held
            positions = [one for one in positions if held[one] == FREE or not self.is_blocked(one)]
        return Candidates(request, status, positions, request.spec.count)

    def is_blocked(self, position: int) -> bool:
        """Return whether other claims' holds keep a request without admin access from the device."""
        held = self.held[position]
        return held != FREE and (held == WHOLE or (held == SHARED and not self.is_shareable(position)))

    def _status(self, request: ResolvedRequest) -> list[int]:
        rows = self.layout.where
        alive = self._base
        undecided: BoolArray | None = None
        if alive is not None and request.selectors:
            unreadable = np.array([one.unreadable is not None for one in self.traits], np.bool_)
            undecided, alive = alive & unreadable, alive & ~unreadable
        for selector in request.selectors:
            masks = self._settled(selector.text)
            if masks.any_open:
                unsure = masks.open[rows] if alive is None else alive & masks.open[rows]
                undecided = unsure if undecided is None else undecided | unsure
            alive = masks.match[rows] if alive is None else alive & masks.match[rows]
        if alive is None:
            return [YES] * len(self)
        status: ByteArray = alive.view(np.uint8)
        if undecided is not None and undecided.any():
            status = np.where(undecided, np.uint8(OPEN), status)
        found: list[int] = status.tolist()
        return found

    def _all_positions(self, request: ResolvedRequest, status: list[int]) -> list[int]:
        """Return every selected device: mode All is settled before anything is picked."""
        unusable = self.layout.first_unusable()
        if unusable is not None:
            invalid = unusable.state is PoolState.INVALID
            what = f"invalid: {unusable.reason}" if invalid else "being updated"
            cause = f"asks for all devices, but resource pool {unusable.record.id} is currently {what}"
            raise request.failure("invalid-pool" if invalid else "incomplete-pool", cause, node=True)
        for position in [position for position, one in enumerate(status) if one == OPEN]:
            status[position] = YES if self.resolve(request, position) else NO
        positions = [position for position, one in enumerate(status) if one]
        if not self.view.features.consumable_capacity:
            return positions
        return [position for position in positions if self._can_serve(request, position)]

    def _can_serve(self, request: ResolvedRequest, position: int) -> bool:
        """Return whether the device could serve the request if nobody held it: only then it belongs to all devices."""
        amounts = self.consumption(request, position)
        return amounts is not None and fits(amounts, {}, self.capacities(position))

    def _selector_failure(
        self, request: ResolvedRequest, selector: ClaimSelector, position: int, cause: CelError | str
    ) -> AttemptFailedError:
        compiling = isinstance(cause, CompileError)
        text = f"selector #{selector.index}: CEL {'compile' if compiling else 'runtime'} error: {cause}"
        error = AllocationError(
            scope="pod" if compiling else "node",
            kind="selector-compile" if compiling else "selector-runtime",
            cause=text,
            claim=request.claim_name,
            request=request.spec.name,
            device=None if compiling else self.device(position),
            device_class=request.device_class.name if selector.of_class else "",
        )
        return AttemptFailedError(error)
