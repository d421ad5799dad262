"""The documented search order of the devices on a node, worked out for the nodes that are asked for.

Order: pools that hold a device with binding conditions last as a whole; then by driver, pool, slice name, and
the device's place in its slice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dra_allocator.arrays import BoolArray, IntArray
from dra_allocator.pools import PoolOnNode, PoolRules, PoolState, is_seen, on_node
from dra_allocator.records import PoolID, PoolRecord, SliceRecord
from dra_allocator.table import Table
from dra_allocator.traits import Traits

_CACHED_NODES = 1 << 15
_NO_ROWS: IntArray = np.empty(0, np.int32)


@dataclass(frozen=True, slots=True)
class NodeLayout:
    """What a node sees, in search order.

    `pools` are all pools of which the node sees something, unusable ones included. `rows` are the rows of the
    devices, `pool_numbers` the index in `pools` of each. `watched` are the pools that the layout depends on, with
    their versions: also those of whose newest generation the node sees nothing. `traits` and `records` (the
    slices) are per row, and `is_ordinary` says that none is unsupported, unreadable or has binding conditions. `where`
    are the rows as an index of arrays: a slice where possible, which is faster. `has_shares` and `has_counters` say
    that some device may be shared or has rules for what is consumed of it, and that some consumes counters.
    """

    node: str
    node_id: int
    pools: tuple[PoolOnNode, ...]
    rows: IntArray
    where: IntArray | slice
    pool_numbers: IntArray
    node_version: int
    shared_version: int
    watched: tuple[tuple[PoolRecord, int], ...]
    traits: tuple[Traits, ...]
    records: tuple[SliceRecord, ...]
    is_ordinary: bool
    has_shares: bool
    has_counters: bool

    def first_unusable(self) -> PoolOnNode | None:
        """Return the first incomplete or invalid pool."""
        return next((pool for pool in self.pools if pool.state is not PoolState.COMPLETE), None)

    def invalid_pools(self) -> list[PoolOnNode]:
        """Return the invalid pools."""
        return [pool for pool in self.pools if pool.state is PoolState.INVALID]

    def pool_of(self, position: int) -> PoolOnNode:
        """Return the pool of the device at a position of `rows`."""
        return self.pools[int(self.pool_numbers[position])]

    def reordered(self, order: Sequence[int]) -> NodeLayout:
        """Return the layout with the devices in another order: `order` has the positions of this one."""
        index = np.array(order, np.intp)
        traits = tuple(self.traits[position] for position in order)
        records = tuple(self.records[position] for position in order)
        numbers = self.pool_numbers[index]
        rows = self.rows[index]
        return replace(self, rows=rows, where=rows, pool_numbers=numbers, traits=traits, records=records)


class Ranks:
    """Layouts of the nodes under one set of pool rules, made again when what the node sees has changed."""

    def __init__(self, table: Table, rules: PoolRules) -> None:
        self._table = table
        self._rules = rules
        self._layouts: dict[int, NodeLayout] = {}

    def layout(self, node_id: int) -> NodeLayout:
        """Return the layout of a known node."""
        layout = self._layouts.get(node_id)
        if layout is None or not self._is_current(layout):
            if len(self._layouts) >= _CACHED_NODES:
                self._layouts.clear()
            layout = self._layouts[node_id] = self._build(node_id)
        return layout

    def _is_current(self, layout: NodeLayout) -> bool:
        table = self._table
        return (
            layout.shared_version == table.shared_version
            and layout.node_version == table.node_version(layout.node)
            and all(pool.version == version for pool, version in layout.watched)
        )

    def _build(self, node_id: int) -> NodeLayout:
        table = self._table
        name = table.node_name(node_id)
        records = self._records(name, node_id)
        watched = [table.pools[pool_id] for pool_id in dict.fromkeys(record.pool_id for record in records)]
        pools = [on_node(pool, seen, self._rules, table.rows) for pool, seen in self._seen(records)]
        pools.sort(key=lambda pool: (pool.has_binding_conditions, pool.record.id))
        parts: list[IntArray] = []
        numbers: list[int] = []
        owners: list[SliceRecord] = []
        for number, pool in enumerate(pools):
            if pool.state is PoolState.COMPLETE:
                for record in pool.device_slices:
                    parts.append(self._rows_on_node(record, node_id))
                    numbers.extend([number] * len(parts[-1]))
                    owners.extend([record] * len(parts[-1]))
        rows = np.concatenate(parts) if parts else _NO_ROWS
        traits = tuple(table.rows.traits[traits_id] for traits_id in table.rows.traits_ids[rows].tolist())
        different = {id(one): one for one in traits}.values()
        return NodeLayout(
            node=name,
            node_id=node_id,
            pools=tuple(pools),
            rows=rows,
            where=_where(rows),
            pool_numbers=np.array(numbers, np.int32),
            node_version=table.node_version(name),
            shared_version=table.shared_version,
            watched=tuple((pool, pool.version) for pool in watched),
            traits=traits,
            records=tuple(owners),
            is_ordinary=not any(one.unsupported or one.unreadable or one.binding_conditions for one in different),
            has_shares=any(one.policies or one.allow_multiple_allocations for one in different),
            has_counters=any(one.consumes_counters for one in different),
        )

    def _seen(self, records: Iterable[SliceRecord]) -> Iterator[tuple[PoolRecord, list[SliceRecord]]]:
        """Yield each pool with those of the slices that are of its newest generation, if there are any."""
        seen: dict[PoolID, list[SliceRecord]] = {}
        for record in records:
            newest = self._table.pools[record.pool_id].newest_slices()
            if record.generation == newest[0].generation and is_seen(record, self._rules):
                seen.setdefault(record.pool_id, []).append(record)
        return ((self._table.pools[pool_id], slices) for pool_id, slices in seen.items())

    def _records(self, name: str, node_id: int) -> list[SliceRecord]:
        """Return the slices of all generations in whose scope the node is."""
        table = self._table
        records = {record.name: record for record in table.slices_of_node(name)}
        for number in table.scopes.of_node(node_id):
            records.update((record.name, record) for record in table.slices_of_scope(number))
        return list(records.values())

    def _rows_on_node(self, record: SliceRecord, node_id: int) -> IntArray:
        if not record.per_device:
            return record.rows
        homes = self._table.rows.homes[record.rows]
        keep: BoolArray = homes == node_id
        for number in record.scope_ids:
            if self._table.scopes.includes(number, node_id):
                keep |= homes == -2 - number
        return record.rows[keep]


def _where(rows: IntArray) -> IntArray | slice:
    """Return rows as an index: a slice if they follow each other."""
    ids = rows.tolist()
    return slice(ids[0], ids[-1] + 1) if ids and ids == list(range(ids[0], ids[-1] + 1)) else rows
