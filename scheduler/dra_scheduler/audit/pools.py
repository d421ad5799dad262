"""Pools as drivers publish them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from dra_allocator.pools import PoolRules, PoolState, assess
from dra_allocator.records import PoolRecord
from dra_api.references import RESOURCE_SLICE
from dra_scheduler.audit.finding import Finding
from dra_scheduler.audit.subject import Subject
from dra_scheduler.survey.times import touched

PATIENCE = timedelta(seconds=60)
"""How long a pool may be incomplete: drivers publish one slice after the other."""


def pools(subject: Subject) -> Iterator[Finding]:
    """Find pools from which nothing can be taken.

    Since when a pool is incomplete is told by the slice of its newest generation that was written last: by its managed
    fields, else (in files) by its creation. A pool whose slices say nothing counts as incomplete for long.
    """
    rules = PoolRules.of(subject.cluster.features)
    table = subject.cluster.devices
    times = {obj["metadata"]["name"]: touched(obj) for obj in subject.snapshot.of(RESOURCE_SLICE)}
    for pool_id in sorted(table.pools):
        pool = table.pools[pool_id]
        found = assess(pool, rules, table.rows)
        if found.state is PoolState.INVALID:
            yield Finding("pool-invalid", f"pool {pool_id}", found.reason)
        if found.state is not PoolState.INCOMPLETE:
            continue
        written = [time for record in pool.newest_slices() if (time := times.get(record.name)) is not None]
        age = subject.snapshot.taken - max(written) if written else None
        if age is None or age > PATIENCE:
            yield Finding("pool-incomplete", f"pool {pool_id}", _incomplete(pool, len(found.counted), age))


def _incomplete(pool: PoolRecord, present: int, age: timedelta | None) -> str:
    newest = pool.newest_slices()
    since = "" if age is None else f", for at least {int(age.total_seconds())} s"
    return f"generation {newest[0].generation} has {present} of {newest[0].slice_count} slices{since}"
