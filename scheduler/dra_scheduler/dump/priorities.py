"""PriorityClasses that give the pods of a dump the priorities that they have, whatever classes the cluster has now."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Object = dict[str, Any]
DEFAULT = (0, "PreemptLowerPriority")


def priority_classes(pods: Sequence[Object]) -> list[Object]:
    """Name a class in each pod with a priority of its own (in place), and return these classes."""
    classes: dict[tuple[int, str], Object] = {}
    for pod in pods:
        spec = pod["spec"]
        key = spec.get("priority") or 0, spec.get("preemptionPolicy") or DEFAULT[1]
        if key == DEFAULT:
            continue
        name = f"priority-{key[0]}-{key[1].lower()}".replace("--", "-minus-")
        spec["priorityClassName"] = name
        classes[key] = {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": name},
            "value": key[0],
            "preemptionPolicy": key[1],
        }
    return [classes[key] for key in sorted(classes)]
