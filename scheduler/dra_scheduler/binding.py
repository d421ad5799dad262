"""From a decision to a pod on its node: one bind task per pod, many at a time.

    claims: finalizer, allocation + reservation --> rivals? --> devices ready? --> binding --> done
        |  each step: lost or refused                |              |  [Wait]         |
        +--------------------------------------------+--------------+-----------------+--> undo, forget, again

* What was assumed stays assumed until it is certain that it does not hold. No answer is no certainty: the step is asked
  again until there is one (`UnknownOutcomeError`), however long that takes.
* Undoing removes our reservation only. The allocation stays, and the next attempt uses it; it is cleared when a rival
  was first, or when it fits no node any more, and then only if nobody uses it.
* A process that ends anywhere in between leaves claims that are allocated and perhaps reserved for a pod without a
  node. The next one finds them so and takes them up again.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TypeVar

from dra_api import encode
from dra_api.clock import Clock
from dra_api.transport import TransportError
from dra_scheduler.cache.claim_store import Claim
from dra_scheduler.cache.cluster import Cluster
from dra_scheduler.cache.pod_info import PodInfo
from dra_scheduler.client.errors import ApiStatusError, ConflictError
from dra_scheduler.cycle.decision import Bind, ClaimPlan, SpecialPlan, Wait
from dra_scheduler.errors import SchedulerError
from dra_scheduler.locks import Locks
from dra_scheduler.readiness import Readiness, allocated_at, readiness
from dra_scheduler.rivals import RivalError, check_rivals
from dra_scheduler.settings import Settings
from dra_scheduler.signals import Signals
from dra_scheduler.special_claims import SpecialClaims
from dra_scheduler.writes.binding_writer import BindingWriter
from dra_scheduler.writes.claim_writer import ClaimWriter
from dra_scheduler.writes.condition_writer import ConditionWriter
from dra_scheduler.writes.errors import (
    BindLostError,
    ClaimLostError,
    ClaimRefusedError,
    UnknownOutcomeError,
    WriteError,
)
from dra_scheduler.writes.pod_status_writer import PodStatusWriter
from dra_scheduler.writes.refs import ClaimRef, PodRef

FIRST_DELAY = 0.5
DELAY_CAP = 10.0
"""Seconds between two questions about an unknown outcome."""

_log = logging.getLogger(__name__)
_T = TypeVar("_T")


class DevicesNotReadyError(SchedulerError):
    """The devices' binding conditions failed, or were not true in time: their driver's or the device's fault."""


@dataclass(frozen=True, slots=True)
class BindOutcome:
    """`bound`, or why not. `conflict`: somebody was faster, so another attempt soon is sensible.

    `refused`: the cluster's quota or admission has something against it.
    """

    bound: bool
    problem: str = ""
    conflict: bool = False
    refused: bool = False
    contested: int = 0


@dataclass(slots=True)
class _Task:
    """A pod on its way: the claims whose reservation has been written are `reserved`.

    `special` is the claim that was made for its extended resources, `told` what its status says about its devices.
    """

    pod: PodInfo
    ref: PodRef
    bind: Bind
    reserved: list[Claim] = field(default_factory=list)
    contested: int = 0
    nominated: bool = False
    special: Claim | None = None
    told: bool = False


