"""Patching one condition into an object's status while others change the object too."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dra_api.transport import STRATEGIC_MERGE_PATCH
from dra_scheduler.client.errors import ConflictError, NotFoundError
from dra_scheduler.writes.guarded_api import GuardedApi

ROUNDS = 4
"""How often a condition is tried to be written while others change the object."""


async def patch_condition(
    api: GuardedApi,
    path: str,
    seen: tuple[str, str],
    entry: Mapping[str, Any],
    settled: Callable[[Mapping[str, Any]], bool],
) -> bool:
    """Patch the condition `entry` into the object at `path`, which was `seen` with this uid and resourceVersion.

    After a conflict the object is read live and patched once more, unless it is another one or `settled` says that
    there is nothing to say of it any more. False: so it is, or it is gone, or others change it too often.
    Raises what `GuardedApi.patch` and `get` do.
    """
    uid, resource_version = seen
    for _ in range(ROUNDS):
        meta = {"uid": uid, "resourceVersion": resource_version}
        body = {"metadata": meta, "status": {"conditions": [entry]}}
        try:
            await api.patch(f"{path}/status", body, STRATEGIC_MERGE_PATCH)
            return True
        except NotFoundError:
            return False
        except ConflictError:
            pass
        try:
            live = await api.get(path)
        except NotFoundError:
            return False
        if live["metadata"]["uid"] != uid or settled(live):
            return False
        resource_version = live["metadata"]["resourceVersion"]
    return False
