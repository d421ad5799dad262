"""Which events may help which pod: the queueing hints of kube-scheduler's plugins.

A pod that was rejected by plugins P moves when an event may change the mind of one of P. Too many moves cost attempts,
too few leave a pod lying; where it is not clear, the pod moves.
"""

from __future__ import annotations

from collections.abc import Callable

from dra_scheduler.cache.node_info import NodeInfo
from dra_scheduler.cache.pod_info import ANY_ADDRESS, PodInfo
from dra_scheduler.plugins import Plugin
from dra_scheduler.queue.events import (
    ClaimChanged,
    ClusterEvent,
    DevicesChanged,
    GroupChanged,
    GroupGone,
    MemberAdded,
    NamespaceChanged,
    NodeChanged,
    NodeGone,
    PodLeft,
    PodPlaced,
    QuotaChanged,
)


class Hints:
    """Answers whether an event may help. `claims_problem` tells why a pod's claims cannot be used yet, or nothing."""

    def __init__(self, claims_problem: Callable[[PodInfo], str]) -> None:
        self._claims_problem = claims_problem

    def helps(self, pod: PodInfo, plugins: frozenset[Plugin], event: ClusterEvent) -> bool:
        """Whether a pod that these plugins rejected is worth another attempt; no plugins: any event is."""
        if not plugins:
            return True
        return any(self._plugin(plugin, pod, event) for plugin in plugins)

    def _plugin(self, plugin: Plugin, pod: PodInfo, event: ClusterEvent) -> bool:
        if isinstance(event, NodeChanged):
            return _node_changed(plugin, pod, event)
        if isinstance(event, PodPlaced):
            return plugin == "InterPodAffinity"
        if isinstance(event, QuotaChanged):
            return plugin == "ResourceQuota" and pod.namespace == event.namespace
        if isinstance(event, NamespaceChanged):
            return plugin == "InterPodAffinity" or (plugin == "DynamicResources" and pod.namespace == event.name)
        if isinstance(event, GroupGone | NodeGone):
            return False
        if isinstance(event, GroupChanged | MemberAdded):
            return plugin == "GangScheduling" and _group_grew(pod, event)
        if isinstance(event, PodLeft):
            return plugin in {"NodeResourcesFit", "InterPodAffinity"} or (
                plugin == "NodePorts" and _share_ports(pod, event.pod)
            )
        if plugin in {"NodeResourcesFit", "ResourceQuota"}:
            # Only a class can change that: it may stand for a resource that no node has, or be another claim's.
            return _is_class(event) and bool(_extended(pod))
        if plugin != "DynamicResources":
            return False
        if isinstance(event, ClaimChanged):
            return self._claim_changed(pod, event)
        return not self._claims_problem(pod)

    def _claim_changed(self, pod: PodInfo, event: ClaimChanged) -> bool:
        change = event.change
        if not change.freed:
            if change.removed:
                # The pod's claim of an earlier attempt has to be gone before it can have another.
                return change.claim.special and change.claim.owner_uid == pod.uid
            if not uses(pod, change.claim.namespace, change.claim.name):
                return False
            if not (change.added or change.status):
                # A finalizer or an annotation.
                return False
        return not self._claims_problem(pod)


def concerned(event: ClusterEvent) -> frozenset[Plugin] | None:
    """Return the plugins whose mind an event of this kind can change at all; None: any."""
    match event:
        case NodeChanged():
            return None
        case NodeGone():
            return frozenset()
        case PodPlaced():
            return frozenset({"InterPodAffinity"})
        case QuotaChanged():
            return frozenset({"ResourceQuota"})
        case GroupChanged() | GroupGone() | MemberAdded():
            return frozenset({"GangScheduling"})
        case PodLeft():
            return frozenset({"NodeResourcesFit", "NodePorts", "InterPodAffinity"})
        case NamespaceChanged():
            return frozenset({"InterPodAffinity", "DynamicResources"})
        case DevicesChanged("class"):
            return frozenset({"DynamicResources", "NodeResourcesFit", "ResourceQuota"})
        case _:
            return frozenset({"DynamicResources"})


