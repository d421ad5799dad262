"""Which ResourceClaim a pod's claim is, and what a pod and a claim are to each other (KEP-3063, KEP-4381)."""

from __future__ import annotations

from typing import Any

from dra_api.references import POD_GROUP, Resource

Object = dict[str, Any]

CLAIM_NAME_ANNOTATION = "resource.kubernetes.io/pod-claim-name"
TERMINAL = ("Succeeded", "Failed")
MAX_RESERVATIONS = 256
_MAX_BASE = 57  # of a generated name of 63: a hyphen and five random characters follow


def claim_name(pod: Object, pod_claim: Object) -> str | None:
    """The name of the ResourceClaim behind an entry of spec.resourceClaims, of a pod or a PodGroup.

    None: there is none, it has to be made from the template if there is one. "": the status says that none is needed.
    """
    given = pod_claim.get("resourceClaimName")
    if given is not None:
        return str(given)
    if pod_claim.get("resourceClaimTemplateName") is None:
        return None  # of a kind that is not known here
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
    """Whether a claim was made for this very pod, or for its PodGroup, of which a pod knows only the name."""
    if owning_pod(claim) == (pod["metadata"]["name"], pod["metadata"]["uid"]):
        return True
    group = owning_group(claim)
    return group is not None and group[0] == group_name(pod)


def owning_pod(claim: Object) -> tuple[str, str] | None:
    """Name and uid of the pod that a claim was made for."""
    for owner in claim["metadata"].get("ownerReferences") or ():
        if owner.get("controller") and owner.get("apiVersion") == "v1" and owner.get("kind") == "Pod":
            return owner["name"], owner["uid"]
    return None


def owning_group(claim: Object) -> tuple[str, str] | None:
    """Name and uid of the PodGroup that a claim was made for."""
    for owner in claim["metadata"].get("ownerReferences") or ():
        group = str(owner.get("apiVersion")).rpartition("/")[0]
        if owner.get("controller") and (group, owner.get("kind")) == (POD_GROUP.group, POD_GROUP.kind):
            return owner["name"], owner["uid"]
    return None


def group_name(pod: Object) -> str | None:
    """The name of the PodGroup that a pod belongs to."""
    name = (pod["spec"].get("schedulingGroup") or {}).get("podGroupName")
    return None if name is None else str(name)


def is_of_group(entry: Object, group: Object) -> bool:
    """Whether an entry of a pod's spec.resourceClaims is, in all three fields, one of its PodGroup (KEP-5729)."""
    fields = ("name", "resourceClaimName", "resourceClaimTemplateName")
    wanted = [entry.get(field) for field in fields]
    return any([each.get(field) for field in fields] == wanted for each in group["spec"].get("resourceClaims") or ())


def is_reserved_for(claim: Object, pod: Object) -> bool:
    """Whether the pod, or its PodGroup, is in the claim's reservedFor."""
    uid, group = pod["metadata"]["uid"], group_name(pod)
    return any(
        each.get("uid") == uid or (is_group_reservation(each) and each.get("name") == group)
        for each in reservations(claim)
    )


def reservations(claim: Object) -> list[Object]:
    """The claim's reservedFor."""
    return (claim.get("status") or {}).get("reservedFor") or []


def is_pod_reservation(reservation: Object) -> bool:
    """Whether an entry of reservedFor is a pod."""
    return not reservation.get("apiGroup") and reservation.get("resource") == "pods"


def is_group_reservation(reservation: Object) -> bool:
    """Whether an entry of reservedFor is a PodGroup."""
    return (reservation.get("apiGroup"), reservation.get("resource")) == (POD_GROUP.group, POD_GROUP.plural)


def group_reservation(group: Object) -> Object:
    """The entry of reservedFor for a PodGroup."""
    metadata = group["metadata"]
    entry = {"apiGroup": POD_GROUP.group, "resource": POD_GROUP.plural}
    return {**entry, "name": metadata["name"], "uid": metadata["uid"]}


def pod_reservation(pod: Object) -> Object:
    """The entry of reservedFor for a pod."""
    return {"resource": "pods", "name": pod["metadata"]["name"], "uid": pod["metadata"]["uid"]}


def is_done(pod: Object) -> bool:
    """Whether a pod will not run any more."""
    if (pod.get("status") or {}).get("phase") in TERMINAL:
        return True
    return bool(pod["metadata"].get("deletionTimestamp")) and not pod["spec"].get("nodeName")


def generated_base(owner_name: str, entry: str) -> str:
    """The generateName of a claim from a template; long names are cut in proportion."""
    base = f"{owner_name}-{entry}-"
    if len(base) <= _MAX_BASE:
        return base
    kept = [part[: len(part) * _MAX_BASE // len(base)] for part in (owner_name, entry)]
    return "-".join(kept)


def claim_from(template: Object, resource: Resource, owner: Object, entry: Object) -> Object:
    """A claim for an entry of a pod's or PodGroup's claims, made from its template."""
    spec, metadata = template["spec"], template["spec"].get("metadata") or {}
    annotations = {**(metadata.get("annotations") or {}), CLAIM_NAME_ANNOTATION: entry["name"]}
    name, uid = owner["metadata"]["name"], owner["metadata"]["uid"]
    reference = {"apiVersion": resource.api_version(), "kind": resource.kind, "name": name, "uid": uid}
    made: Object = {
        "generateName": generated_base(name, entry["name"]),
        "annotations": annotations,
        "ownerReferences": [{**reference, "controller": True}],
    }
    if metadata.get("labels"):
        made["labels"] = metadata["labels"]
    return {"metadata": made, "spec": spec["spec"]}
