"""Pods and their claims: who is bound must have what it asked for, and only who is there may hold a reservation."""

from __future__ import annotations

from collections.abc import Iterator

from dra_allocator.node_selector import matches
from dra_scheduler.audit.finding import Finding
from dra_scheduler.audit.subject import Subject, has_ended
from dra_scheduler.cache.claim_store import Claim
from dra_scheduler.cache.pod_info import PodClaim, PodInfo
from dra_scheduler.gang.consumers import consumer


def bound(subject: Subject) -> Iterator[Finding]:
    """Find pods on nodes without a claim, its allocation, its reservation, or on another node than its devices."""
    for pod in sorted(subject.cluster.pods, key=lambda one: one.key):
        if not pod.node_name or pod.deleting:
            continue
        for entry in pod.claims:
            claim = None if entry.claim_name is None else subject.cluster.claims.get(pod.namespace, entry.claim_name)
            if claim is not None:
                yield from _claim(subject, pod, claim)
            elif entry.claim_name is not None or entry.problem:
                yield Finding("bound-without-claim", _pod(pod), f"on node {pod.node_name}: {_missing(pod, entry)}")


def gone(subject: Subject) -> Iterator[Finding]:
    """Find reservations for pods that are not there, have ended, or are another pod of the same name."""
    for claim in subject.cluster.claims:
        for entry in (claim.raw.get("status") or {}).get("reservedFor") or ():
            if entry.get("resource") != "pods" or entry.get("apiGroup"):
                continue
            name, uid = entry.get("name", ""), entry.get("uid", "")
            pod = subject.pods.get((claim.namespace, name))
            if pod is None:
                problem = "there is no such pod"
            elif pod["metadata"].get("uid") != uid:
                problem = "the pod that has this name now is another one"
            elif has_ended(pod):
                problem = f"the pod has ended ({pod['status']['phase']})"
            else:
                continue
            yield Finding("reserved-for-gone-pod", _object(claim), f"reserved for pod {name} (uid {uid}): {problem}")


def _claim(subject: Subject, pod: PodInfo, claim: Claim) -> Iterator[Finding]:
    on_node = f"on node {pod.node_name}: claim {claim.name}"
    if claim.allocation is None:
        if not claim.problem:
            yield Finding("bound-not-allocated", _pod(pod), f"{on_node} is not allocated")
        return
    wanted = consumer(pod, claim, subject.cluster)
    if not any(wanted.has(entry) for entry in (claim.raw.get("status") or {}).get("reservedFor") or ()):
        yield Finding(
            "bound-not-reserved", _pod(pod), f"{on_node} is allocated, but not reserved for the pod{_of_group(pod)}"
        )
    selector = claim.allocation.node_selector
    nodes = subject.cluster.devices.nodes
    node_id = nodes.id(pod.node_name)
    node = None if node_id is None else nodes[node_id]
    if selector is not None and node is not None and not matches(selector, node):
        yield Finding("bound-elsewhere", _pod(pod), f"{on_node} is allocated for other nodes")


def _of_group(pod: PodInfo) -> str:
    return " or its group" if pod.group else ""


def _missing(pod: PodInfo, entry: PodClaim) -> str:
    if entry.claim_name is None:
        return f"its claim {entry.name} has not been created"
    return f"its claim {pod.namespace}/{entry.claim_name} does not exist"


def _pod(pod: PodInfo) -> str:
    return f"Pod {pod.namespace}/{pod.name}"


def _object(claim: Claim) -> str:
    return f"ResourceClaim {claim.namespace}/{claim.name}"