class Binder:
    """Carries out decisions. `waiting` has, by uid, what pods wait for in the middle of it."""

    def __init__(
        self,
        cluster: Cluster,
        claims: ClaimWriter,
        bindings: BindingWriter,
        conditions: ConditionWriter,
        *,
        special: SpecialClaims,
        pods: PodStatusWriter,
        signals: Signals,
        clock: Clock,
        settings: Settings,
    ) -> None:
        self._cluster = cluster
        self._claims = claims
        self._bindings = bindings
        self._conditions = conditions
        self._special = special
        self._pods = pods
        self._signals = signals
        self._clock = clock
        self._settings = settings
        self._locks = Locks()
        self.waiting: dict[str, Wait] = {}

    async def run(self, pod: PodInfo, bind: Bind) -> BindOutcome:
        """Write what was decided; on failure undo it and forget what was assumed. Never raises for what may happen."""
        task = _Task(pod, PodRef(pod.namespace, pod.name, pod.uid), bind)
        try:
            await self._carry_out(task)
        except RivalError as error:
            await self._undo(task, deallocate=True)
            return BindOutcome(False, str(error), conflict=True, contested=1)
        except (ClaimLostError, BindLostError, ConflictError) as error:
            await self._undo(task)
            return BindOutcome(False, str(error), conflict=True)
        except ClaimRefusedError as error:
            await self._undo(task)
            return BindOutcome(False, str(error), refused=True)
        except (WriteError, ApiStatusError, TransportError, DevicesNotReadyError) as error:
            await self._undo(task)
            return BindOutcome(False, str(error))
        return BindOutcome(True, contested=task.contested)

    async def _carry_out(self, task: _Task) -> None:
        for plan in task.bind.claims:
            await self._until_known(lambda plan=plan: self._write_claim(task, plan))  # type: ignore[misc]
        if task.bind.special is not None:
            await self._write_special(task, task.bind.special)
        if task.bind.node_resources:
            await self._write_node_resources(task)
        contested = check_rivals(self._cluster, task.reserved)
        task.contested = len(contested)
        for device in contested:
            _log.warning("device allocated twice, the other allocation is later pod=%s device=%s", task.ref, device)
        await self._until_ready(task)
        if task.bind.special is not None:
            await self._tell_special(task, task.bind.special)
        if not task.bind.placed:
            await self._until_known(lambda: self._bindings.bind(task.ref, task.bind.node))

    async def _write_claim(self, task: _Task, plan: ClaimPlan) -> None:
        # Several pods may have decided the same claim: the first writes the allocation, the others join it.
        async with self._locks.hold(plan.uid):
            claim = self._cluster.claims.by_uid(plan.uid)
            if claim is None:
                raise ClaimLostError(f"{plan.namespace}/{plan.name}", "deleted meanwhile")
            wanted = None if plan.allocation is None else encode.allocation(plan.allocation)
            answer = await self._claims.allocate_and_reserve(claim.raw, wanted, task.ref)
            self._cluster.learn_claim(answer)
            task.reserved.append(claim)

    async def _write_special(self, task: _Task, plan: SpecialPlan) -> None:
        """Make the claim for the pod's extended resources, as any other one then (KEP-5004)."""
        claim = task.special = await self._special.make(task.ref, plan, self._until_known)
        await self._until_known(lambda: self._special.allocate(task.ref, plan, claim))
        task.reserved.append(claim)

    async def _tell_special(self, task: _Task, plan: SpecialPlan) -> None:
        """Name the special claim in the pod's status: last of all, because the API server never lets it be cleared."""
        claim = task.special
        if claim is not None:
            await self._until_known(lambda: self._special.tell(task.ref, plan, claim))

    async def _write_node_resources(self, task: _Task) -> None:
        """Say in the pod's status what its devices take of the node."""
        task.told = True
        await self._until_known(lambda: self._pods.node_resources(task.ref, task.bind.node_resources))

    async def _until_known(self, ask: Callable[[], Awaitable[_T]]) -> _T:
        delay = FIRST_DELAY
        while True:
            try:
                return await ask()
            except UnknownOutcomeError as error:
                _log.warning("outcome of a write is unknown, asking again: %s", error)
                await asyncio.sleep(delay)
                delay = min(delay * 2, DELAY_CAP)

    async def _until_ready(self, task: _Task) -> None:
        """Wait for the devices' binding conditions (KEP-5007)."""
        uid = task.pod.uid
        until = (uid, *(claim.uid for claim in task.reserved))
        with self._signals.listen(until) as changed:
            try:
                while True:
                    # Before looking, so that nothing that happens after the look is missed.
                    changed.clear()
                    if self._ready(task):
                        return
                    await self._nominate(task, task.bind.node)
                    seconds = self._seconds_left(task)
                    self.waiting[uid] = Wait("waiting for the binding conditions of its devices", until, seconds)
                    with contextlib.suppress(TimeoutError):
                        async with asyncio.timeout(seconds):
                            await changed.wait()
            finally:
                self.waiting.pop(uid, None)

    async def _nominate(self, task: _Task, node: str) -> None:
        """Say where the pod will go before it waits, and take it back ("") if it does not: autoscalers read it."""
        if task.bind.placed or task.nominated == bool(node):
            return
        task.nominated = bool(node)
        try:
            await self._conditions.nominate(task.ref, node)
        except (WriteError, ApiStatusError, TransportError) as error:
            # Only advice for others, so the pod goes on without it.
            _log.warning("nominatedNodeName not written pod=%s error=%s", task.ref, error)

    def _ready(self, task: _Task) -> bool:
        if self._cluster.pods.get(task.pod.uid) is None:
            raise BindLostError(f"pod {task.ref}: deleted before it was bound")
        states = []
        for claim in task.reserved:
            if claim.allocation is None:
                raise ClaimLostError(f"{claim.namespace}/{claim.name}", "deallocated meanwhile")
            states.append(readiness(claim.raw))
            if states[-1] is Readiness.FAILED:
                where = f"{claim.namespace}/{claim.name}"
                raise DevicesNotReadyError(f"claim {where}: a binding failure condition of a device is true")
        return Readiness.WAITING not in states

    def _seconds_left(self, task: _Task) -> float:
        """Return how long may still be waited. Raises DevicesNotReadyError when the time is up."""
        now = self._clock.now()
        limit = timedelta(seconds=self._settings.binding_timeout)
        for claim in task.reserved:
            since = allocated_at(claim.raw) or now
            if readiness(claim.raw) is Readiness.WAITING and now >= since + limit:
                raise DevicesNotReadyError(f"device binding timeout: claim={claim.namespace}/{claim.name}")
        ends = [(allocated_at(claim.raw) or now) + limit for claim in task.reserved]
        return max(0.001, (min(ends) - now).total_seconds())

    async def _undo(self, task: _Task, *, deallocate: bool = False) -> None:
        """Take back the reservations, then forget. What cannot be taken back is left to the next attempt."""
        await self._nominate(task, "")
        for claim in task.reserved:
            if claim is not task.special:
                await self.release(claim, task.ref, deallocate=deallocate)
        if task.special is not None:
            await self._special.discard(task.special, task.ref)
        if task.told:
            await self._untell(task)
        special = task.bind.special
        made_up = [] if special is None else [special.claim.spec.uid]
        real = [] if task.special is None else [task.special.uid]
        self._cluster.forget(task.pod, [*(plan.uid for plan in task.bind.claims), *made_up, *real])

    async def _untell(self, task: _Task) -> None:
        try:
            await self._pods.no_node_resources(task.ref)
        except (WriteError, ApiStatusError, TransportError) as error:
            # The next attempt overwrites it, and nobody counts it while the pod has no node.
            _log.info("nodeAllocatableResourceClaimStatuses not cleared pod=%s error=%s", task.ref, error)

    async def discard(self, claim: Claim, pod: PodRef) -> bool:
        """Delete the claim for extended resources that an earlier attempt has left; whether it is done."""
        return await self._special.discard(claim, pod)

    async def release(self, claim: Claim, pod: PodRef, *, deallocate: bool) -> bool:
        """Remove the pod's reservation, and the allocation too if asked and nobody else uses it; whether it is done."""
        ref = ClaimRef(claim.namespace, claim.name, claim.uid)
        try:
            async with self._locks.hold(claim.uid):
                live = await self._claims.unreserve(ref, pod.uid) if pod.uid in claim.reserved_for else claim.raw
                if live is not None:
                    self._cluster.learn_claim(live)
                if live is None or not deallocate:
                    return True
                answer = await self._claims.deallocate(live)
                if answer is not None:
                    self._cluster.learn_claim(answer)
                return True
        except (WriteError, ApiStatusError, TransportError) as error:
            _log.warning("not taken back, the next attempt takes it up pod=%s claim=%s error=%s", pod, ref, error)
            return False
