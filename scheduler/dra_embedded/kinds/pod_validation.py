"""Validation of Pods, as far as it decides what a scheduler gets to see (core/v1; KEP-4381 for resource claims).

What only a kubelet minds (volumes, probes, ports, security contexts) is not looked at.
"""

from __future__ import annotations

from typing import Any

from dra_api.names import label_problems, subdomain_problems
from dra_api.validation import FieldError
from dra_api.validation.errors import duplicate, forbidden, immutable, invalid, not_found, not_supported, required
from dra_embedded.kinds.device_statuses import device_status_errors
from dra_embedded.kinds.placement_validation import placement_errors
from dra_embedded.kinds.resource_validation import resource_errors

Object = dict[str, Any]

_CLAIM_NAMES = ("resourceClaimName", "resourceClaimTemplateName")
_RESTART_POLICIES = ("Always", "OnFailure", "Never")


def validate_pod(pod: Object) -> list[FieldError]:
    """What is wrong with a pod, new or changed."""
    spec = pod.get("spec") or {}
    errors: list[FieldError] = []
    names = _validate_claims(spec.get("resourceClaims") or (), errors)
    if not spec.get("containers"):
        errors.append(required("spec.containers"))
    seen: set[str] = set()
    for field in ("containers", "initContainers"):
        for index, container in enumerate(spec.get(field) or ()):
            _validate_container(container, f"spec.{field}[{index}]", seen, names, errors)
    if spec.get("restartPolicy") not in _RESTART_POLICIES:
        errors.append(not_supported("spec.restartPolicy", spec.get("restartPolicy"), _RESTART_POLICIES))
    if spec.get("nodeName"):
        errors += _subdomain(spec["nodeName"], "spec.nodeName")
        if spec.get("schedulingGates"):
            message = "cannot be set until all schedulingGates have been cleared"
            errors.append(forbidden("spec.nodeName", message))
    return [*errors, *placement_errors(spec)]


def validate_pod_status(new: Object, old: Object) -> list[FieldError]:
    """What is wrong with a changed status."""
    errors: list[FieldError] = []
    after, before = new.get("status") or {}, old.get("status") or {}
    nominated = after.get("nominatedNodeName") or ""
    if nominated and nominated != before.get("nominatedNodeName"):
        errors += _subdomain(nominated, "status.nominatedNodeName")
        if (old.get("spec") or {}).get("nodeName"):
            message = "may not be set on pods that are already bound to a node"
            errors.append(forbidden("status.nominatedNodeName", message))
    if after.get("qosClass") != before.get("qosClass"):
        errors += immutable("status.qosClass", after.get("qosClass"), before.get("qosClass"))
    names = {each.get("name") for each in (new.get("spec") or {}).get("resourceClaims") or ()}
    for index, each in enumerate(after.get("resourceClaimStatuses") or ()):
        if each.get("name") not in names:
            field = f"status.resourceClaimStatuses[{index}].name"
            problem = "must match the name of an entry in `spec.resourceClaims`"
            errors.append(invalid(field, each.get("name"), problem))
    return errors + device_status_errors(new)


def _validate_claims(claims: Any, errors: list[FieldError]) -> set[str]:
    names: set[str] = set()
    for index, claim in enumerate(claims):
        path = f"spec.resourceClaims[{index}]"
        name = claim.get("name") or ""
        if not name:
            errors.append(required(f"{path}.name"))
        elif name in names:
            errors.append(duplicate(f"{path}.name", name))
        else:
            errors += _label(name, f"{path}.name")
        names.add(name)
        given = [field for field in _CLAIM_NAMES if claim.get(field) is not None]
        if len(given) != 1:
            rule = "at most one of" if given else "must specify one of:"
            errors.append(invalid(path, claim, f"{rule} `resourceClaimName`, `resourceClaimTemplateName`"))
        for field in given:
            errors += _subdomain(claim[field], f"{path}.{field}")
    return names


def _validate_container(
    container: Object, path: str, seen: set[str], claims: set[str], errors: list[FieldError]
) -> None:
    name = container.get("name") or ""
    if not name:
        errors.append(required(f"{path}.name"))
    elif name in seen:
        errors.append(duplicate(f"{path}.name", name))
    else:
        errors += _label(name, f"{path}.name")
    seen.add(name)
    if not container.get("image"):
        errors.append(required(f"{path}.image"))
    used: set[tuple[str, str]] = set()
    resources = container.get("resources") or {}
    errors += resource_errors(resources, f"{path}.resources")
    for index, claim in enumerate(resources.get("claims") or ()):
        field = f"{path}.resources.claims[{index}]"
        key = (claim.get("name") or "", claim.get("request") or "")
        if not key[0]:
            errors.append(required(f"{field}.name"))
        elif key in used:
            errors.append(duplicate(field, "/".join(filter(None, key))))
        elif key[0] not in claims:
            errors.append(not_found(field, key[0]))
        used.add(key)


def _label(value: str, field: str) -> list[FieldError]:
    return [invalid(field, value, problem) for problem in label_problems(value)]


def _subdomain(value: str, field: str) -> list[FieldError]:
    return [invalid(field, value, problem) for problem in subdomain_problems(value)]
