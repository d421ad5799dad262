"""Writing what was decided into a ResourceClaim, and taking it back.

    observed claim --finalizer--> protected --/status--> allocated + reserved --compare--> done
         ^                 |409, no answer        |409, no answer         |differs
         +---- read live and decide: already so (done) | still possible (again) | lost     undo, AnswerDiffersError

Each step carries the resourceVersion of the one before, so nothing of anybody else is ever overwritten, and a write
that was repeated after an unnoticed success ends in a conflict, which reading resolves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Any

from dra_api.clock import Clock
from dra_api.transport import TransportError
from dra_api.versions import to_v1
from dra_scheduler.client.api import Api, Object
from dra_scheduler.client.discovery import Served, Version
from dra_scheduler.client.errors import ApiStatusError, ConflictError, InvalidError, NotFoundError
from dra_scheduler.writes.claim_bodies import (
    allocation_of,
    finalizer_patch,
    has_finalizer,
    is_reserved,
    reserved_for,
    status_patch,
    timestamp,
)
from dra_scheduler.writes.comparison import first_difference, gate_of, is_dropped
from dra_scheduler.writes.errors import (
    AnswerDiffersError,
    BindingPermissionError,
    ClaimLostError,
    UnknownOutcomeError,
)
from dra_scheduler.writes.guarded_api import GuardedApi, MayWrite
from dra_scheduler.writes.refs import ClaimRef, Consumer, PodRef
from dra_scheduler.writes.undoing import Undoing

ROUNDS = 4
"""How often a claim is read anew after a conflict before its pod goes back to the queue."""
TIMESTAMP_SINCE = Version(1, 34)
"""Kubernetes that knows allocationTimestamp. It comes with a new allocation or never: adding it later is refused."""


class ClaimWriter:
    """Writes allocations and reservations of ResourceClaims, all in the served version of resource.k8s.io."""

    def __init__(
        self,
        api: Api,
        served: Served,
        clock: Clock,
        random: Random,
        may_write: MayWrite = lambda: True,
        *,
        seen: Callable[[Object], None] = lambda claim: None,
    ) -> None:
        """`seen` is told every claim that was read, whatever becomes of the write: what it holds is in use."""
        self._api = GuardedApi(api, random, may_write)
        self._served = served
        self._clock = clock
        self._seen = seen
        self._undoing = Undoing(self._api, served)

    async def allocate_and_reserve(
        self, claim: Mapping[str, Any], allocation: Mapping[str, Any] | None, who: PodRef | Consumer
    ) -> Object:
        """Allocate the claim (`allocation`: a v1 `status.allocation`) and reserve it for `who`, in one status write.

        `allocation` None: the claim (v1, as observed) is allocated already, only the reservation is added.
        Returns the claim as v1, as the API server answered. Raises ClaimLostError, AnswerDiffersError (undone),
        BindingPermissionError, UnknownOutcomeError, NotWriterError, or the ApiStatusError that the server insists on.
        """
        current, consumer = dict(claim), Consumer.of(who)
        wanted = allocation if allocation is not None else allocation_of(claim)
        if wanted is None:
            raise ClaimLostError(str(ClaimRef.of(claim)), "to be reserved without being allocated")
        new = allocation is not None
        cause: Exception | None = None
        for left in reversed(range(ROUNDS + 1)):
            if new and _is_ours_with_fields_dropped(current, wanted, consumer):
                await self._compare(ClaimRef.of(claim), wanted, current, consumer)
            if self._check(current, wanted, consumer, claim, new):
                return current
            if cause is not None and not isinstance(cause, ConflictError):
                # Repeated often enough below, and read: it is not in force (or not yet, when the server is that slow).
                raise UnknownOutcomeError(f"ResourceClaim {ClaimRef.of(claim)}: {cause}") from cause
            if not left:
                break
            try:
                return await self._write_once(current, wanted, consumer)
            except NotFoundError as error:
                raise ClaimLostError(str(ClaimRef.of(claim)), "deleted meanwhile") from error
            except (ConflictError, TransportError) as error:
                cause = error
            except ApiStatusError as error:
                if error.status < 500:
                    raise
                cause = error
            current = await self.read(ClaimRef.of(claim), cause)
        raise ClaimLostError(str(ClaimRef.of(claim)), f"changed {ROUNDS} times while it was written") from cause

    async def unreserve(self, claim: ClaimRef, pod_uid: str) -> Object | None:
        """Remove only the pod's own entry from reservedFor; the allocation stays. None: the claim is gone.

        Raises UnknownOutcomeError, NotWriterError, or what the server insists on.
        """
        return await self._undoing.unreserve(claim, pod_uid)

    async def deallocate(self, claim: Mapping[str, Any]) -> Object | None:
        """Clear the allocation of a claim that nobody has reserved, exactly as it was read (resourceVersion).

        None: the claim is gone. Raises ClaimLostError when somebody reserved it or it changed since it was read,
        else as `unreserve`.
        """
        return await self._undoing.deallocate(claim)

    async def read(self, claim: ClaimRef, cause: Exception | None = None) -> Object:
        """Read the claim live, as v1. Raises ClaimLostError (it is gone) or UnknownOutcomeError (no answer)."""
        try:
            answer = await self._api.get(claim.path(self._served.resource_version))
        except NotFoundError as error:
            raise ClaimLostError(str(claim), "deleted meanwhile") from error
        except (TransportError, ApiStatusError) as error:
            raise UnknownOutcomeError(f"ResourceClaim {claim}: cannot be read after a failed write: {error}") from (
                cause or error
            )
        live = to_v1(answer)
        self._seen(live)
        return live

    def _check(
        self, live: Mapping[str, Any], wanted: Mapping[str, Any], consumer: Consumer, seen: Mapping[str, Any], new: bool
    ) -> bool:
        """True: already as wanted. False: to be written. Raises ClaimLostError when the decision does not hold."""
        ref = ClaimRef.of(seen)
        if live["metadata"]["uid"] != ref.uid:
            raise ClaimLostError(str(ref), "deleted and created anew meanwhile")
        allocated = allocation_of(live)
        if allocated is None and not new:
            raise ClaimLostError(str(ref), "deallocated meanwhile")
        if allocated is not None and first_difference(wanted, allocated) is not None:
            raise ClaimLostError(str(ref), "allocated otherwise meanwhile")
        if allocated is not None and is_reserved(live, consumer):
            # Also if it has been deleted since: in use it stays.
            return True
        if live["metadata"].get("deletionTimestamp"):
            raise ClaimLostError(str(ref), "is being deleted")
        return False

    async def _write_once(self, claim: Object, wanted: Mapping[str, Any], consumer: Consumer) -> Object:
        """Finalizer, then status, then compare."""
        ref = ClaimRef.of(claim)
        path = ref.path(self._served.resource_version)
        status: dict[str, Any] = {"reservedFor": [*reserved_for(claim), consumer.entry()]}
        if allocation_of(claim) is None:
            if not has_finalizer(claim):
                claim = await self._protect(path, claim)
            status["allocation"] = self._stamped(wanted)
        try:
            answer = to_v1(await self._api.patch(f"{path}/status", status_patch(claim, status)))
        except InvalidError as error:
            if any("resourceclaims/binding" in cause.message for cause in error.causes):
                raise BindingPermissionError(str(ref), error.message) from error
            raise
        await self._compare(ref, wanted, answer, consumer)
        return answer

    async def _protect(self, path: str, claim: Object) -> Object:
        """Keep the claim from being deleted while it is allocated."""
        return await self._api.patch(path, finalizer_patch(claim))

    async def _compare(self, ref: ClaimRef, wanted: Mapping[str, Any], answer: Object, consumer: Consumer) -> None:
        difference = first_difference(wanted, allocation_of(answer))
        if difference is None and is_reserved(answer, consumer):
            return
        await self._undoing.take_back(answer, consumer.uid)
        if difference is None:
            raise ClaimLostError(str(ref), "the API server dropped our entry of status.reservedFor")
        raise AnswerDiffersError(str(ref), difference, gate_of(difference))

    def _stamped(self, allocation: Mapping[str, Any]) -> dict[str, Any]:
        stamped = {key: value for key, value in allocation.items() if key != "allocationTimestamp"}
        if self._served.server >= TIMESTAMP_SINCE:
            stamped["allocationTimestamp"] = timestamp(self._clock.now())
        return stamped


def _is_ours_with_fields_dropped(live: Mapping[str, Any], wanted: Mapping[str, Any], consumer: Consumer) -> bool:
    """Whether this is what the server made of a write of ours, whose answer got lost or which could not be undone."""
    allocated = allocation_of(live)
    if allocated is None or not is_reserved(live, consumer):
        return False
    difference = first_difference(wanted, allocated)
    return difference is not None and is_dropped(difference, allocated)
