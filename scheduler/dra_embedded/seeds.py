"""What a fresh cluster has: its first namespaces and the priority classes of the system."""

from __future__ import annotations

from typing import Any

from dra_embedded.context import Context
from dra_embedded.paths import Target
from dra_embedded.verbs.create import create_object

NAMESPACES = ("default", "kube-system", "kube-public", "kube-node-lease")
PRIORITY_CLASSES = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}


def seed(context: Context) -> None:
    """Create the namespaces and priority classes."""
    for name in NAMESPACES:
        _create(context, "", "namespaces", {"metadata": {"name": name}})
    for name, value in PRIORITY_CLASSES.items():
        body = {"metadata": {"name": name}, "value": value, "preemptionPolicy": "PreemptLowerPriority"}
        _create(context, "scheduling.k8s.io", "priorityclasses", body)


def _create(context: Context, group: str, plural: str, obj: dict[str, Any]) -> None:
    served = context.registry.find(group, "v1", plural)
    if served is not None:
        create_object(context, Target(served, "v1", None), obj)