def group_of(event: GroupChanged | MemberAdded) -> tuple[str, str]:
    """Return namespace and name of the PodGroup that an event is about."""
    return event.after.key if isinstance(event, GroupChanged) else (event.pod.namespace, event.pod.group)


def _group_grew(pod: PodInfo, event: GroupChanged | MemberAdded) -> bool:
    """Whether the pod's group has more pods than before, or needs fewer."""
    if group_of(event) != (pod.namespace, pod.group):
        return False
    if isinstance(event, MemberAdded) or event.before is None:
        return True
    return event.after.uid != event.before.uid or event.after.min_count < event.before.min_count


def uses(pod: PodInfo, namespace: str, claim: str) -> bool:
    """Whether the pod names this claim."""
    return pod.namespace == namespace and any(entry.claim_name == claim for entry in pod.claims)


def _node_changed(plugin: Plugin, pod: PodInfo, event: NodeChanged) -> bool:
    before, after = event.before, event.after
    if before is None:
        return _suits(plugin, pod, after)
    match plugin:
        case "NodeAffinity" | "InterPodAffinity":
            return before.labels != after.labels
        case "TaintToleration":
            return before.taints != after.taints and pod.selection.tolerated(after.taints)
        case "NodeUnschedulable":
            return before.unschedulable and not after.unschedulable
        case "NodeDeclaredFeatures":
            return bool(pod.required_features & after.declared_features - before.declared_features)
        case "NodeResourcesFit":
            return _has(after, pod) and any(
                after.allocatable.get(name, 0) > before.allocatable.get(name, 0)
                or (name in _extended(pod) and before.allocatable.get(name, 0) > 0 == after.allocatable.get(name, 0))
                for name in ("pods", *pod.requests)
            )
        case "ResourceQuota":
            return _serves(after, pod) and not _serves(before, pod)
        case "DynamicResources":
            return before.labels != after.labels or before.allocatable != after.allocatable or _declares(before, after)
        case _:
            return False


def _suits(plugin: Plugin, pod: PodInfo, node: NodeInfo) -> bool:
    """Whether a new node may be what the plugin missed."""
    match plugin:
        case "TaintToleration":
            return pod.selection.tolerated(node.taints)
        case "NodeUnschedulable":
            return not node.unschedulable
        case "NodeResourcesFit":
            return _has(node, pod)
        case "ResourceQuota":
            return _serves(node, pod)
        case "NodeName" | "NodeAffinity" | "NodePorts" | "InterPodAffinity" | "DynamicResources":
            return True
        case "NodeDeclaredFeatures":
            return bool(pod.required_features & node.declared_features)
        case _:
            return False


def _has(node: NodeInfo, pod: PodInfo) -> bool:
    """Whether the node has enough for the pod alone; devices may serve extended resources that it has none of."""
    extended = _extended(pod)
    amounts = ((node.allocatable.get(name, 0), name, asked) for name, asked in pod.requests.items())
    return all(has >= asked or (has == 0 and name in extended) for has, name, asked in amounts)


def _serves(node: NodeInfo, pod: PodInfo) -> bool:
    """Whether the node has an extended resource of the pod itself, so that the pod needs less of a claim there."""
    return any(node.allocatable.get(name, 0) > 0 for name in _extended(pod))


def _extended(pod: PodInfo) -> frozenset[str]:
    """Return the resources of the pod that a DeviceClass may stand for (KEP-5004): those with a domain."""
    return frozenset(name for name in pod.requests if "/" in name)


def _is_class(event: ClusterEvent) -> bool:
    return isinstance(event, DevicesChanged) and event.what == "class"


def _declares(before: NodeInfo, after: NodeInfo) -> bool:
    return not after.declared_features <= before.declared_features


def _share_ports(one: PodInfo, other: PodInfo) -> bool:
    return any(
        (a.protocol, a.port) == (b.protocol, b.port) and (ANY_ADDRESS in {a.ip, b.ip} or a.ip == b.ip)
        for a in one.ports
        for b in other.ports
    )
