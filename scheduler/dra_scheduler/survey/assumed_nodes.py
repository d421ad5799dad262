"""Nodes that files leave out: what the ResourceSlices say that there must be, and how large it is taken to be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from dra_scheduler.cache.required_features import DECLARED_SINCE

ALLOCATABLE: Mapping[str, str] = MappingProxyType(
    {"cpu": "64", "memory": "256Gi", "ephemeral-storage": "1Ti", "pods": "110"}
)


def named_nodes(specs: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the nodes that the specs of ResourceSlices name, or their devices do, in order."""
    names = set()
    for spec in specs:
        names |= {one["nodeName"] for one in (spec, *(spec.get("devices") or ())) if one.get("nodeName")}
    return sorted(names)


def assumed_node(name: str) -> dict[str, Any]:
    """Return a node with room for everything that is usual, and all features that a pod can require."""
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        "status": {"allocatable": dict(ALLOCATABLE), "declaredFeatures": list(DECLARED_SINCE)},
    }


def said(names: list[str]) -> list[str]:
    """Return what was assumed, in words; nothing if there are none."""
    return [f"no Node in the files: assumed the {len(names)} that ResourceSlices name"] if names else []
