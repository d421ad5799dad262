"""Rejections that still hold: pods that ask for the same get the same answer as long as nothing has changed.

After an event that may help, all pods that wait for devices are tried again. Of a thousand that ask for the same only
as many can get something as became free; the others need not search all nodes each.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Iterator
from dataclasses import dataclass

from dra_allocator.rejection import ClaimRejection, Explain, Explanation
from dra_scheduler.cache.claim_store import Claim
from dra_scheduler.cache.cluster import Cluster
from dra_scheduler.cache.pod_info import PodInfo
from dra_scheduler.cycle.decision import Reject
from dra_scheduler.cycle.node_resources import GATE as NODE_RESOURCES
from dra_scheduler.cycle.pod_claims import PodClaims

State = tuple[int, ...]


class RejectionMemo:
    """Remembers what was rejected in the present state of the cluster; a change of it empties the memory."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._state: State | None = None
        self._known: dict[Hashable, Reject] = {}

    def state(self) -> State:
        """Return the versions of everything that a rejection may depend on."""
        cluster = self._cluster
        versions = cluster.nodes.version, cluster.pods.placements, cluster.ledger.version, cluster.devices.version
        return (*versions, cluster.namespaces_version)

    def get(self, pod: PodInfo, claims: PodClaims) -> Reject | None:
        """Return the rejection of a pod that asked for the same, told for the claims of this one."""
        if self._state != self.state():
            self._known.clear()
            return None
        key = _key(pod, claims, self._cluster)
        known = None if key is None else self._known.get(key)
        if known is None or known.explain is None:
            return known
        return dataclasses.replace(known, explain=_Retold(known.explain, claims.unallocated))

    def put(self, pod: PodInfo, claims: PodClaims, reject: Reject, state: State) -> None:
        """Remember a rejection that was made in `state`, unless that has passed."""
        key = _key(pod, claims, self._cluster)
        if reject.kind != "unschedulable" or reject.before_filters or key is None or state != self.state():
            return
        if self._state != state:
            self._known.clear()
            self._state = state
        self._known[key] = reject


@dataclass(frozen=True, slots=True)
class _Retold:
    """The explanation with the names of other claims."""

    explain: Explain
    claims: tuple[Claim, ...]

    def __call__(self, node: str | None = None, /) -> Explanation:
        told = self.explain(node)
        if len(told.claims) != len(self.claims):
            return told
        names = {entry.claim: f"{claim.namespace}/{claim.name}" for entry, claim in self._pairs(told)}
        claims = tuple(
            dataclasses.replace(entry, claim_uid=claim.uid, claim=names[entry.claim])
            for entry, claim in self._pairs(told)
        )
        together = tuple(dataclasses.replace(one, claim=names.get(one.claim, one.claim)) for one in told.together)
        return dataclasses.replace(told, claims=claims, together=together)

    def _pairs(self, told: Explanation) -> Iterator[tuple[ClaimRejection, Claim]]:
        return zip(told.claims, self.claims, strict=True)


def _key(pod: PodInfo, claims: PodClaims, cluster: Cluster) -> Hashable | None:
    """Return all of a pod that its rejection may depend on; None: it depends on claims that exist once only."""
    if claims.allocated or pod.node_name or pod.unsupported or cluster.claims.special_of(pod.uid) is not None:
        return None
    by_container = cluster.gates.enabled(NODE_RESOURCES) or any("/" in resource for resource in pod.requests)
    return (
        pod.namespace,
        pod.selection,
        tuple(sorted(pod.requests.items())),
        pod.ports,
        tuple(sorted(pod.labels.items())),
        pod.affinity,
        pod.priority,
        pod.never_preempts,
        pod.required_features,
        tuple(claim.wants for claim in claims.unallocated),
        _containers(pod) if by_container else "",
    )


def _containers(pod: PodInfo) -> str:
    """Return what each container asks for: extended resources and what devices take of nodes depend on it."""
    spec = pod.raw["spec"]
    parts = [
        container.get("resources") for key in ("initContainers", "containers") for container in spec.get(key) or ()
    ]
    always = [container.get("restartPolicy") for container in spec.get("initContainers") or ()]
    told = (pod.raw.get("status") or {}).get("extendedResourceClaimStatus") is not None
    return repr((spec.get("resources"), parts, always, spec.get("resourceClaims"), told))
