"""From a decision to a pod on its node: one bind task per pod, many at a time.

    claims: finalizer, allocation + reservation --> rivals? --> devices ready? --> binding --> done
        |  each step: lost or refused                |              |  [Wait]         |
        +--------------------------------------------+--------------+-----------------+--> undo, forget, again

* What was assumed stays assumed until it is certain that it does not hold. No answer is no certainty: the step is asked
  again until there is one (`UnknownOutcomeError`), however long that takes. A refusal soon after is none either.
* Undoing removes our reservation only. The allocation stays, and the next attempt uses it; it is cleared when a rival
  was first, or when it fits no node any more, and then only if nobody uses it.
* A process that ends anywhere in between leaves claims that are allocated and perhaps reserved for a pod without a
  node. The next one finds them so and takes them up again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from dra_allocator.outcome import AllocationResult
from dra_api import encode
from dra_api.clock import Clock
from dra_api.transport import TransportError
from dra_scheduler.cache.claim_store import Claim
from dra_scheduler.cache.cluster import Cluster
from dra_scheduler.cache.pod_info import PodInfo
from dra_scheduler.client.errors import ApiStatusError, ConflictError
from dra_scheduler.cycle.decision import Bind, ClaimPlan, SpecialPlan, Wait
from dra_scheduler.device_wait import DEVICES, DevicesNotReadyError, DeviceWait, Held
from dra_scheduler.gang.consumers import consumer
from dra_scheduler.gang.together import GroupBrokenError, Together
from dra_scheduler.locks import Locks
from dra_scheduler.released import Released
from dra_scheduler.rivals import RivalError, check_rivals
from dra_scheduler.settings import Settings
from dra_scheduler.signals import Signals
from dra_scheduler.slots import Slot
from dra_scheduler.special_claims import SpecialClaims
from dra_scheduler.tainted import DeviceTaintedError, check_taints
from dra_scheduler.vanished import NodeGoneError, check_node
from dra_scheduler.writes.binding_writer import BindingWriter
from dra_scheduler.writes.claim_bodies import reserved_for
from dra_scheduler.writes.claim_writer import ClaimWriter
from dra_scheduler.writes.condition_writer import ConditionWriter
from dra_scheduler.writes.errors import (
    BindingPermissionError,
    BindLostError,
    ClaimLostError,
    ClaimRefusedError,
    NotWriterError,
    UnknownOutcomeError,
    WriteError,
)
from dra_scheduler.writes.pod_status_writer import NODE_RESOURCES, PodStatusWriter
from dra_scheduler.writes.refs import ClaimRef, Consumer, GroupRef, PodRef

FIRST_DELAY = 0.5
DELAY_CAP = 10.0
"""Seconds between two questions about an unknown outcome."""
REQUEST_TIMEOUT = 60.0
"""Seconds after which API servers give up a request (their --request-timeout): a write comes no later than that."""

_log = logging.getLogger(__name__)
_T = TypeVar("_T")


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
    """A pod on its way: the claims whose reservation has been written are `held`.

    `unsettled` are the claims (uids) that were written with an unknown outcome. `special` is the claim that was made
    for its extended resources, `told` what its status says about its devices.
    """

    pod: PodInfo
    ref: PodRef
    bind: Bind
    together: Together | None = None
    slot: Slot | None = None
    waits: Callable[[bool], None] = lambda devices: None
    held: list[Held] = field(default_factory=list)
    unsettled: set[str] = field(default_factory=set)
    contested: int = 0
    nominated: bool = False
    special: Claim | None = None
    told: bool = False
    waited: str = ""

    @property
    def reserved(self) -> list[Claim]:
        return [one.claim for one in self.held]

    def hold(self, claim: Claim, who: Consumer) -> None:
        """The claim has just been written."""
        self.held.append(Held(claim, claim.allocation, who))


def _decided(bind: Bind) -> tuple[AllocationResult, ...]:
    """Return the allocations that are new with this decision."""
    special = () if bind.special is None else (bind.special.allocation,)
    return (*(plan.allocation for plan in bind.claims if plan.allocation is not None), *special)


def _check_stands(pod: PodInfo, plan: ClaimPlan, claim: Claim) -> None:
    """Raise ClaimLostError if a claim's devices are not, or not to be, the decided ones any more.

    Before its turn comes others may have given them up, and put the claim elsewhere or given the devices to others.
    """
    if plan.allocation is None:
        if claim.allocation != plan.found:
            raise ClaimLostError(f"{plan.namespace}/{plan.name}", "allocated otherwise meanwhile")
    elif claim.allocation is None and pod.uid not in claim.sharers:
        raise ClaimLostError(f"{plan.namespace}/{plan.name}", "deallocated meanwhile")


class Binder:
    """Carries out decisions."""

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
        self._wait = DeviceWait(cluster, signals, clock, settings.binding_timeout)

    @property
    def waiting(self) -> Mapping[str, Wait]:
        """What pods wait for in the middle of being bound, by uid."""
        return self._wait.waiting

    async def run(
        self,
        pod: PodInfo,
        bind: Bind,
        *,
        together: Together | None = None,
        slot: Slot | None = None,
        waits: Callable[[bool], None] = lambda devices: None,
    ) -> BindOutcome:
        """Write what was decided; on failure undo it and forget what was assumed. Never raises for what may happen.

        `together`: the other pods of its group, without enough of which it is not bound. `slot`: its place for writing.
        `waits` is called when the pod begins to wait for its devices (true) or its group.
        """
        task = _Task(pod, PodRef(pod.namespace, pod.name, pod.uid), bind, together, slot, waits)
        try:
            await self._carry_out(task)
        except RivalError as error:
            await self._undo(task, deallocate=True)
            return BindOutcome(False, str(error), conflict=True, contested=1)
        except (DeviceTaintedError, NodeGoneError) as error:
            await self._undo(task, deallocate=True)
            return BindOutcome(False, str(error), conflict=True)
        except GroupBrokenError as error:
            # Nothing of the group may keep devices that others could use.
            await self._undo(task, deallocate=True)
            return BindOutcome(False, str(error), conflict=True)
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
        await self._write_node_resources(task)
        if task.bind.placed:
            # Its kubelet may have started it with what was written, so nothing can be a reason to take it back.
            return
        self._look_for_rivals(task)
        await self._wait.until_ready(
            task.ref,
            task.held,
            partial(self._begin_wait, task),
            look=partial(self._look, task),
            together=task.together,
            slot=task.slot,
        )
        # Once more: the wait may have been long.
        self._look_for_rivals(task)
        if task.bind.special is not None:
            await self._tell_special(task, task.bind.special)
            self._look(task)
        await self._until_known(lambda: self._bindings.bind(task.ref, task.bind.node))

    def _look(self, task: _Task) -> None:
        """Raise if the decision no longer stands."""
        check_taints(self._cluster, _decided(task.bind))
        check_node(self._cluster, task.bind.node)

    def _look_for_rivals(self, task: _Task) -> None:
        contested = check_rivals(self._cluster, task.reserved)
        if len(contested) > task.contested:
            devices = ", ".join(map(str, contested))
            _log.warning("devices allocated twice, the other allocation is later pod=%s devices=%s", task.ref, devices)
        task.contested = len(contested)

    async def _write_claim(self, task: _Task, plan: ClaimPlan) -> None:
        # Several pods may have decided the same claim: the first writes the allocation, the others join it.
        async with self._locks.hold(plan.uid):
            if plan.uid not in task.unsettled:
                self._check_there(task)
            claim = self._cluster.claims.by_uid(plan.uid)
            if claim is None:
                raise ClaimLostError(f"{plan.namespace}/{plan.name}", "deleted meanwhile")
            _check_stands(task.pod, plan, claim)
            wanted = None if plan.allocation is None else encode.allocation(plan.allocation)
            who = consumer(task.pod, claim, self._cluster)
            try:
                answer = await self._claims.allocate_and_reserve(claim.raw, wanted, who)
            except UnknownOutcomeError:
                # It may still take effect, also for a pod that is gone. Another write puts an end to that: of the two
                # only one can follow the claim's resourceVersion.
                task.unsettled.add(plan.uid)
                raise
            self._cluster.learn_claim(answer)
            task.hold(claim, who)
            self._check_there(task)

    def _check_there(self, task: _Task) -> None:
        """Raise if the pod was deleted, or ended: it may hold nothing, and nobody else would take it back for it."""
        if self._cluster.pods.get(task.pod.uid) is None:
            raise BindLostError(f"pod {task.ref}: deleted while its claims were written")

    async def _write_special(self, task: _Task, plan: SpecialPlan) -> None:
        """Make the claim for the pod's extended resources, as any other one then (KEP-5004)."""
        claim = task.special = await self._special.make(task.ref, plan, self._until_known)
        await self._until_known(lambda: self._special.allocate(task.ref, plan, claim))
        task.hold(claim, Consumer.of(task.ref))

    async def _tell_special(self, task: _Task, plan: SpecialPlan) -> None:
        """Name the special claim in the pod's status: last of all, because the API server never lets it be cleared."""
        claim = task.special
        if claim is not None:
            await self._until_known(lambda: self._special.tell(task.ref, plan, claim))

    async def _write_node_resources(self, task: _Task) -> None:
        """Say in the pod's status what its devices take of the node, in the place of what an earlier attempt said."""
        now = self._cluster.pods.get(task.pod.uid) or task.pod
        if task.bind.node_resources:
            task.told = True
            await self._until_known(lambda: self._pods.node_resources(task.ref, task.bind.node_resources))
        elif (now.raw.get("status") or {}).get(NODE_RESOURCES):
            await self._until_known(lambda: self._pods.no_node_resources(task.ref))

    async def _until_known(self, ask: Callable[[], Awaitable[_T]]) -> _T:
        delay = FIRST_DELAY
        unknown_at: float | None = None
        while True:
            try:
                return await ask()
            except UnknownOutcomeError as error:
                unknown_at = self._clock.monotonic()
                _log.warning("outcome of a write is unknown, asking again: %s", error)
            except (ApiStatusError, BindingPermissionError, NotWriterError) as error:
                if unknown_at is None or self._clock.monotonic() - unknown_at >= REQUEST_TIMEOUT:
                    raise
                _log.warning("refused, but what was sent before may still take effect, asking again: %s", error)
            await asyncio.sleep(delay)
            delay = min(delay * 2, DELAY_CAP)

    async def _begin_wait(self, task: _Task, reason: str) -> None:
        if task.waited != reason:
            task.waited = reason
            task.waits(reason == DEVICES)
        await self._nominate(task, task.bind.node)

    async def _nominate(self, task: _Task, node: str) -> None:
        """Say where the pod will go before it waits, and take it back ("") if it does not: autoscalers read it."""
        if task.nominated != bool(node):
            task.nominated = bool(node)
            await self.nominate(task.ref, node)

    async def nominate(self, pod: PodRef, node: str) -> None:
        """Say where a pod will go; "": nowhere, whatever has been said. It is only advice, so it may fail."""
        try:
            await self._conditions.nominate(pod, node)
        except (WriteError, ApiStatusError, TransportError) as error:
            _log.warning("nominatedNodeName not written pod=%s error=%s", pod, error)

    async def _undo(self, task: _Task, *, deallocate: bool = False) -> None:
        """Take back the reservations, then forget. What cannot be taken back is left to the next attempt."""
        now = self._cluster.pods.get(task.pod.uid)
        if task.bind.placed or now is None or not now.node_name:
            await self._take_back(task, deallocate)
        # Else somebody has bound it meanwhile, and it may be using what it has.
        special = task.bind.special
        made_up = [] if special is None else [special.claim.spec.uid]
        real = [] if task.special is None else [task.special.uid]
        self._cluster.forget(task.pod, [*(plan.uid for plan in task.bind.claims), *made_up, *real])

    async def _take_back(self, task: _Task, deallocate: bool) -> None:
        await self._nominate(task, "")
        for claim in task.reserved:
            if claim is not task.special:
                await self.release(claim, task.ref, deallocate=deallocate)
        if task.special is not None:
            await self._special.discard(task.special, task.ref)
        if task.told:
            await self._untell(task)

    async def _untell(self, task: _Task) -> None:
        try:
            await self._pods.no_node_resources(task.ref)
        except (WriteError, ApiStatusError, TransportError) as error:
            # The next attempt overwrites it, and nobody counts it while the pod has no node.
            _log.info("nodeAllocatableResourceClaimStatuses not cleared pod=%s error=%s", task.ref, error)

    async def discard(self, claim: Claim, pod: PodRef) -> Released:
        """Delete the claim for extended resources that an earlier attempt has left."""
        return await self._special.discard(claim, pod)

    async def release(
        self, claim: Claim, pod: PodRef | GroupRef, *, deallocate: bool, may: Callable[[], bool] = lambda: True
    ) -> Released:
        """Remove a pod's or group's reservation, and if asked the allocation too unless somebody else uses it.

        `may` is asked when no pod of ours is writing the claim any more: one may just have reserved it for its group.
        """
        ref = ClaimRef(claim.namespace, claim.name, claim.uid)
        try:
            async with self._locks.hold(claim.uid):
                if not may():
                    return Released.IN_USE
                live = await self._claims.unreserve(ref, pod.uid) if pod.uid in claim.reserved_for else claim.raw
                if live is not None:
                    self._cluster.learn_claim(live)
                if live is None or not deallocate:
                    return Released.DONE
                if reserved_for(live):
                    return Released.IN_USE
                answer = await self._claims.deallocate(live)
                if answer is not None:
                    self._cluster.learn_claim(answer)
                return Released.DONE
        except (WriteError, ApiStatusError, TransportError) as error:
            _log.warning("not taken back, the next attempt takes it up of=%s claim=%s error=%s", pod, ref, error)
            return Released.FAILED
