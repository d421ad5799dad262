"""Contract 4, the view: table and ledger as they are, seen through cheap overlays ("as if these claims held nothing").

Making a view is O(1), an overlay is O(devices in it). A view never writes. It shows the table and the ledger of
the moment in which it is read; a decision notes in its stamp what it read, and `unchanged` tells whether that
still holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from dra_allocator.budget import Budget
from dra_allocator.counter_room import CounterRoom
from dra_allocator.device import DeviceID
from dra_allocator.features import Features
from dra_allocator.ledger import Holder, Ledger, holders_in
from dra_allocator.occupancy import Occupancy
from dra_allocator.outcome import ClaimAllocation, Stamp
from dra_allocator.pools import PoolRules
from dra_allocator.ranks import NodeLayout, Ranks
from dra_allocator.records import PoolID
from dra_allocator.table import Table
from dra_allocator.usability import Usability

Cache = TypeVar("Cache", Occupancy, Usability, Ranks, CounterRoom, "Followers")
_KEPT_PER_TABLE = 16


@dataclass(frozen=True, slots=True)
class Overlay:
    """What differs from the ledger: claims that hold nothing, and holders that are added. `devices` are concerned."""

    without: frozenset[str] = frozenset()
    added: Mapping[DeviceID, tuple[Holder, ...]] = field(default_factory=dict)
    devices: frozenset[DeviceID] = frozenset()


_NO_OVERLAY = Overlay()


class Followers:
    """What is kept up to date with a table and a ledger under some features; told apart by identity."""

    __slots__ = ("occupancy", "ranks", "room", "usability")

    def __init__(self, table: Table, ledger: Ledger, features: Features) -> None:
        rules = PoolRules.of(features)
        self.occupancy = _derived(table, Occupancy, ledger, lambda: Occupancy(table, ledger))
        self.usability = _derived(table, Usability, rules, lambda: Usability(table, rules))
        self.ranks = _derived(table, Ranks, rules, lambda: Ranks(table, rules))
        kept = rules, features.consumable_capacity, ledger
        self.room = _derived(table, CounterRoom, kept, lambda: CounterRoom(table, ledger, self.occupancy, features))


class View:
    """A read-only window on devices, holders and features."""

    __slots__ = ("features", "followers", "ledger", "occupancy", "overlay", "room", "table", "usability")

    def __init__(self, table: Table, ledger: Ledger, features: Features, overlay: Overlay | None = None) -> None:
        self.table = table
        self.ledger = ledger
        self.features = features
        self.overlay = overlay or _NO_OVERLAY
        self.followers = _derived(table, Followers, (ledger, features), lambda: Followers(table, ledger, features))
        self.occupancy = self.followers.occupancy
        self.usability = self.followers.usability
        self.room = self.followers.room

    def without(self, claim_uids: Iterable[str]) -> View:
        """Return a view in which these claims hold nothing."""
        uids = frozenset(claim_uids)
        devices = frozenset(device for uid in uids for device in self.ledger.devices_of(uid))
        added = {
            device: tuple(holder for holder in holders if holder.claim_uid not in uids)
            for device, holders in self.overlay.added.items()
        }
        overlay = Overlay(self.overlay.without | uids, added, self.overlay.devices | devices)
        return View(self.table, self.ledger, self.features, overlay)

    def plus(self, allocations: Iterable[ClaimAllocation]) -> View:
        """Return a view in which these claims are allocated too."""
        added = dict(self.overlay.added)
        for allocation in allocations:
            for device in dict.fromkeys(entry.device for entry in allocation.result.devices):
                holders = holders_in(allocation.claim_uid, device, None, allocation.result)
                added[device] = (*added.get(device, ()), *holders)
        overlay = Overlay(self.overlay.without, added, self.overlay.devices | added.keys())
        return View(self.table, self.ledger, self.features, overlay)

    def holders(self, device: DeviceID) -> tuple[Holder, ...]:
        """Return who holds a device in this view."""
        holders = self.ledger.holders_of(device)
        if device not in self.overlay.devices:
            return holders
        kept = tuple(holder for holder in holders if holder.claim_uid not in self.overlay.without)
        return kept + self.overlay.added.get(device, ())

    def layout(self, node_id: int) -> NodeLayout:
        """Return what a known node sees, in the documented search order."""
        return self.followers.ranks.layout(node_id)

    def prepare(self, budget: Budget) -> bool:
        """Bring what is derived from table and ledger up to date; return False if the budget ended it before.

        Decisions do it themselves. Whoever loads a large table may call it now and then to spread the work.
        """
        return self.usability.prepare(budget) and self.occupancy.prepare(budget) and self.room.prepare(budget)

    def stamp(self, layout: NodeLayout, classes: Iterable[str]) -> Stamp:
        """Return the versions of what a decision for this node reads."""
        versions: dict[object, int] = {
            ("node", layout.node): layout.node_version,
            ("shared", ""): layout.shared_version,
        }
        for pool, version in layout.watched:
            versions["pool", pool.id] = version
            versions["held", pool.id] = self.ledger.pool_version(pool.id)
        for name in classes:
            versions["class", name] = self._class_version(name)
        if self.features.device_taints:
            versions["taints", ""] = self.table.taint_version
        return Stamp(versions)

    def stamp_of_node(self, node_id: int) -> Stamp:
        """Return the version of a known node alone: for decisions that need no device."""
        name = self.table.node_name(node_id)
        return Stamp({("node", name): self.table.node_version(name)})

    def unchanged(self, stamp: Stamp) -> bool:
        """Return whether all that the decision read is as it was."""
        return all(self._version(key) == version for key, version in stamp.versions.items())

    def table_unchanged(self, stamp: Stamp) -> bool:
        """Return whether what the decision read of the table is as it was, whoever holds devices now."""
        return all(
            self._version(key) == version
            for key, version in stamp.versions.items()
            if not (isinstance(key, tuple) and key[0] == "held")
        )

    def _version(self, key: object) -> int:
        match key:
            case ("node", str(name)):
                return self.table.node_version(name)
            case ("shared", _):
                return self.table.shared_version
            case ("taints", _):
                return self.table.taint_version
            case ("class", str(name)):
                return self._class_version(name)
            case ("pool", PoolID() as pool_id):
                pool = self.table.pools.get(pool_id)
                return 0 if pool is None else pool.version
            case ("held", PoolID() as pool_id):
                return self.ledger.pool_version(pool_id)
        raise KeyError(key)

    def _class_version(self, name: str) -> int:
        entry = self.table.classes.get(name)
        return 0 if entry is None else entry[1]


def _derived(table: Table, kind: type[Cache], key: object, make: Callable[[], Cache]) -> Cache:
    """Return the table's cache of a kind; with too many the oldest goes, since all can be made again."""
    found = table.derived.get((kind, key))
    if isinstance(found, kind):
        return found
    if len(table.derived) >= _KEPT_PER_TABLE:
        del table.derived[next(iter(table.derived))]
    made = table.derived[kind, key] = make()
    return made
