"""Comparing a pod that the cluster's scheduler has bound with what we think of it."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from dra_allocator.allocator import Allocator
from dra_allocator.outcome import Allocation, AllocationError, AllocationResult, ClaimAllocation, OutOfBudget
from dra_allocator.view import View
from dra_api.clock import Clock
from dra_scheduler.cache.claim_store import Claim
from dra_scheduler.cache.cluster import Cluster
from dra_scheduler.cache.pod_info import PodInfo
from dra_scheduler.cycle.budget import TimeBudget
from dra_scheduler.report.explanation import summary, viewer_of
from dra_scheduler.shadow.opinion import Compared, Devices, Kind, Opinion

SECONDS = 0.005
"""How long a choice of the other scheduler may be looked at; what takes longer is not contradicted."""


class Judge:
    """Knows whether another scheduler's choice is one that we could have made. Reads the cluster only."""

    def __init__(self, cluster: Cluster, allocator: Allocator, clock: Clock) -> None:
        self._cluster = cluster
        self._allocator = allocator
        self._clock = clock

    def compare(
        self,
        pod: PodInfo,
        opinion: Opinion | None,
        claims: list[Claim],
        bound_at: float,
        assumed: Collection[str] = (),
    ) -> Compared:
        """Compare; nothing of what we assumed for the pod may be held any more. `claims` are the pod's own.

        `assumed` are the uids of the claims that we assume to be allocated for other pods: the other scheduler owes
        them no device.
        """
        theirs = devices_of((claim, claim.allocation) for claim in claims)
        ours: Devices = {} if opinion is None else opinion.devices
        known = {name: found for name, found in theirs.items() if name in ours} if ours else theirs
        against = self._against(pod, claims, assumed)
        kind: Kind
        if against:
            kind = "only-theirs"
        elif opinion is None or opinion.refusal:
            kind = "first"
        elif opinion.node != pod.node_name:
            kind = "other-node"
        else:
            kind = "same" if known == ours else "other-devices"
        return Compared(
            kind,
            pod.namespace,
            pod.name,
            pod.scheduler_name,
            our_node="" if opinion is None else opinion.node,
            our_devices=ours,
            their_node=pod.node_name,
            their_devices=theirs,
            text=against or ("" if opinion is None else opinion.refusal),
            our_seconds=None if opinion is None or opinion.refusal else opinion.decided_at - opinion.ready_at,
            their_seconds=None if opinion is None else bound_at - opinion.ready_at,
        )

    def _against(self, pod: PodInfo, claims: list[Claim], assumed: Collection[str]) -> str:
        """Say why the claims that only this pod uses do not fit on its node as if they were not allocated."""
        own = [
            c for c in claims if c.spec is not None and c.allocation is not None and c.reserved_for in ((), (pod.uid,))
        ]
        if not own or self._cluster.devices.node_id(pod.node_name) is None:
            return ""
        uids = [claim.uid for claim in own]
        against = self._misfit(pod, own, self._cluster.view().without(uids))
        if against and assumed:
            # Rare, and needs a look at everything assumed: what fits beside all of that fits without it too.
            against = self._misfit(pod, own, self._as_they_saw({*uids}, assumed))
        return against

    def _misfit(self, pod: PodInfo, own: list[Claim], view: View) -> str:
        specs = [claim.spec for claim in own if claim.spec is not None]
        attempt = self._allocator.allocate(view, specs, [pod.node_name], limit=TimeBudget(self._clock, SECONDS))
        outcome = attempt.step(TimeBudget(self._clock, SECONDS))
        if outcome is None or isinstance(outcome, Allocation | OutOfBudget):
            return ""
        if isinstance(outcome, AllocationError):
            return str(outcome)
        return summary(outcome.explain(), viewer_of(self._cluster.claims, None))

    def _as_they_saw(self, own: set[str], assumed: Collection[str]) -> View:
        """Return what is held by the API's word alone, with nothing of the pod's own claims."""
        others = [uid for uid in assumed if uid not in own]
        known = [claim for uid in others if (claim := self._cluster.claims.by_uid(uid)) is not None]
        observed = [ClaimAllocation(claim.uid, claim.allocation) for claim in known if claim.allocation is not None]
        return self._cluster.view().without([*own, *others]).plus(observed)


def devices_of(claims: Iterable[tuple[Claim, AllocationResult | None]]) -> dict[str, tuple[str, ...]]:
    """Return the devices of claims, as data that can be compared."""
    return {
        claim.name: tuple(sorted(f"{entry.request}={entry.device}" for entry in result.devices))
        for claim, result in claims
        if result is not None
    }
