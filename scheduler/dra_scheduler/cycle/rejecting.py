"""The ways in which a cycle rejects a pod; each says which plugins, so that the queue knows what may help."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from dra_allocator.outcome import AllocationError, OutOfBudget
from dra_allocator.rejection import Explanation, Rejection
from dra_scheduler.cache.cluster import Cluster
from dra_scheduler.cache.pod_info import PodInfo
from dra_scheduler.cycle.decision import Reject
from dra_scheduler.cycle.diagnosis import Diagnosis
from dra_scheduler.cycle.error_text import PLUGIN, node_error, pod_error
from dra_scheduler.cycle.extended_resources import backed_resources
from dra_scheduler.cycle.node_resources import NodeResourcesError
from dra_scheduler.cycle.preemption import preemption
from dra_scheduler.gang.rules import refused
from dra_scheduler.plugins import Plugin

NO_NODES = "no nodes available to schedule pods"
NO_DEVICES = "cannot allocate all claims"
CONFLICTING_NAMES = "pod affinity terms conflict"
CHANGING = "the cluster changed again and again while devices were searched"


def no_nodes() -> Reject:
    """There is not a single node."""
    return Reject("unschedulable", frozenset({"NodeName"}), 0, error=NO_NODES)


def changing(cluster: Cluster) -> Reject:
    """The pod is tried again soon."""
    return Reject("error", frozenset(), len(cluster.nodes), error=CHANGING)


def before_filters(pod: PodInfo, cluster: Cluster, plugin: Plugin, text: str) -> Reject:
    """No node was looked at, because none can help."""
    return Reject(
        "unschedulable",
        frozenset({plugin}),
        len(cluster.nodes),
        before_filters=text,
        preemption=preemption(pod, cluster.nodes, None),
    )


def unsupported(pod: PodInfo, cluster: Cluster) -> Reject | None:
    """The pod requires what this scheduler does not evaluate, so it must not be placed as if it did not."""
    if pod.unsupported:
        first = pod.unsupported[0]
        return before_filters(pod, cluster, first.plugin, first.text)
    text = refused(pod, cluster)
    return before_filters(pod, cluster, "GangScheduling", text) if text else None


def no_fit(pod: PodInfo, cluster: Cluster, diagnosis: Diagnosis) -> Reject:
    """Every node fell out in a filter."""
    return Reject(
        "unschedulable",
        frozenset(diagnosis.plugins),
        len(cluster.nodes),
        counts=dict(diagnosis.counts),
        preemption=preemption(pod, cluster.nodes, diagnosis.resolvable, backed_resources(pod, cluster)),
        release=tuple(sorted(diagnosis.unavailable)),
    )


def no_devices(pod: PodInfo, cluster: Cluster, diagnosis: Diagnosis, rejection: Rejection) -> Reject:
    """The nodes that were left do not have the devices."""
    counts = Counter(diagnosis.counts)
    counts.update(map(node_error, rejection.node_errors.values()))
    counts[NO_DEVICES] += rejection.nodes - len(rejection.node_errors)
    return Reject(
        "unschedulable",
        frozenset(diagnosis.plugins | {"DynamicResources"}),
        len(cluster.nodes),
        counts={reason: count for reason, count in counts.items() if count > 0},
        preemption=preemption(pod, cluster.nodes, diagnosis.resolvable, backed_resources(pod, cluster)),
        explain=rejection.explain,
        node_errors=dict(rejection.node_errors),
        release=tuple(sorted(diagnosis.unavailable)),
    )


def invalid_pools(pod: PodInfo, cluster: Cluster, diagnosis: Diagnosis, nodes: int, error: AllocationError) -> Reject:
    """The claims fit on none of the `nodes` that were left, and each has an invalid pool: the pod waits for those."""
    reject = no_devices(pod, cluster, diagnosis, Rejection(nodes=0, explain=error.explain or _nothing))
    return replace(reject, counts={**reject.counts, node_error(str(error)): nodes})


def failed(cluster: Cluster, outcome: AllocationError | OutOfBudget | NodeResourcesError) -> Reject:
    """Something is wrong with a claim, a class or a device, or there was not enough time."""
    explain = None
    if isinstance(outcome, NodeResourcesError):
        error = f"{PLUGIN}{outcome}"
    elif isinstance(outcome, OutOfBudget):
        tried = f"{outcome.nodes_tried} of {outcome.nodes} nodes tried"
        error = f"{PLUGIN}timed out trying to allocate devices ({tried})"
    else:
        error, explain = pod_error(outcome), outcome.explain
    return Reject("error", frozenset({"DynamicResources"}), len(cluster.nodes), error=error, explain=explain)


def _nothing(node: str | None = None, /) -> Explanation:
    return Explanation(nodes=0)
