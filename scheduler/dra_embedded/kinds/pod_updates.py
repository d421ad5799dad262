"""What may change in a Pod's spec: images, deadlines, gates and tolerations; of a gated pod also where it may go."""

from __future__ import annotations

from typing import Any

from dra_api.validation import FieldError
from dra_api.validation.errors import forbidden, invalid
from dra_embedded.kinds.pod_validation import validate_pod

Object = dict[str, Any]

_UPDATABLE = (
    "spec.containers[*].image",
    "spec.initContainers[*].image",
    "spec.activeDeadlineSeconds",
    "spec.tolerations",
    "spec.terminationGracePeriodSeconds",
)
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_TERMS = f"spec.affinity.nodeAffinity.{_REQUIRED}.nodeSelectorTerms"
_ONLY_ADDITIONS = "only additions are allowed (no mutations or deletions)"


def validate_pod_update(new: Object, old: Object) -> list[FieldError]:
    """What is wrong with a changed pod."""
    after, before = new.get("spec") or {}, old.get("spec") or {}
    if after == before:
        return []
    errors = validate_pod(new)
    for field in ("containers", "initContainers"):
        if len(after.get(field) or ()) != len(before.get(field) or ()):
            what = "containers" if field == "containers" else "init containers"
            return [*errors, forbidden(f"spec.{field}", f"pod updates may not add or remove {what}")]
    errors += _deadline(after, before)
    errors += _tolerations(after, before)
    errors += _gates(after, before)
    gated = bool(before.get("schedulingGates"))
    if gated:
        errors += _node_selector(after.get("nodeSelector") or {}, before.get("nodeSelector") or {})
        errors += _node_affinity(_terms(after), _terms(before))
    if _fixed_part(after, gated=gated) != _fixed_part(before, gated=gated):
        updatable = ",".join(f"`{each}`" for each in _UPDATABLE)
        errors.append(forbidden("spec", f"pod updates may not change fields other than {updatable}"))
    return errors


def _deadline(after: Object, before: Object) -> list[FieldError]:
    field = "spec.activeDeadlineSeconds"
    now, then = after.get("activeDeadlineSeconds"), before.get("activeDeadlineSeconds")
    if now is None:
        return [] if then is None else [invalid(field, None, "must not update from a positive integer to nil value")]
    if then is not None and now > then:
        return [invalid(field, now, "must be less than or equal to previous value")]
    return []


def _tolerations(after: Object, before: Object) -> list[FieldError]:
    present = [_without_seconds(each) for each in after.get("tolerations") or ()]
    if all(_without_seconds(each) in present for each in before.get("tolerations") or ()):
        return []
    return [forbidden("spec.tolerations", "existing toleration can not be modified except its tolerationSeconds")]


def _without_seconds(toleration: Object) -> Object:
    return {key: value for key, value in toleration.items() if key != "tolerationSeconds"}


def _gates(after: Object, before: Object) -> list[FieldError]:
    known = {each.get("name") for each in before.get("schedulingGates") or ()}
    return [
        forbidden(
            f"spec.schedulingGates[{index}].name", f"only deletion is allowed, but found new gate {each.get('name')}"
        )
        for index, each in enumerate(after.get("schedulingGates") or ())
        if each.get("name") not in known
    ]


def _node_selector(after: Object, before: Object) -> list[FieldError]:
    if all(after.get(key) == value for key, value in before.items()):
        return []
    return [invalid("spec.nodeSelector", after, _ONLY_ADDITIONS)]


def _node_affinity(after: list[Object], before: list[Object]) -> list[FieldError]:
    if not before:
        return []
    if len(after) != len(before):
        return [invalid(_TERMS, after, "no additions/deletions to non-empty NodeSelectorTerms list are allowed")]
    return [
        invalid(f"{_TERMS}[{index}]", term, _ONLY_ADDITIONS)
        for index, (term, was) in enumerate(zip(after, before, strict=True))
        if not _only_adds(term, was)
    ]


def _only_adds(after: Object, before: Object) -> bool:
    """Whether a term only got more conditions; one that had none matches nothing and stays so."""
    if not before.get("matchExpressions") and not before.get("matchFields"):
        return not after.get("matchExpressions") and not after.get("matchFields")
    for field in ("matchExpressions", "matchFields"):
        was: list[Any] = before.get(field) or []
        if (after.get(field) or [])[: len(was)] != was:
            return False
    return True


def _terms(spec: Object) -> list[Object]:
    required = ((spec.get("affinity") or {}).get("nodeAffinity") or {}).get(_REQUIRED) or {}
    return required.get("nodeSelectorTerms") or []


def _fixed_part(spec: Object, *, gated: bool) -> Object:
    """The spec without what may change or has been looked at."""
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
