"""The list of devices followed as it changes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from random import Random

from dra_allocator.device import DeviceID
from dra_api.clock import Clock
from dra_api.transport import Transport
from dra_scheduler.cache.cluster import Cluster
from dra_scheduler.client.api import Api
from dra_scheduler.client.discovery import Served
from dra_scheduler.client.errors import ApiStatusError, ForbiddenError
from dra_scheduler.client.reflector import Reflector
from dra_scheduler.errors import SchedulerError, TaskDiedError
from dra_scheduler.feature_gates import FeatureGates
from dra_scheduler.feed import reflectors
from dra_scheduler.inventory.devices import Listed
from dra_scheduler.survey.api_server import gap_of


class NotAllowedError(SchedulerError):
    """A kind that has to be followed may not be read.

    Whoever gave the rights caused it; the message names the rule that is missing. `doctor` names all of them.
    """


PAUSE = 0.5
"""Seconds between two looks at what changed, so that a burst of events is one change."""

Key = tuple[DeviceID, str]
Listing = Mapping[Key, Listed]


@asynccontextmanager
async def followed(
    transport: Transport, served: Served, gates: FeatureGates, clock: Clock, random: Random
) -> AsyncIterator[Cluster]:
    """Keep the tables of a cluster up to date while inside; entered once everything has been read once.

    If that fails, what is done inside is cancelled. Raises NotAllowedError if something may not be read from the
    beginning, TaskDiedError, and what is raised inside.
    """
    cluster = Cluster(gates.features(), gates)
    fed = reflectors(transport, served, cluster, clock, random)
    for one in fed:
        await _look(transport, one)
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one.run(), name=f"reflector {one.resource.plural}") for one in fed]
            for reflector in fed:
                await reflector.synced.wait()
            yield cluster
            for task in tasks:
                task.cancel()
    except BaseExceptionGroup as errors:
        raise ungrouped(errors) from errors.exceptions[0]


async def _look(transport: Transport, reflector: Reflector) -> None:
    """Raise NotAllowedError if a kind may not be read: a reflector would wait until it may."""
    try:
        await Api(transport).list(reflector.path, {"limit": "1"})
    except ForbiddenError as error:
        raise NotAllowedError(str(gap_of(reflector.resource, error))) from error
    except ApiStatusError:
        pass  # what passes by itself; the reflector tries again, and says so


def ungrouped(errors: BaseExceptionGroup[BaseException]) -> SchedulerError:
    """Return the error of ours in a group, else one that says that a part has died."""
    first = errors.exceptions[0]
    return first if isinstance(first, SchedulerError) else TaskDiedError(f"{type(first).__name__}: {first}")


async def changes(cluster: Cluster, look: Callable[[], list[Listed]]) -> AsyncIterator[list[tuple[str, Listed]]]:
    """Yield what changed: (`added`, `changed` or `removed`, the device), first all devices as added."""
    before: dict[Key, Listed] = {}
    versions: tuple[int, ...] = ()
    while True:
        now = _versions(cluster)
        if now != versions:
            versions = now
            listed = {(one.id, one.slice): one for one in look()}
            found = difference(before, listed)
            before = listed
            if found:
                yield found
        await asyncio.sleep(PAUSE)


def difference(before: Listing, after: Listing) -> list[tuple[str, Listed]]:
    """Return what differs between two lists."""
    found = [("removed", one) for key, one in before.items() if key not in after]
    for key, one in after.items():
        old = before.get(key)
        if old is None:
            found.append(("added", one))
        elif old != one:
            found.append(("changed", one))
    return found


def _versions(cluster: Cluster) -> tuple[int, ...]:
    reserved = sum(len(claim.reserved_for) for claim in cluster.claims)
    return cluster.devices.version, cluster.ledger.version, len(cluster.claims), reserved
