"""What a pod's status says about its devices beside its claims: the special claim of extended resources (KEP-5004) and
what devices take of the node (DRANodeAllocatableResources).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dra_api.names import label_problems, subdomain_problems
from dra_api.validation import FieldError
from dra_api.validation.errors import duplicate, invalid, required

Object = dict[str, Any]

_EXTENDED = "status.extendedResourceClaimStatus"
_NOT_REQUESTED = (
    "must match the extended resource name of an entry in spec.initContainers.resources.requests or "
    "spec.containers.resources.requests"
)
_NO_CONTAINER = "must match the name of an entry in spec.initContainers.name or spec.containers.name"


def device_status_errors(pod: Object) -> list[FieldError]:
    """What is wrong with these two parts of a pod's new status."""
    status = pod.get("status") or {}
    errors: list[FieldError] = []
    extended = status.get("extendedResourceClaimStatus")
    if extended is not None:
        errors += _extended(extended, pod.get("spec") or {})
    known = _claim_names(pod)
    for index, entry in enumerate(status.get("nodeAllocatableResourceClaimStatuses") or ()):
        name = entry.get("resourceClaimName")
        if name and name not in known:
            # The API server leaves the field's parents out of the path.
            errors.append(invalid(f"[{index}].resourceClaimName", name, "no mapping found in pod reference"))
    return errors


def _extended(extended: Object, spec: Object) -> Iterator[FieldError]:
    mappings = extended.get("requestMappings") or ()
    if not mappings:
        yield required(f"{_EXTENDED}.requestMappings", "at least one request mapping is required")
    containers = {each["name"]: each for key in ("initContainers", "containers") for each in spec.get(key) or ()}
    seen = set()
    for index, mapping in enumerate(mappings):
        path = f"{_EXTENDED}.requestMappings[{index}]"
        container, resource = mapping.get("containerName") or "", mapping.get("resourceName") or ""
        request = mapping.get("requestName") or ""
        if container not in containers:
            yield invalid(f"{path}.containerName", container, _NO_CONTAINER)
        elif resource not in ((containers[container].get("resources") or {}).get("requests") or {}):
            yield invalid(f"{path}.resourceName", resource, _NOT_REQUESTED)
        for problem in label_problems(request):
            yield invalid(f"{_EXTENDED}.requestName", request, problem)
        if (container, resource, request) in seen:
            yield duplicate(f"{path}.containerName", container)
            yield duplicate(f"{path}.resourceName", resource)
            yield duplicate(f"{path}.requestName", request)
        seen.add((container, resource, request))
    name = extended.get("resourceClaimName") or ""
    if not name:
        yield required(f"{_EXTENDED}.resourceClaimName")
        return
    for problem in subdomain_problems(name):
        yield invalid(f"{_EXTENDED}.resourceClaimName", name, problem)


def _claim_names(pod: Object) -> set[str]:
    """The names of the pod's claims, as its spec or its status has them."""
    entries = [
        *((pod.get("spec") or {}).get("resourceClaims") or ()),
        *((pod.get("status") or {}).get("resourceClaimStatuses") or ()),
    ]
    return {entry["resourceClaimName"] for entry in entries if entry.get("resourceClaimName")}
