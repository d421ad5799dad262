"""Taking back what was written, never more than is safe.

Clearing the allocation of a claim in use is accepted by the API server, and the next pod then gets the same device. So
only our own reservation is removed, and an allocation is cleared only when nobody has it reserved, at the very
resourceVersion at which that was seen.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dra_api.transport import TransportError
from dra_api.versions import to_v1
from dra_scheduler.client.api import Object
from dra_scheduler.client.discovery import Served
from dra_scheduler.client.errors import ApiStatusError, ConflictError, NotFoundError
from dra_scheduler.writes.claim_bodies import allocation_of, has_entry, reserved_for, status_patch
from dra_scheduler.writes.comparison import first_difference
from dra_scheduler.writes.errors import ClaimLostError, UnknownOutcomeError
from dra_scheduler.writes.guarded_api import GuardedApi
from dra_scheduler.writes.refs import ClaimRef

ROUNDS = 8
"""How often a reservation is tried to be removed while others change the claim."""


class Undoing:
    """The writes that take back; used by the claim writer."""

    def __init__(self, api: GuardedApi, served: Served) -> None:
        self._api = api
        self._version = served.resource_version

    async def unreserve(self, claim: ClaimRef, pod_uid: str) -> Object | None:
        """See ClaimWriter.unreserve."""
        path = claim.path(self._version)
        cause: Exception | None = None
        for _ in range(ROUNDS):
            try:
                live = to_v1(await self._api.get(path))
                if live["metadata"]["uid"] != claim.uid:
                    return None
                if not has_entry(live, pod_uid):
                    return live
                rest = [entry for entry in reserved_for(live) if entry.get("uid") != pod_uid]
                return to_v1(await self._api.patch(f"{path}/status", status_patch(live, {"reservedFor": rest})))
            except NotFoundError:
                return None
            except (ConflictError, TransportError) as error:
                cause = error
            except ApiStatusError as error:
                if error.status < 500:
                    raise
                cause = error
        raise UnknownOutcomeError(f"ResourceClaim {claim}: our reservation could not be removed: {cause}") from cause

    async def deallocate(self, claim: Mapping[str, Any]) -> Object | None:
        """See ClaimWriter.deallocate."""
        ref = ClaimRef.of(claim)
        if reserved_for(claim):
            raise ClaimLostError(str(ref), "is reserved, so its allocation has to stay")
        if allocation_of(claim) is None:
            return dict(claim)
        patch = status_patch(claim, {"allocation": None})
        return await self._clear(ref, patch)

    async def take_back(self, claim: Object, pod_uid: str) -> None:
        """Undo a write whose answer (`claim`) is not what was sent; the pod is not bound and will not be.

        The allocation goes too unless somebody else has it reserved: left there, the next attempt would take it for
        good. Raises UnknownOutcomeError when that cannot be done or it is not known whether it was.
        """
        ref, live, cause = ClaimRef.of(claim), claim, None
        for _ in range(ROUNDS):
            try:
                if any(entry.get("uid") != pod_uid for entry in reserved_for(live)):
                    await self.unreserve(ref, pod_uid)
                    return
                await self._clear(ref, status_patch(live, {"allocation": None, "reservedFor": None}))
                return
            except (ClaimLostError, UnknownOutcomeError, ApiStatusError) as error:
                cause = error  # refused, too: what is left there is wrong, and must not be used
            try:
                live = to_v1(await self._api.get(ref.path(self._version)))
            except NotFoundError:
                return
            except (ApiStatusError, TransportError):
                continue  # the next round meets a conflict if it has changed
            if live["metadata"]["uid"] != ref.uid or first_difference(allocation_of(claim) or {}, allocation_of(live)):
                return  # not what we wrote any more
        raise UnknownOutcomeError(f"ResourceClaim {ref}: a wrong allocation could not be undone: {cause}") from cause

    async def _clear(self, ref: ClaimRef, patch: dict[str, Any]) -> Object | None:
        try:
            return to_v1(await self._api.patch(f"{ref.path(self._version)}/status", patch))
        except NotFoundError:
            return None
        except ConflictError as error:
            raise ClaimLostError(str(ref), "changed since it was read, so its allocation stays") from error
        except (TransportError, ApiStatusError) as error:
            if isinstance(error, ApiStatusError) and error.status < 500:
                raise
            raise UnknownOutcomeError(f"ResourceClaim {ref}: no answer to the deallocation: {error}") from error
