"""Taking a snapshot from an API server: every kind listed in pages, nothing written."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

from dra_api.clock import Clock
from dra_api.errors import ApiError
from dra_api.references import DEVICE_TAINT_RULE, POD_GROUP, RESOURCE_GROUP, Resource, key_of
from dra_api.transport import Transport
from dra_api.versions import to_v1
from dra_scheduler.client.api import Api
from dra_scheduler.client.discovery import Served, discover, pod_group_version
from dra_scheduler.client.errors import ApiStatusError, ForbiddenError, NotFoundError
from dra_scheduler.client.listing import Listing
from dra_scheduler.survey.gates import read_gates
from dra_scheduler.survey.snapshot import KINDS, OPTIONAL, Gap, Object, Snapshot


async def take(transport: Transport, clock: Clock, resources: Sequence[Resource] = KINDS) -> Snapshot:
    """Read all kinds that this server has; one that may not be read becomes a gap, and the others are read.

    The kinds are read one after the other, so two of them can differ by what happened in between.
    Raises NoResourceApiError, UnauthorizedError, ResponseError and TransportError.
    """
    api = Api(transport)
    served = await discover(api)
    snapshot = Snapshot(f"API server {served.git_version}", clock.now(), live=True, server=served.git_version)
    snapshot.minor, snapshot.version = served.server.minor, served.resource_version
    snapshot.gates = await read_gates(transport)
    await extend(snapshot, transport, served, resources)
    return snapshot


async def extend(snapshot: Snapshot, transport: Transport, served: Served, resources: Sequence[Resource]) -> None:
    """Read more kinds into a snapshot. Raises as `take` does."""
    for resource in resources:
        try:
            version = served_version(served, resource)
            if resource is POD_GROUP:
                version = await pod_group_version(Api(transport))
            if version is None and resource.group in (RESOURCE_GROUP, POD_GROUP.group):
                raise NotFoundError(404, "NotFound", f"{_name(resource)} is not served")
            snapshot.objects[resource.kind] = await _read(snapshot, transport, resource, version)
        except ApiStatusError as error:
            if error.status == 401:
                raise
            if isinstance(error, NotFoundError) and resource in OPTIONAL:
                snapshot.objects[resource.kind] = []
            else:
                snapshot.gaps.append(gap_of(resource, error))
    snapshot.sort()


def served_version(served: Served, resource: Resource) -> str | None:
    """Return the version to read a kind in; None: our newest, or, in resource.k8s.io, that it is not served."""
    if resource is DEVICE_TAINT_RULE:
        return served.taint_rule_version
    if resource.group != RESOURCE_GROUP:
        return None
    return served.resource_version if resource.plural in served.resources else None


async def _read(snapshot: Snapshot, transport: Transport, resource: Resource, version: str | None) -> list[Object]:
    listing = Listing(transport, resource, resource.path(version=version), {})
    found: list[Object] = []
    async with contextlib.aclosing(listing.pages()) as pages:
        async for page in pages:
            if page.first:
                found.clear()
            found += page.items
    return converted(found, snapshot.skipped) if resource.group == RESOURCE_GROUP else found


def converted(objects: list[Object], skipped: list[str]) -> list[Object]:
    """Return objects of resource.k8s.io as v1; what cannot be converted is named in `skipped`."""
    kept = []
    for obj in objects:
        try:
            kept.append(to_v1(obj))
        except ApiError as error:
            skipped.append(f"{key_of(obj)}: {error}")
    return kept


def gap_of(resource: Resource, error: ApiStatusError) -> Gap:
    """Return the gap that an answer leaves."""
    if isinstance(error, NotFoundError):
        return Gap(resource.kind, "not-served", f"{_name(resource)}: the API server has none")
    if isinstance(error, ForbiddenError):
        rule = f"apiGroups [{resource.group!r}], resources [{resource.plural!r}], verbs [get, list, watch]"
        return Gap(resource.kind, "forbidden", f"{_name(resource)} may not be listed: the rule for {rule} is missing")
    return Gap(resource.kind, "refused", f"{_name(resource)}: {error}")


def _name(resource: Resource) -> str:
    return f"{resource.plural}.{resource.group}" if resource.group else resource.plural
