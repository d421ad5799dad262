"""Validation of Pods, as far as it decides what a scheduler gets to see (core/v1; KEP-4381 for resource claims).

What only a kubelet minds (volumes, probes, ports, security contexts) is not looked at.
"""

from __future__ import annotations

from typing import Any

from dra_api.names import label_problems, subdomain_problems
from dra_embedded.status import DUPLICATE, FORBIDDEN, INVALID, NOT_SUPPORTED, REQUIRED, Cause

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


def validate_pod(pod: Object) -> list[Cause]:
    """What is wrong with a pod, new or changed."""
    spec = pod.get("spec") or {}
    causes: list[Cause] = []
    names = _validate_claims(spec.get("resourceClaims") or (), causes)
    if not spec.get("containers"):
        causes.append(Cause(REQUIRED, "spec.containers", "Required value"))
    seen: set[str] = set()
    for field in ("containers", "initContainers"):
        for index, container in enumerate(spec.get(field) or ()):
            _validate_container(container, f"spec.{field}[{index}]", seen, names, causes)
    if spec.get("restartPolicy") not in _RESTART_POLICIES:
        message = f'Unsupported value: "{spec.get("restartPolicy")}": supported values: "Always", "OnFailure", "Never"'
        causes.append(Cause(NOT_SUPPORTED, "spec.restartPolicy", message))
    if spec.get("nodeName"):
        causes += _subdomain(spec["nodeName"], "spec.nodeName")
        if spec.get("schedulingGates"):
            message = "Forbidden: cannot be set until all schedulingGates have been cleared"
            causes.append(Cause(FORBIDDEN, "spec.nodeName", message))
    return causes


def validate_pod_update(new: Object, old: Object) -> list[Cause]:
    """What is wrong with a changed pod: beside images, deadlines, gates and tolerations its spec is immutable."""
    causes = validate_pod(new)
    after, before = new.get("spec") or {}, old.get("spec") or {}
    if after == before:
        return causes
    for field in ("containers", "initContainers"):
        if len(after.get(field) or ()) != len(before.get(field) or ()):
            message = f"Forbidden: pod updates may not add or remove {'init ' * (field != 'containers')}containers"
            return [*causes, Cause(FORBIDDEN, f"spec.{field}", message)]
    gone = [each for each in before.get("tolerations") or () if each not in (after.get("tolerations") or ())]
    if gone:
        message = "Forbidden: existing toleration can not be modified except its tolerationSeconds"
        causes.append(Cause(FORBIDDEN, "spec.tolerations", message))
    gates = [each["name"] for each in before.get("schedulingGates") or ()]
    for index, gate in enumerate(after.get("schedulingGates") or ()):
        if gate.get("name") not in gates:
            message = "Forbidden: only deletion is allowed, but found new scheduling gate"
            causes.append(Cause(FORBIDDEN, f"spec.schedulingGates[{index}]", f"{message} '{gate.get('name')}'"))
    if _fixed_part(after, gated=bool(gates)) != _fixed_part(before, gated=bool(gates)):
        updatable = ",".join(f"`{each}`" for each in _UPDATABLE)
        message = f"Forbidden: pod updates may not change fields other than {updatable}"
        causes.append(Cause(FORBIDDEN, "spec", message))
    return causes


def validate_pod_status(new: Object, old: Object) -> list[Cause]:
    """What is wrong with a changed status."""
    causes: list[Cause] = []
    after, before = new.get("status") or {}, old.get("status") or {}
    nominated = after.get("nominatedNodeName") or ""
    if nominated and nominated != before.get("nominatedNodeName"):
        causes += _subdomain(nominated, "status.nominatedNodeName")
        if (old.get("spec") or {}).get("nodeName"):
            message = "Forbidden: may not be set on pods that are already bound to a node"
            causes.append(Cause(FORBIDDEN, "status.nominatedNodeName", message))
    if after.get("qosClass") != before.get("qosClass"):
        message = f'Invalid value: "{after.get("qosClass")}": field is immutable'
        causes.append(Cause(INVALID, "status.qosClass", message))
    names = {each.get("name") for each in (new.get("spec") or {}).get("resourceClaims") or ()}
    for index, each in enumerate(after.get("resourceClaimStatuses") or ()):
        if each.get("name") not in names:
            field = f"status.resourceClaimStatuses[{index}].name"
            message = f'Invalid value: "{each.get("name")}": must match the name of an entry in `spec.resourceClaims`'
            causes.append(Cause(INVALID, field, message))
    return causes


def _validate_claims(claims: Any, causes: list[Cause]) -> set[str]:
    names: set[str] = set()
    for index, claim in enumerate(claims):
        path = f"spec.resourceClaims[{index}]"
        name = claim.get("name") or ""
        if not name:
            causes.append(Cause(REQUIRED, f"{path}.name", "Required value"))
        elif name in names:
            causes.append(Cause(DUPLICATE, f"{path}.name", f'Duplicate value: "{name}"'))
        else:
            causes += _label(name, f"{path}.name")
        names.add(name)
        given = [field for field in _CLAIM_NAMES if claim.get(field) is not None]
        if len(given) != 1:
            rule = "at most one of" if given else "must specify one of:"
            problem = f"Invalid value: {rule} `resourceClaimName` or `resourceClaimTemplateName`"
            causes.append(Cause(INVALID, path, problem))
        for field in given:
            causes += _subdomain(claim[field], f"{path}.{field}")
    return names


def _validate_container(container: Object, path: str, seen: set[str], claims: set[str], causes: list[Cause]) -> None:
    name = container.get("name") or ""
    if not name:
        causes.append(Cause(REQUIRED, f"{path}.name", "Required value"))
    elif name in seen:
        causes.append(Cause(DUPLICATE, f"{path}.name", f'Duplicate value: "{name}"'))
    else:
        causes += _label(name, f"{path}.name")
    seen.add(name)
    if not container.get("image"):
        causes.append(Cause(REQUIRED, f"{path}.image", "Required value"))
    used: set[tuple[str, str]] = set()
    for index, claim in enumerate((container.get("resources") or {}).get("claims") or ()):
        field = f"{path}.resources.claims[{index}]"
        key = (claim.get("name") or "", claim.get("request") or "")
        if not key[0]:
            causes.append(Cause(REQUIRED, f"{field}.name", "Required value"))
        elif key in used:
            causes.append(Cause(DUPLICATE, field, f'Duplicate value: "{"/".join(filter(None, key))}"'))
        elif key[0] not in claims:
            causes.append(Cause("FieldValueNotFound", f"{field}.name", f'Not found: "{key[0]}"'))
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


def _label(value: str, field: str) -> list[Cause]:
    return [Cause(INVALID, field, f'Invalid value: "{value}": {problem}') for problem in label_problems(value)]


def _subdomain(value: str, field: str) -> list[Cause]:
    return [Cause(INVALID, field, f'Invalid value: "{value}": {problem}') for problem in subdomain_problems(value)]
