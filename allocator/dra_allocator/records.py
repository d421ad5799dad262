"""What the table keeps of slices and pools once their devices are in columns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dra_allocator.arrays import IntArray
from dra_allocator.device import CounterSet, NodeScope

if TYPE_CHECKING:
    from dra_allocator.pools import Assessment, PoolRules


class PoolID(NamedTuple):
    """The name of a pool in the whole cluster."""

    driver: str
    pool: str

    def __str__(self) -> str:
        return f"{self.driver}/{self.pool}"


@dataclass(slots=True)
class SliceRecord:
    """A ResourceSlice without its devices: those are `rows`, in the order of the slice.

    `node_names` and `scope_ids` say who sees the slice or one of its devices: nodes by name, and shared scopes
    (see `visibility`). `uses_groups` and `has_binding_conditions` are true if one device has such.
    """

    name: str
    resource_version: str
    pool_id: PoolID
    generation: int
    slice_count: int
    scope: NodeScope | None
    per_device: bool
    shared_counters: tuple[CounterSet, ...]
    skip_node_operations: tuple[str, ...]
    unsupported: str | None
    rows: IntArray
    uses_groups: bool
    has_binding_conditions: bool
    node_names: frozenset[str] = frozenset()
    scope_ids: frozenset[int] = frozenset()


@dataclass(slots=True, eq=False)
class PoolRecord:
    """The slices of one pool, all generations. `version` changes with every change and never comes again.

    `names` has the row of each device of the newest generation, `twins` all rows of the names that are published
    more than once: for different nodes that is one device with several rows.
    """

    id: PoolID
    version: int = 0
    slices: dict[str, SliceRecord] = field(default_factory=dict)
    assessments: dict[PoolRules, tuple[int, Assessment]] = field(default_factory=dict)
    names: dict[str, int] | None = None
    twins: dict[str, tuple[int, ...]] = field(default_factory=dict)
    newest: tuple[SliceRecord, ...] | None = None

    def newest_slices(self) -> tuple[SliceRecord, ...]:
        """Return the slices of the highest generation by name: only they count, also where a node sees none of them."""
        if self.newest is None:
            generation = max((record.generation for record in self.slices.values()), default=0)
            current = [record for record in self.slices.values() if record.generation == generation]
            self.newest = tuple(sorted(current, key=lambda record: record.name))
        return self.newest

    def rows(self) -> IntArray:
        """Return the rows of all slices, those of older generations included."""
        parts = [record.rows for record in self.slices.values()]
        return np.concatenate(parts) if parts else np.empty(0, np.int32)

    def changed(self, version: int) -> None:
        """Forget what was derived from the slices."""
        self.version = version
        self.names = None
        self.newest = None
