"""What the pods of a group have been given so far: assumed, but told to nobody until all is decided.

    begin --add, reassign--> tried --commit--> decided: told, and to be written
                               +-----revert--> as it was before

The pods are assumed for real and not in an overlay: filters over resources, ports and other pods look at the cluster's
tables. Nothing else is decided meanwhile; who observes the cluster between two slices sees devices taken that may be
free again soon, which costs at most another attempt.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from dra_allocator.outcome import AllocationResult
from dra_scheduler.cache.claim_store import Claim
from dra_scheduler.cache.cluster import Cluster
from dra_scheduler.cache.pod_info import PodInfo
from dra_scheduler.cycle.decision import Bind
from dra_scheduler.queue.scheduling_queue import may_matter


@dataclass(frozen=True, slots=True)
class Placed:
    """A pod with what was decided for it; `shares` are the claims (uids) whose new allocation it takes part in."""

    pod: PodInfo
    bind: Bind
    shares: tuple[str, ...]


class Trial:
    """The pods placed so far, in order."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self.placed: dict[str, Placed] = {}

    def __len__(self) -> int:
        return len(self.placed)

    def add(self, pod: PodInfo, bind: Bind) -> None:
        """A pod was decided, and assumed."""
        self.placed[pod.uid] = Placed(pod, bind, bind.new_claims)

    def node_of(self, pod_uid: str) -> str:
        """Return the node of a placed pod."""
        return self.placed[pod_uid].bind.node

    def nodes(self) -> list[str]:
        """Return the nodes that pods were placed on, in that order."""
        return list(dict.fromkeys(placed.bind.node for placed in self.placed.values()))

    def giver(self, claim_uid: str) -> str | None:
        """Return the pod with which a claim was allocated in this trial."""
        return next((uid for uid, placed in self.placed.items() if claim_uid in placed.shares), None)

    def own_claims(self, node: str) -> list[Claim]:
        """Return the claims allocated in this trial whose pods are all on this node."""
        here = {uid for uid, placed in self.placed.items() if placed.bind.node == node}
        return [claim for claim in self.claims() if claim.sharers <= here]

    def claims(self) -> list[Claim]:
        """Return the claims allocated in this trial, for its pods only: they can be allocated anew."""
        uids = dict.fromkeys(share for placed in self.placed.values() for share in placed.shares)
        claims = (self._cluster.claims.by_uid(uid) for uid in uids)
        return [c for c in claims if c is not None and c.spec is not None and c.sharers <= self.placed.keys()]

    def reassign(self, results: Iterable[tuple[Claim, AllocationResult]]) -> None:
        """Give claims of the trial other devices."""
        for claim, result in results:
            for pod_uid in sorted(claim.sharers):
                self._cluster.claims.assume(claim.uid, result, pod_uid)

    def intact(self) -> bool:
        """Whether all placed pods are still there to be bound, and want what they wanted."""
        for uid, placed in self.placed.items():
            now = self._cluster.pods.get(uid)
            if now is None or now.node_name or now.deleting or may_matter(placed.pod, now):
                return False
        return True

    def revert(self) -> None:
        """The exact inverse of all that was assumed."""
        for placed in reversed(self.placed.values()):
            self._cluster.forget(placed.pod, placed.shares, tell=False)
        self.placed.clear()

    def commit(self) -> Mapping[str, Bind]:
        """Tell what was decided; returns the decisions by pod, with the devices as they are now."""
        binds = {uid: self._final(placed) for uid, placed in self.placed.items()}
        for uid in self.placed:
            self._cluster.tell_placed(uid)
        self.placed.clear()
        return binds

    def _final(self, placed: Placed) -> Bind:
        plans = []
        for plan in placed.bind.claims:
            claim = self._cluster.claims.by_uid(plan.uid)
            now = None if claim is None or claim.allocation is not None else claim.assumed
            plans.append(replace(plan, allocation=now) if now is not None else plan)
        return replace(placed.bind, claims=tuple(plans))
