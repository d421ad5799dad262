"""What a group that could not be scheduled gives up, so that its next attempt can have other devices.

Only allocations that nobody can be using go, as everywhere: those reserved for nobody, or only for pods of the group
that wait, or only for the group itself while none of its pods has a node, or had one decided. A pod of the group that
has had a node decided uses the claims that it names, reserved or not yet.

1. A claim whose allocation fits no node any more, or whose devices were not ready in time (kube-scheduler: per pod).
2. Where a pod found no devices: all that the group's waiting pods still hold from earlier. A gang whose binding ended
   half-way would otherwise stand in its own way for ever. (kube-scheduler leaves these.)
3. Where there is nothing of that kind: the group's reservation of its claims (kube-scheduler too); the allocation is
   then unused, and goes in the next attempt if it is in the way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from dra_scheduler.binding import Binder
from dra_scheduler.cache.claim_store import Claim
from dra_scheduler.cache.cluster import Cluster
from dra_scheduler.cache.pod_group import PodGroup
from dra_scheduler.cache.pod_info import PodInfo
from dra_scheduler.cycle.decision import Reject
from dra_scheduler.gang.consumers import group_ref
from dra_scheduler.gang.group_cycle import GroupDecision
from dra_scheduler.gang.rules import GROUP_CLAIMS
from dra_scheduler.queue.hints import uses
from dra_scheduler.released import Released
from dra_scheduler.writes.refs import GroupRef, PodRef

DEALLOCATED = "deallocation of ResourceClaim completed"
DELETED = "deletion of ResourceClaim completed"
GROUP_DEALLOCATED = "deallocation of PodGroup ResourceClaim completed"
UNRESERVED = "ResourceClaim unreserved for PodGroup"
"""kube-scheduler's texts."""


@dataclass(frozen=True, slots=True)
class GivenUp:
    """What was undone (kube-scheduler's text, the first of all), and whether something could not be."""

    done: str = ""
    failed: bool = False

    def then(self, released: Released, text: str) -> GivenUp:
        """Return what it is after one more attempt."""
        done = text if released is Released.DONE else ""
        return GivenUp(self.done or done, self.failed or released is Released.FAILED)


NOTHING = GivenUp()
"""Nothing was tried."""


class GivingUp:
    """Writes; nothing of the group is decided meanwhile."""

    def __init__(self, cluster: Cluster, binder: Binder) -> None:
        self._cluster = cluster
        self._binder = binder

    async def after(self, decision: GroupDecision) -> GivenUp:
        """Give up what is in the way of a group."""
        group = decision.group
        waiting = {pod.uid: pod for pod, _ in decision.decisions}
        rejects = [(pod, reject) for pod, reject in decision.decisions if isinstance(reject, Reject)]
        stuck = {uid for _, reject in rejects for uid in reject.release}
        given = NOTHING
        for claim in self._claims(rejects, stuck):
            if claim.special and claim.owner_uid in waiting:
                pod = waiting[claim.owner_uid]
                ref = PodRef(pod.namespace, pod.name, pod.uid)
                given = given.then(await self._binder.discard(claim, ref), DELETED)
            else:
                text = GROUP_DEALLOCATED if group.uid in claim.reserved_for else DEALLOCATED
                given = given.then(await self._deallocate(claim, group, waiting), text)
        if not given.done and (stuck or _lacks_devices(rejects)):
            return await self._unreserve(group, given)
        return given

    async def let_go(self, group: PodGroup) -> None:
        """Give up the claims of a group whose pods were all undone."""
        for claim in self._group_claims(group):
            await self._deallocate(claim, group, {})

    def _claims(self, rejects: Iterable[tuple[PodInfo, Reject]], stuck: set[str]) -> Iterator[Claim]:
        """Return the claims to give up, each once."""
        found: dict[str, Claim] = {}
        lacking = _lacks_devices(rejects)
        for pod, _ in rejects:
            for entry in pod.claims:
                claim = self._cluster.claims.get(pod.namespace, entry.claim_name) if entry.claim_name else None
                if claim is not None and claim.allocation is not None and (lacking or claim.uid in stuck):
                    found[claim.uid] = claim
            special = self._cluster.claims.special_of(pod.uid)
            if special is not None and special.uid in stuck:
                found[special.uid] = special
        yield from found.values()

    async def _deallocate(self, claim: Claim, group: PodGroup, waiting: dict[str, PodInfo]) -> Released:
        """Give up one claim if nobody else can be using it."""
        users = self._users(claim, group, waiting)
        if claim.allocation is None or users is None:
            return Released.IN_USE

        def unused() -> bool:
            return self._users(claim, group, waiting) is not None

        for user in users[:-1]:
            released = await self._binder.release(claim, user, deallocate=False, may=unused)
            if released is not Released.DONE:
                return released
        last = users[-1] if users else group_ref(group)
        return await self._binder.release(claim, last, deallocate=True, may=unused)

    def _users(self, claim: Claim, group: PodGroup, waiting: dict[str, PodInfo]) -> list[PodRef | GroupRef] | None:
        """Return who has the claim reserved; None: somebody else has, or a pod of the group that has a node uses it."""
        if any(uses(pod, claim.namespace, claim.name) for pod in self._cluster.groups.placed(group.key)):
            return None
        users: list[PodRef | GroupRef] = []
        for uid in claim.reserved_for:
            pod = waiting.get(uid)
            if pod is not None:
                users.append(PodRef(pod.namespace, pod.name, pod.uid))
            elif uid == group.uid and self._may_take_from(group):
                users.append(group_ref(group))
            else:
                return None
        return users

    def _may_take_from(self, group: PodGroup) -> bool:
        """Whether reservations for the group are ours to remove: none of its pods has a node."""
        return self._cluster.gates.enabled(GROUP_CLAIMS) and not self._cluster.groups.placed(group.key)

    async def _unreserve(self, group: PodGroup, given: GivenUp) -> GivenUp:
        if not self._may_take_from(group):
            return given
        for claim in self._group_claims(group):
            held = claim.allocation is not None and group.uid in claim.reserved_for
            if held:
                released = await self._binder.release(
                    claim, group_ref(group), deallocate=False, may=lambda: self._may_take_from(group)
                )
                given = given.then(released, UNRESERVED)
            if given.done:
                break
        return given

    def _group_claims(self, group: PodGroup) -> list[Claim]:
        if not self._cluster.gates.enabled(GROUP_CLAIMS):
            return []
        claims = (self._cluster.claims.get(group.namespace, name) for name in group.claim_names)
        return [claim for claim in claims if claim is not None]


def _lacks_devices(rejects: Iterable[tuple[PodInfo, Reject]]) -> bool:
    return any("DynamicResources" in reject.plugins and not reject.error for _, reject in rejects)
