"""The claims of a pod: which there are, and why the pod cannot have them yet. Texts are kube-scheduler's."""

from __future__ import annotations

from dataclasses import dataclass

from dra_allocator.claim import DeviceRequest
from dra_allocator.outcome import AllocationResult
from dra_scheduler.cache.claim_store import Claim, ClaimStore
from dra_scheduler.cache.cluster import Cluster
from dra_scheduler.cache.pod_info import PodClaim, PodInfo

MAX_RESERVATIONS = 256
"""Entries that `status.reservedFor` can have (KEP-4381; 32 in Kubernetes 1.31, where the server says so itself)."""
ADMIN_LABELS = ("resource.kubernetes.io/admin-access", "resource.k8s.io/admin-access")
"""The label of namespaces with admin access, from Kubernetes 1.34 on and in 1.33."""
_ADMIN_LABEL_SINCE = 33


@dataclass(frozen=True, slots=True)
class PodClaims:
    """`unallocated` are to be allocated, `allocated` are already, or are about to be by a decision of ours.

    `allocations` are what the latter have: claims change in place, and those with other devices are not the same.
    """

    unallocated: tuple[Claim, ...] = ()
    allocated: tuple[Claim, ...] = ()
    allocations: tuple[AllocationResult | None, ...] = ()


def resolve(pod: PodInfo, store: ClaimStore) -> PodClaims | str:
    """Return the pod's claims, each once, or why it cannot be scheduled before something changes about them."""
    found: dict[str, Claim] = {}
    for entry in pod.claims:
        if entry.problem:
            return entry.problem
        if entry.claim_name is None:
            # The template's claim was found not to be needed.
            continue
        claim = store.get(pod.namespace, entry.claim_name)
        problem = _problem(pod, entry, claim, store.group_owners)
        if claim is None or problem:
            return problem
        found[claim.uid] = claim
    allocated = tuple(claim for claim in found.values() if claim.effective is not None)
    return PodClaims(
        tuple(claim for claim in found.values() if claim.effective is None),
        allocated,
        tuple(claim.effective for claim in allocated),
    )


def _problem(pod: PodInfo, entry: PodClaim, claim: Claim | None, groups: bool) -> str:
    if claim is None:
        return f'could not find ResourceClaim "{pod.namespace}/{entry.claim_name}"'
    if claim.deleting:
        return f'resourceclaim "{claim.name}" is being deleted'
    if entry.from_template and claim.owner_uid != pod.uid and not (groups and _is_of_group(pod, claim)):
        owner = f"neither Pod nor PodGroup {pod.group} is the owner" if groups and pod.group else "Pod is not owner"
        return (
            f"ResourceClaim {claim.namespace}/{claim.name} was not created for Pod {pod.namespace}/{pod.name} ({owner})"
        )
    return claim.problem


def _is_of_group(pod: PodInfo, claim: Claim) -> bool:
    return bool(pod.group) and claim.owner_group == pod.group


def is_reserved_for(claim: Claim, pod: PodInfo) -> bool:
    """Whether a claim is reserved for the pod, or for its PodGroup, of which pods know the name only."""
    return pod.uid in claim.reserved_for or (bool(pod.group) and pod.group in claim.reserved_groups)


def refused(pod: PodInfo, claims: PodClaims, cluster: Cluster) -> str:
    """Return why no node can help: a claim has no room for the pod, or a request cannot be served. Else nothing."""
    for claim in claims.allocated:
        if not is_reserved_for(claim, pod) and len(claim.reserved_for) >= MAX_RESERVATIONS:
            return "resourceclaim in use"
    for claim in claims.unallocated:
        if claim.spec is not None and claim.spec.classic_controller is not None:
            controller = claim.spec.classic_controller
            return (
                f"resource claim {claim.namespace}/{claim.name} is to be allocated by the controller {controller} "
                f"(classic DRA), which is not supported by this scheduler"
            )
        for request in claim.spec.requests if claim.spec is not None else ():
            problem = _refused_request(claim, request, cluster)
            if problem:
                return problem
    return ""


def _refused_request(claim: Claim, request: DeviceRequest, cluster: Cluster) -> str:
    where = f"resource claim {claim.namespace}/{claim.name}, request {request.name}"
    if request.unsupported is not None:
        return f"{where}: unknown request type"
    if request.first_available and not cluster.features.prioritized_list:
        return f"{where}: has subrequests, but the DRAPrioritizedList feature is disabled"
    if request.admin_access and not _admin_allowed(claim.namespace, cluster):
        return f"{where}: admin access needs the label {ADMIN_LABELS[0]}=true on the namespace {claim.namespace}"
    for part in request.first_available or (request,):
        if part.unsupported is None and part.device_class not in cluster.classes:
            name = request.name if part is request else f"{request.name}/{part.name}"
            return f"request {name}: device class {part.device_class} does not exist"
    return ""


def _admin_allowed(namespace: str, cluster: Cluster) -> bool:
    """Whether the server would take an allocation with admin access, which it refuses to write otherwise (KEP-5018).

    A namespace that is not known here is left to the server, and so is a gate that is off to the allocator.
    """
    labels = cluster.namespaces.get(namespace)
    if labels is None or not cluster.features.admin_access or cluster.gates.minor < _ADMIN_LABEL_SINCE:
        return True
    return any(labels.get(key) == "true" for key in ADMIN_LABELS)
