"""What a PodGroup asks of its pods; the texts are kube-scheduler's where it has any."""

from __future__ import annotations

from collections.abc import Iterable

from dra_scheduler.cache.cluster import Cluster
from dra_scheduler.cache.group_store import group_key
from dra_scheduler.cache.pod_group import PodGroup
from dra_scheduler.cache.pod_info import PodInfo

GROUPS = "GenericWorkload"
GROUP_CLAIMS = "DRAWorkloadResourceClaims"
"""Feature gates."""
UNSCHEDULABLE = "pod group is unschedulable"


def gated(pod: PodInfo, cluster: Cluster) -> str:
    """Return why a pod has to wait for its group, or nothing."""
    if not pod.group or pod.node_name or not cluster.gates.enabled(GROUPS):
        return ""
    group = cluster.groups.of(pod)
    if group is None:
        return f'waiting for pods\'s pod group "{pod.group}" to appear in scheduling queue'
    if group.gang and cluster.groups.count(group_key(pod)) < group.min_count:
        return "waiting for minCount pods from a gang to appear in scheduling queue"
    return ""


def refused(pod: PodInfo, cluster: Cluster) -> str:
    """Return why a pod with a group is not to be scheduled at all, or nothing."""
    if not pod.group or cluster.gates.enabled(GROUPS):
        return ""
    return f'pod belongs to the pod group "{pod.group}", but the feature gate {GROUPS} is off'


def broken(group: PodGroup, pods: Iterable[PodInfo], scheduler_name: str) -> str:
    """Return which rule for the pods of one group is broken, by those on nodes too, or nothing."""
    policy: bool | None = group.never_preempts
    for pod in pods:
        if pod.scheduler_name != scheduler_name:
            return (
                "all pods in a single pod group should have the same .spec.schedulerName set, got: "
                f'"{pod.scheduler_name}" and "{scheduler_name}"'
            )
        if pod.priority != group.priority:
            return (
                "all pods in a single pod group should have the same priority as the pod group's priority, got "
                f"{pod.priority} and {group.priority}"
            )
        if policy is None:
            policy = pod.never_preempts
        if pod.never_preempts != policy:
            whose = "" if group.never_preempts is None else " as the pod group's preemption policy"
            return (
                f"all pods in a single pod group should have the same preemption policy{whose}, got "
                f"{_policy(pod.never_preempts)} and {_policy(policy)}"
            )
    return ""


def shortage(group: PodGroup, scheduled: int, remaining: int) -> str:
    """Return why a group has too few pods even if all that remain were placed, or nothing."""
    if scheduled + remaining >= group.min_count:
        return ""
    return f"minCount ({group.min_count}) cannot be satisfied: {scheduled} scheduled, {remaining} remaining"


def _policy(never: bool) -> str:
    return "Never" if never else "PreemptLowerPriority"
