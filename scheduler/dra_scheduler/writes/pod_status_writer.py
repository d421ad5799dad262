"""What a pod's status says about its devices beside its claims: merge patches that may be repeated.

A server whose feature gate is off drops the field without a word; then the pod must not be bound.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from dra_api.transport import MERGE_PATCH, TransportError
from dra_scheduler.client.api import Api, Object
from dra_scheduler.client.errors import ApiStatusError, ConflictError, NotFoundError
from dra_scheduler.writes.comparison import is_same
from dra_scheduler.writes.errors import BindLostError, StatusDroppedError, UnknownOutcomeError
from dra_scheduler.writes.guarded_api import REPEATABLE, GuardedApi, MayWrite
from dra_scheduler.writes.refs import PodRef

EXTENDED = "extendedResourceClaimStatus"
NODE_RESOURCES = "nodeAllocatableResourceClaimStatuses"
_GATES = {EXTENDED: "DRAExtendedResource", NODE_RESOURCES: "DRANodeAllocatableResources"}


class PodStatusWriter:
    """Writes pods' status. Raises BindLostError, StatusDroppedError, UnknownOutcomeError, NotWriterError, or what the
    server insists on.
    """

    def __init__(self, api: Api, random: Random, may_write: MayWrite = lambda: True) -> None:
        self._api = GuardedApi(api, random, may_write)

    async def extended_claim(self, pod: PodRef, claim: str, mappings: Sequence[Mapping[str, Any]]) -> None:
        """Say which claim serves the pod's extended resources, and which of its requests serves which container."""
        await self._set(pod, EXTENDED, {"requestMappings": list(mappings), "resourceClaimName": claim})

    async def node_resources(self, pod: PodRef, statuses: Sequence[Mapping[str, Any]]) -> None:
        """Say what the pod's devices take of the node."""
        await self._set(pod, NODE_RESOURCES, list(statuses))

    async def no_node_resources(self, pod: PodRef) -> None:
        """Take it back. An empty list says so on purpose; a missing one could be a client that does not know it."""
        await self._patch(pod, NODE_RESOURCES, [])

    async def _set(self, pod: PodRef, field: str, value: object) -> None:
        answer = await self._patch(pod, field, value)
        if not is_same(value, (answer.get("status") or {}).get(field)):
            raise StatusDroppedError(str(pod), field, _GATES[field])

    async def _patch(self, pod: PodRef, field: str, value: object) -> Object:
        body = {"metadata": {"uid": pod.uid}, "status": {field: value}}
        try:
            return await self._api.patch(f"{pod.path}/status", body, MERGE_PATCH)
        except NotFoundError as error:
            raise BindLostError(f"pod {pod}: deleted before it was bound") from error
        except ConflictError as error:
            raise BindLostError(f"pod {pod}: its status was not written: {error.message}") from error
        except TransportError as error:
            raise UnknownOutcomeError(f"pod {pod}: no answer to a write of its status: {error}") from error
        except ApiStatusError as error:
            if error.status not in REPEATABLE:
                raise
            raise UnknownOutcomeError(f"pod {pod}: a write of its status failed: {error}") from error
