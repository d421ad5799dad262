"""The list of all devices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from dra_allocator.arrays import BoolArray
from dra_allocator.device import Device, DeviceID, NodeScope
from dra_allocator.masks import MaskStore
from dra_allocator.pools import PoolRules, PoolState, assess
from dra_allocator.records import SliceRecord
from dra_scheduler.cache.cluster import Cluster
from dra_scheduler.inventory.holding import Holding, holdings
from dra_scheduler.inventory.partitions import blocked
from dra_scheduler.inventory.tainting import Taint, taints_by_row

MASK_BYTES = 256 * 1024 * 1024
ALL_NODES = "(all nodes)"
BY_LABELS = "(by labels)"


@dataclass(frozen=True, slots=True)
class Listed:
    """One device.

    `scope`: which nodes see it, `node` the same in a word. `classes` are the DeviceClasses that it is of.
    `state`: `free`; `held` as a whole; `shared` (held in shares, more may fit); `tainted` (free, but not for
    everybody); `blocked` with the `reason` (devices in use leave too little of a shared counter); `unusable` with the
    `reason` (its pool is incomplete or invalid, or it cannot be read).
    """

    id: DeviceID
    scope: NodeScope | None
    device: Device
    slice: str
    generation: int
    classes: tuple[str, ...]
    taints: tuple[Taint, ...]
    held_by: tuple[Holding, ...]
    state: str
    reason: str = ""

    @property
    def node(self) -> str:
        """The node's name, or `(all nodes)`, `(by labels)`, `(none)`."""
        scope = self.scope
        if scope is None or scope.invalid is not None:
            return "(none)"
        if scope.node_name is not None:
            return scope.node_name
        return ALL_NODES if scope.all_nodes else BY_LABELS


def list_devices(cluster: Cluster) -> list[Listed]:
    """Return every device of each pool's newest generation, sorted by driver, pool, slice and place in it."""
    masks = MaskStore(MASK_BYTES)
    held = holdings(cluster)
    taints, short = taints_by_row(cluster, masks), blocked(cluster, held)
    members = {name: class_mask(cluster, masks, name) for name in sorted(cluster.devices.classes)}
    rules = PoolRules.of(cluster.features)
    table = cluster.devices
    listed = []
    for row, record, problem in _rows(cluster, rules):
        device, device_id = table.rows.device(row), table.rows.device_id(row)
        holders, tainted = tuple(held.get(device_id, ())), tuple(taints.get(row, ()))
        reason = problem or device.unsupported or device.unreadable or ""
        state = _state(holders, tainted, reason)
        if state in ("free", "tainted") and row in short:
            state, reason = "blocked", short[row]
        listed.append(
            Listed(
                id=device_id,
                scope=device.scope if record.per_device else record.scope,
                device=device,
                slice=record.name,
                generation=record.generation,
                classes=tuple(name for name, mask in members.items() if mask[row]),
                taints=tainted,
                held_by=holders,
                state=state,
                reason=reason,
            )
        )
    return listed


def class_mask(cluster: Cluster, masks: MaskStore, name: str) -> BoolArray:
    """Return which rows are of a DeviceClass: all of its selectors are true, and none fails."""
    table = cluster.devices
    entry = table.classes.get(name)
    found: BoolArray = np.ones(len(table.rows), np.bool_)
    for text in entry[0].selectors if entry is not None else ():
        known = masks.get(table, text)
        mask = known.match.copy()
        for row in np.flatnonzero(known.open & found).tolist():
            mask[row] = table.rows.in_use(row) and known.try_resolve(row)
        found &= mask
    return found


def sums(listed: list[Listed], by: str) -> Mapping[str, Mapping[str, int]]:
    """Return how many devices there are per driver (`by` driver) or per class, by state; key `total` has all."""
    found: dict[str, dict[str, int]] = {}
    for one in listed:
        for name in (one.id.driver,) if by == "driver" else one.classes:
            counts = found.setdefault(name, {"total": 0})
            counts["total"] += 1
            counts[one.state] = counts.get(one.state, 0) + 1
    return dict(sorted(found.items()))


def _rows(cluster: Cluster, rules: PoolRules) -> Iterator[tuple[int, SliceRecord, str]]:
    table = cluster.devices
    for pool_id in sorted(table.pools):
        pool = table.pools[pool_id]
        assessment = assess(pool, rules, table.rows)
        problem = ""
        if assessment.state is PoolState.INCOMPLETE:
            newest = pool.newest_slices()
            problem = f"pool incomplete: {len(assessment.counted)} of {newest[0].slice_count} slices"
        elif assessment.state is PoolState.INVALID:
            problem = f"pool invalid: {assessment.reason}"
        for record in pool.newest_slices():
            for row in record.rows.tolist():
                yield row, record, problem


def _state(holders: tuple[Holding, ...], taints: tuple[Taint, ...], reason: str) -> str:
    holding = [one for one in holders if not one.admin]
    if holding:
        return "held" if any(one.share_id is None for one in holding) else "shared"
    if reason:
        return "unusable"
    return "tainted" if any(one.taint.effect != "None" for one in taints) else "free"
