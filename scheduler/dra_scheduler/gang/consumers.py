"""For whom a pod's claim is reserved: for the pod, or for its PodGroup if the claim is the group's (KEP-5729)."""

from __future__ import annotations

from dra_scheduler.cache.claim_store import Claim
from dra_scheduler.cache.cluster import Cluster
from dra_scheduler.cache.pod_group import PodGroup
from dra_scheduler.cache.pod_info import PodInfo
from dra_scheduler.gang.rules import GROUP_CLAIMS
from dra_scheduler.writes.refs import Consumer, GroupRef, PodRef


def consumer(pod: PodInfo, claim: Claim, cluster: Cluster) -> Consumer:
    """Return the entry of `status.reservedFor` with which the pod may use the claim."""
    group = cluster.groups.of(pod) if cluster.gates.enabled(GROUP_CLAIMS) else None
    entries = [entry for entry in pod.claims if entry.claim_name == claim.name]
    if group is not None and any(group.owns(entry) for entry in entries):
        return Consumer.of(group_ref(group))
    return Consumer.of(PodRef(pod.namespace, pod.name, pod.uid))


def group_ref(group: PodGroup) -> GroupRef:
    """Return the reference to a group."""
    return GroupRef(group.namespace, group.name, group.uid)
