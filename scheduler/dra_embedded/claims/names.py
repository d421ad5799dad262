"""Which ResourceClaim a pod's claim is, and what a pod and a claim are to each other (KEP-3063, KEP-4381)."""

from __future__ import annotations

from typing import Any

Object = dict[str, Any]

CLAIM_NAME_ANNOTATION = "resource.kubernetes.io/pod-claim-name"
TERMINAL = ("Succeeded", "Failed")
MAX_RESERVATIONS = 256
_MAX_BASE = 57  # of a generated name of 63: a hyphen and five random characters follow


def claim_name(pod: Object, pod_claim: Object) -> str | None:
    """The name of the ResourceClaim behind an entry of spec.resourceClaims.

    None: there is none yet, it has to be made from the template. "": the status says that none is needed.
    """
    given = pod_claim.get("resourceClaimName")
    if given is not None:
        return str(given)
    for status in (pod.get("status") or {}).get("resourceClaimStatuses") or ():
        if status.get("name") == pod_claim["name"]:
            return str(status.get("resourceClaimName") or "")
    return None


def claims_of(pod: Object) -> list[str]:
    """The names of the claims of a pod, as far as they exist; those of extended resources, too."""
    spec, status = pod.get("spec") or {}, pod.get("status") or {}
    names = [claim_name(pod, each) for each in spec.get("resourceClaims") or ()]
    extended = (status.get("extendedResourceClaimStatus") or {}).get("resourceClaimName")
    return [name for name in [*names, extended] if name]


def is_for_pod(claim: Object, pod: Object) -> bool:
    """Whether a claim was made for this very pod."""
    return owning_pod(claim) == (pod["metadata"]["name"], pod["metadata"]["uid"])


def owning_pod(claim: Object) -> tuple[str, str] | None:
    """Name and uid of the pod that a claim was made for."""
    for owner in claim["metadata"].get("ownerReferences") or ():
        if owner.get("controller") and owner.get("apiVersion") == "v1" and owner.get("kind") == "Pod":
            return owner["name"], owner["uid"]
    return None


def is_reserved_for(claim: Object, pod: Object) -> bool:
    """Whether the pod is in the claim's reservedFor."""
    uid = pod["metadata"]["uid"]
    return any(each.get("uid") == uid for each in reservations(claim))


def reservations(claim: Object) -> list[Object]:
    """The claim's reservedFor."""
    return (claim.get("status") or {}).get("reservedFor") or []


def is_pod_reservation(reservation: Object) -> bool:
    """Whether an entry of reservedFor is a pod."""
    return not reservation.get("apiGroup") and reservation.get("resource") == "pods"


def pod_reservation(pod: Object) -> Object:
    """The entry of reservedFor for a pod."""
    return {"resource": "pods", "name": pod["metadata"]["name"], "uid": pod["metadata"]["uid"]}


def is_done(pod: Object) -> bool:
    """Whether a pod will not run any more."""
    if (pod.get("status") or {}).get("phase") in TERMINAL:
        return True
    return bool(pod["metadata"].get("deletionTimestamp")) and not pod["spec"].get("nodeName")


def generated_base(pod_name: str, entry: str) -> str:
    """The generateName of a claim from a template; long names are cut in proportion."""
    base = f"{pod_name}-{entry}-"
    if len(base) <= _MAX_BASE:
        return base
    kept = [part[: len(part) * _MAX_BASE // len(base)] for part in (pod_name, entry)]
    return "-".join(kept)
