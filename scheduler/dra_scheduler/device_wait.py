"""The Wait between a pod's claims and its binding: for the binding conditions of its devices (KEP-5007), and its group.

    look --all true, the group may go--> done          a failure condition, or time is up: DevicesNotReadyError
      ^   +---something is missing---> wait            the pod, or an allocation, is gone: BindLost-, ClaimLostError
      +------ woken by signals --------+               too few of the group are left: GroupBrokenError

Time counts from the allocation on (`allocationTimestamp`), so a scheduler that starts anew goes on where the last one
ended. It never takes an allocation back: the pod's next attempt finds the devices unusable, and gives them up then.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from dra_allocator.outcome import AllocationResult
from dra_api.clock import Clock
from dra_scheduler.cache.claim_store import Claim
from dra_scheduler.cache.cluster import Cluster
from dra_scheduler.cycle.decision import Wait
from dra_scheduler.errors import SchedulerError
from dra_scheduler.gang.together import Together
from dra_scheduler.readiness import Readiness, allocated_at, failure, readiness
from dra_scheduler.signals import DEVICES_CHANGED, Signals
from dra_scheduler.slots import Slot
from dra_scheduler.writes.claim_bodies import is_reserved
from dra_scheduler.writes.errors import BindLostError, ClaimLostError
from dra_scheduler.writes.refs import Consumer, PodRef

DEVICES = "waiting for the binding conditions of its devices"


class DevicesNotReadyError(SchedulerError):
    """The devices' binding conditions failed, or were not true in time: their driver's or the device's fault."""


@dataclass(frozen=True, slots=True)
class Held:
    """A claim as it was written for a pod: allocated so, and reserved for `who`."""

    claim: Claim
    allocation: AllocationResult | None
    who: Consumer

    def check(self) -> None:
        """Raise ClaimLostError unless that is still so: somebody may have taken it away, and given it to others."""
        name = f"{self.claim.namespace}/{self.claim.name}"
        if self.claim.allocation is None:
            raise ClaimLostError(name, "deallocated meanwhile")
        if self.claim.allocation != self.allocation:
            raise ClaimLostError(name, "allocated otherwise meanwhile")
        if not is_reserved(self.claim.raw, self.who):
            raise ClaimLostError(name, "its reservation was removed meanwhile")


class DeviceWait:
    """Waits for pods. `waiting` has, by uid, what each waits for."""

    def __init__(self, cluster: Cluster, signals: Signals, clock: Clock, timeout: float) -> None:
        """`timeout`: seconds from the allocation on."""
        self._cluster = cluster
        self._signals = signals
        self._clock = clock
        self._limit = timedelta(seconds=timeout)
        self.waiting: dict[str, Wait] = {}

    async def until_ready(
        self,
        pod: PodRef,
        held: Sequence[Held],
        begin: Callable[[str], Awaitable[None]],
        *,
        look: Callable[[], None],
        together: Together | None = None,
        slot: Slot | None = None,
    ) -> None:
        """Return once the pod may be bound; `begin` is told the reason when the pod has to wait.

        The place for writing is given to others meanwhile. `look` is called whenever something has changed, devices
        and taints included, and at the end; it ends the wait by raising. Raises that, and the errors above.
        """
        claims = [one.claim for one in held]
        until = (pod.uid, *(claim.uid for claim in claims), DEVICES_CHANGED)
        begun = self._clock.now()
        with self._signals.listen(until) as changed:
            try:
                while True:
                    # Before looking, so that nothing that happens after the look is missed.
                    changed.clear()
                    ready = self._ready(pod, held)
                    look()
                    if together.may_go(pod.uid, ready=ready) if together is not None else ready:
                        break
                    reason = DEVICES if together is None or not ready else f"waiting for others of {together.group}"
                    await begin(reason)
                    seconds = self._seconds_left(claims, begun)
                    self.waiting[pod.uid] = Wait(reason, until, seconds)
                    if slot is not None:
                        slot.give()
                    with contextlib.suppress(TimeoutError):
                        async with asyncio.timeout(seconds):
                            await changed.wait()
            finally:
                self.waiting.pop(pod.uid, None)
        if slot is not None:
            await slot.take()
            # That may have taken long, too: other pods' writes are repeated until their outcome is known.
            self._ready(pod, held)
            look()

    def _ready(self, pod: PodRef, held: Sequence[Held]) -> bool:
        if self._cluster.pods.get(pod.uid) is None:
            raise BindLostError(f"pod {pod}: deleted before it was bound")
        states = []
        for one in held:
            one.check()
            claim = one.claim
            states.append(self._state(claim))
            if states[-1] is Readiness.FAILED:
                raise DevicesNotReadyError(f"claim {claim.namespace}/{claim.name}: {failure(claim.raw)}")
        return Readiness.WAITING not in states

    def _state(self, claim: Claim) -> Readiness:
        return readiness(claim.raw) if self._cluster.features.binding_conditions else Readiness.READY

    def _seconds_left(self, claims: Sequence[Claim], begun: datetime) -> float | None:
        """Return how long devices may still be waited for, None if they are not. Raises DevicesNotReadyError.

        Where others have written no time with the allocation, time counts from when this pod has `begun` to wait.
        """
        now = self._clock.now()
        waiting = [claim for claim in claims if self._state(claim) is Readiness.WAITING]
        for claim in waiting:
            if now >= (allocated_at(claim.raw) or begun) + self._limit:
                raise DevicesNotReadyError(f"device binding timeout: claim={claim.namespace}/{claim.name}")
        if not waiting:
            return None
        ends = [(allocated_at(claim.raw) or begun) + self._limit for claim in waiting]
        return max(0.001, (min(ends) - now).total_seconds())
