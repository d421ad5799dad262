"""Contract 3, the device table: what drivers publish and what nodes exist, as columns with stable row ids.

A device has a row for as long as its slice has a device of this name. Rows of older generations stay until their
slices go, but nobody sees them. A change in one pool touches only that pool's rows and the nodes that see it:
the table notes it in a journal, and whatever is derived (masks, counts, per-node order) catches up when it is
next asked. Versions never repeat, so equal versions mean an unchanged thing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from dra_allocator.arrays import IntArray
from dra_allocator.claim import DeviceClass
from dra_allocator.device import Device, DeviceID, DeviceTaintRule, NodeScope, ResourceSlice
from dra_allocator.journal import Journal
from dra_allocator.node import Node
from dra_allocator.records import PoolID, PoolRecord, SliceRecord
from dra_allocator.rows import Rows
from dra_allocator.visibility import NOWHERE, Nodes, Scopes, home_of_scope

_NO_ROWS: IntArray = np.empty(0, np.int32)


class Table:
    """All devices, nodes, DeviceClasses and DeviceTaintRules. Written by whoever watches, read by views.

    `version` changes with everything, `shared_version` when a shared scope gains or loses a slice,
    `taint_version` with the DeviceTaintRules. `classes` has each DeviceClass with its version. `derived` is where
    caches that follow this table live, by a key of their own.
    """

    def __init__(self) -> None:
        self.rows = Rows()
        self.nodes = Nodes()
        self.scopes = Scopes(self.nodes)
        self.pools: dict[PoolID, PoolRecord] = {}
        self.classes: dict[str, tuple[DeviceClass, int]] = {}
        self.taint_rules: dict[str, DeviceTaintRule] = {}
        self.journal: Journal[PoolRecord | IntArray] = Journal()
        self.derived: dict[object, object] = {}
        self.version = 0
        self.shared_version = 0
        self.taint_version = 0
        self._slices: dict[str, SliceRecord] = {}
        self._slices_by_node: dict[str, dict[str, SliceRecord]] = {}
        self._slices_by_scope: dict[int, dict[str, SliceRecord]] = {}
        self._node_versions: dict[str, int] = {}

    # Writing.

    def apply_slice(self, resource_slice: ResourceSlice) -> None:
        """Add a slice, or replace the one of this name."""
        pool_id = PoolID(resource_slice.driver, resource_slice.pool)
        old = self._slices.get(resource_slice.name)
        if old is not None and old.pool_id != pool_id:
            self.remove_slice(resource_slice.name)
            old = None
        rows, freed = self.rows.assign(resource_slice.devices, _NO_ROWS if old is None else old.rows)
        if len(freed):
            self.journal.add(freed)
        record = _record(resource_slice, pool_id, rows)
        for row, device in zip(rows.tolist(), resource_slice.devices, strict=True):
            self.rows.write(row, device, record)
        self._slices[record.name] = record
        self._enter_scopes(record, old)
        pool = self.pools.get(pool_id)
        if pool is None:
            pool = self.pools[pool_id] = PoolRecord(pool_id)
        pool.slices[record.name] = record
        self._pool_changed(pool)

    def remove_slice(self, name: str) -> None:
        """Remove a slice with its devices, if it is there."""
        record = self._slices.pop(name, None)
        if record is None:
            return
        self._leave_scopes(record)
        self.rows.free(record.rows)
        self.journal.add(record.rows)
        pool = self.pools[record.pool_id]
        del pool.slices[name]
        self._pool_changed(pool)
        if not pool.slices:
            del self.pools[record.pool_id]

    def apply_node(self, node: Node) -> None:
        """Add a node, or replace the one of this name."""
        known = self.nodes.id(node.name)
        if known is not None and self.nodes[known] == node:
            return
        node_id = self.nodes.put(node)
        self._node_versions[node.name] = self._tick()
        self.scopes.update_node(node_id, node)
        if known is None:
            self._move_local_rows(node.name, node_id)

    def remove_node(self, name: str) -> None:
        """Remove a node, if it is there. Its slices stay, seen by nobody."""
        node_id = self.nodes.remove(name)
        if node_id is None:
            return
        self._tick()
        self._node_versions.pop(name, None)
        self.scopes.update_node(node_id, None)
        self._move_local_rows(name, NOWHERE)

    def apply_class(self, device_class: DeviceClass) -> None:
        """Add or replace a DeviceClass."""
        self.classes[device_class.name] = device_class, self._tick()
        self._class_changed(device_class.name)

    def remove_class(self, name: str) -> None:
        """Remove a DeviceClass, if it is there."""
        if self.classes.pop(name, None) is not None:
            self._tick()
            self._class_changed(name)

    def apply_taint_rule(self, rule: DeviceTaintRule) -> None:
        """Add or replace a DeviceTaintRule."""
        self.taint_rules[rule.name] = rule
        self.taint_version = self._tick()

    def remove_taint_rule(self, name: str) -> None:
        """Remove a DeviceTaintRule, if it is there."""
        if self.taint_rules.pop(name, None) is not None:
            self.taint_version = self._tick()

    # Reading.

    def node_id(self, name: str) -> int | None:
        """Return the id of a known node; ids of removed nodes are used again."""
        return self.nodes.id(name)

    def node_name(self, node_id: int) -> str:
        """Return the name of a node by id; KeyError if the id is not in use."""
        node = self.nodes[node_id]
        if node is None:
            raise KeyError(node_id)
        return node.name

    def node_version(self, name: str) -> int:
        """Return the version of a node and of the set of slices that name it; 0: the node is not known."""
        return self._node_versions.get(name, 0)

    def slices_of_node(self, name: str) -> list[SliceRecord]:
        """Return the slices with a scope or a device that names this node."""
        return list(self._slices_by_node.get(name, {}).values())

    def slices_of_scope(self, number: int) -> list[SliceRecord]:
        """Return the slices with this shared scope, or with a device that has it."""
        return list(self._slices_by_scope.get(number, {}).values())

    def rows_of(self, device: DeviceID) -> tuple[int, ...]:
        """Return the rows of a device of its pool's newest generation, by slice name; who holds it, holds them all.

        That is one row or none, unless slices for different nodes publish the same name.
        """
        pool = self.pools.get(PoolID(device.driver, device.pool))
        if pool is None:
            return ()
        names = self._names(pool) if pool.names is None else pool.names
        row = names.get(device.device)
        if row is None:
            return ()
        return pool.twins.get(device.device) or (row,)

    def twins(self, pool: PoolRecord) -> Mapping[str, tuple[int, ...]]:
        """Return the names that the pool's newest generation publishes more than once, with their rows."""
        if pool.names is None:
            self._names(pool)
        return pool.twins

    def device(self, device: DeviceID) -> Device | None:
        """Return a device of its pool's newest generation, the first one of this name."""
        rows = self.rows_of(device)
        return self.rows.device(rows[0]) if rows else None

    def devices(self) -> Iterator[tuple[DeviceID, Device, NodeScope | None]]:
        """Yield every device of each pool's newest generation with the scope in which it is seen."""
        for pool_id in sorted(self.pools):
            for record in self.pools[pool_id].newest_slices():
                for row in record.rows.tolist():
                    device = self.rows.device(row)
                    yield self.rows.device_id(row), device, device.scope if record.per_device else record.scope

    def rows_since(self, position: int) -> IntArray | None:
        """Return the rows that changed since a position of the journal, or None: too many to know."""
        entries = self.journal.since(position)
        if entries is None:
            return None
        pools = {id(entry): entry for entry in entries if isinstance(entry, PoolRecord)}
        parts = [pool.rows() for pool in pools.values()]
        parts += [entry for entry in entries if not isinstance(entry, PoolRecord)]
        if not parts:
            return _NO_ROWS
        return np.unique(np.concatenate(parts)) if len(parts) > 1 else parts[0]

    # Inside.

    def _tick(self) -> int:
        self.version += 1
        return self.version

    def _names(self, pool: PoolRecord) -> dict[str, int]:
        """Note the rows of the pool's device names."""
        names = pool.names = {}
        pool.twins = {}
        for record in pool.newest_slices():
            for row in record.rows.tolist():
                name = self.rows.name(row)
                first = names.setdefault(name, row)
                if first != row:
                    pool.twins[name] = (*pool.twins.get(name, (first,)), row)
        return names

    def _pool_changed(self, pool: PoolRecord) -> None:
        pool.changed(self._tick())
        self.journal.add(pool)

    def _class_changed(self, name: str) -> None:
        if any(rule.device_class == name for rule in self.taint_rules.values()):
            self.taint_version = self._tick()

    def _move_local_rows(self, node_name: str, home: int) -> None:
        """Set the home of all rows that name a node which has come or gone."""
        for record in self._slices_by_node.get(node_name, {}).values():
            rows = record.rows
            if record.per_device:
                local = [row for row in rows.tolist() if _node_name(self.rows.traits_of(row).scope) == node_name]
                rows = np.array(local, np.int32)
            self.rows.homes[rows] = home
            self._pool_changed(self.pools[record.pool_id])

    def _enter_scopes(self, record: SliceRecord, old: SliceRecord | None) -> None:
        names: set[str] = set()
        numbers: set[int] = set()
        if record.per_device:
            for row in record.rows.tolist():
                self.rows.homes[row] = self._enter_scope(self.rows.traits_of(row).scope, names, numbers)
        else:
            self.rows.homes[record.rows] = self._enter_scope(record.scope, names, numbers)
        record.node_names, record.scope_ids = frozenset(names), frozenset(numbers)
        for name in names:
            self._slices_by_node.setdefault(name, {})[record.name] = record
        for number in numbers:
            self._slices_by_scope.setdefault(number, {})[record.name] = record
        self._touch_nodes(record.node_names - (old.node_names if old else frozenset()))
        if record.scope_ids != (old.scope_ids if old else frozenset()):
            self.shared_version = self._tick()
        if old is not None:
            self._leave_scopes(old, record)

    def _enter_scope(self, scope: NodeScope | None, names: set[str], numbers: set[int]) -> int:
        """Note where a scope leads to, once per slice, and return the home of its rows."""
        name = _node_name(scope)
        if name is not None:
            names.add(name)
            node_id = self.nodes.id(name)
            return NOWHERE if node_id is None else node_id
        if scope is None or scope.invalid is not None or not (scope.all_nodes or scope.selector is not None):
            return NOWHERE
        number = self.scopes.acquire(scope)
        if number in numbers:
            self.scopes.release(number)
        numbers.add(number)
        return home_of_scope(number)

    def _leave_scopes(self, record: SliceRecord, successor: SliceRecord | None = None) -> None:
        """Take a slice that goes, or is replaced, out of its scopes, except those where its successor is."""
        lost = record.node_names - (successor.node_names if successor else frozenset())
        for name in lost:
            remaining = self._slices_by_node[name]
            del remaining[record.name]
            if not remaining:
                del self._slices_by_node[name]
        self._touch_nodes(lost)
        for number in record.scope_ids:
            self.scopes.release(number)
            if successor is None or number not in successor.scope_ids:
                del self._slices_by_scope[number][record.name]
                self.shared_version = self._tick()

    def _touch_nodes(self, names: frozenset[str]) -> None:
        for name in names:
            if name in self._node_versions:
                self._node_versions[name] = self._tick()


def _node_name(scope: NodeScope | None) -> str | None:
    return None if scope is None or scope.invalid is not None else scope.node_name


def _record(resource_slice: ResourceSlice, pool_id: PoolID, rows: IntArray) -> SliceRecord:
    devices = resource_slice.devices
    return SliceRecord(
        name=resource_slice.name,
        resource_version=resource_slice.resource_version,
        pool_id=pool_id,
        generation=resource_slice.generation,
        slice_count=resource_slice.slice_count,
        scope=resource_slice.scope,
        per_device=resource_slice.per_device_node_selection,
        shared_counters=resource_slice.shared_counters,
        skip_node_operations=resource_slice.skip_node_operations,
        unsupported=resource_slice.unsupported,
        rows=rows,
        uses_groups=any(entry.compatibility_groups for device in devices for entry in device.consumes_counters),
        has_binding_conditions=any(device.binding_conditions for device in devices),
    )
