"""What a pod says of nodes, and a node of pods: tolerations, taints, gates, node affinity (core/v1)."""

from __future__ import annotations

from typing import Any

from dra_api.names import label_value_problems, qualified_name_problems
from dra_api.validation import FieldError
from dra_api.validation.errors import duplicate, invalid, not_supported, required
from dra_api.validation.node_selectors import node_selector

Object = dict[str, Any]

EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_OPERATORS = ("Equal", "Exists")
_MATCH_ALL = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
_AFFINITY = "spec.affinity.nodeAffinity"
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def placement_errors(spec: Object) -> list[FieldError]:
    """What is wrong with where a pod says it may go."""
    errors: list[FieldError] = []
    for index, toleration in enumerate(spec.get("tolerations") or ()):
        errors += _toleration(f"spec.tolerations[{index}]", toleration)
    seen: set[str] = set()
    for index, gate in enumerate(spec.get("schedulingGates") or ()):
        name, path = gate.get("name") or "", f"spec.schedulingGates[{index}]"
        errors += [invalid(path, name, problem) for problem in qualified_name_problems(name)]
        if name in seen:
            errors.append(duplicate(path, name))
        seen.add(name)
    for key, value in (spec.get("nodeSelector") or {}).items():
        errors += [invalid("spec.nodeSelector", key, problem) for problem in qualified_name_problems(key)]
        errors += [invalid("spec.nodeSelector", value, problem) for problem in label_value_problems(value)]
    wanted = ((spec.get("affinity") or {}).get("nodeAffinity") or {}).get(_REQUIRED)
    if wanted is not None:
        errors += node_selector(f"{_AFFINITY}.{_REQUIRED}", wanted)
    return errors


def taint_errors(taints: list[Object], path: str) -> list[FieldError]:
    """What is wrong with a node's taints."""
    errors: list[FieldError] = []
    seen: set[tuple[str, str]] = set()
    for index, taint in enumerate(taints):
        where = f"{path}[{index}]"
        key, value, effect = (taint.get(field) or "" for field in ("key", "value", "effect"))
        errors += [invalid(f"{where}.key", key, problem) for problem in qualified_name_problems(key)]
        errors += [invalid(f"{where}.value", value, problem) for problem in label_value_problems(value)]
        if not effect:
            errors.append(required(f"{where}.effect"))
        else:
            errors += _effect(f"{where}.effect", effect)
        if (key, effect) in seen:
            errors.append(duplicate(where, taint))
        seen.add((key, effect))
    return errors


def _toleration(path: str, toleration: Object) -> list[FieldError]:
    key, operator, value, effect = (toleration.get(field) or "" for field in ("key", "operator", "value", "effect"))
    errors: list[FieldError] = []
    if key:
        errors += [invalid(f"{path}.key", key, problem) for problem in qualified_name_problems(key)]
    elif operator != "Exists":
        errors.append(invalid(f"{path}.operator", operator, _MATCH_ALL))
    if toleration.get("tolerationSeconds") is not None and effect != "NoExecute":
        problem = "effect must be 'NoExecute' when `tolerationSeconds` is set"
        errors.append(invalid(f"{path}.effect", effect, problem))
    if operator in ("", "Equal"):
        errors += [invalid(f"{path}.operator", value, problem) for problem in label_value_problems(value)]
    elif operator == "Exists":
        if value:
            errors.append(invalid(f"{path}.operator", value, "value must be empty when `operator` is 'Exists'"))
    else:
        errors.append(not_supported(f"{path}.operator", operator, _OPERATORS))
    return [*errors, *_effect(f"{path}.effect", effect)] if effect else errors


def _effect(path: str, effect: str) -> list[FieldError]:
    return [] if effect in EFFECTS else [not_supported(path, effect, EFFECTS)]
