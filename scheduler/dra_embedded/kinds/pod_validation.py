"""Validation of Pods, as far as it decides what a scheduler gets to see (core/v1; KEP-4381 for resource claims).

What only a kubelet minds (volumes, probes, ports, security contexts) is not looked at.
"""

from __future__ import annotations

from typing import Any

from dra_api.names import label_problems, subdomain_problems
from dra_api.validation import FieldError
from dra_api.validation.errors import duplicate, forbidden, immutable, invalid, not_found, not_supported, required

Object = dict[str, Any]

_CLAIM_NAMES = ("resourceClaimName", "resourceClaimTemplateName")
_RESTART_POLICIES = ("Always", "OnFailure", "Never")
_UPDATABLE = (
    "spec.containers[*].image",
    "spec.initContainers[*].image",
    "spec.activeDeadlineSeconds",
    "spec.tolerations",
    "spec.terminationGracePeriodSeconds",
)


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
    return errors


def validate_pod_update(new: Object, old: Object) -> list[FieldError]:
    """What is wrong with a changed pod: beside images, deadlines, gates and tolerations its spec is immutable."""
    errors = validate_pod(new)
    after, before = new.get("spec") or {}, old.get("spec") or {}
    if after == before:
        return errors
    for field in ("containers", "initContainers"):
        if len(after.get(field) or ()) != len(before.get(field) or ()):
            message = f"pod updates may not add or remove {'init ' * (field != 'containers')}containers"
            return [*errors, forbidden(f"spec.{field}", message)]
    gone = [each for each in before.get("tolerations") or () if each not in (after.get("tolerations") or ())]
    if gone:
        message = "existing toleration can not be modified except its tolerationSeconds"
        errors.append(forbidden("spec.tolerations", message))
    gates = [each["name"] for each in before.get("schedulingGates") or ()]
    for index, gate in enumerate(after.get("schedulingGates") or ()):
        if gate.get("name") not in gates:
            message = "only deletion is allowed, but found new scheduling gate"
            errors.append(forbidden(f"spec.schedulingGates[{index}].name", f"{message} '{gate.get('name')}'"))
    if _fixed_part(after, gated=bool(gates)) != _fixed_part(before, gated=bool(gates)):
        updatable = ",".join(f"`{each}`" for each in _UPDATABLE)
        message = f"pod updates may not change fields other than {updatable}"
        errors.append(forbidden("spec", message))
    return errors


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
    return errors


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
    for index, claim in enumerate((container.get("resources") or {}).get("claims") or ()):
        field = f"{path}.resources.claims[{index}]"
        key = (claim.get("name") or "", claim.get("request") or "")
        if not key[0]:
            errors.append(required(f"{field}.name"))
        elif key in used:
            errors.append(duplicate(field, "/".join(filter(None, key))))
        elif key[0] not in claims:
            errors.append(not_found(field, key[0]))
        used.add(key)


def _fixed_part(spec: Object, *, gated: bool) -> Object:
    """The spec without what may change."""
    fixed = {key: value for key, value in spec.items() if key not in ("tolerations", "schedulingGates")}
    fixed.pop("activeDeadlineSeconds", None)
    if gated:
        fixed.pop("nodeSelector", None)
        affinity = {key: value for key, value in (fixed.pop("affinity", None) or {}).items() if key != "nodeAffinity"}
        fixed["affinity"] = affinity
    for field in ("containers", "initContainers"):
        if field in fixed:
            fixed[field] = [{key: each[key] for key in each if key != "image"} for each in fixed[field]]
    return fixed


def _label(value: str, field: str) -> list[FieldError]:
    return [invalid(field, value, problem) for problem in label_problems(value)]


def _subdomain(value: str, field: str) -> list[FieldError]:
    return [invalid(field, value, problem) for problem in subdomain_problems(value)]
