"""What the scheduler reads of a node beside what the allocator knows of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dra_cel.quantity import QuantityError
from dra_scheduler.cache.node_selection import Taint
from dra_scheduler.cache.requests import Amounts, amounts
from dra_scheduler.errors import UnreadableObjectError


@dataclass(frozen=True, slots=True)
class NodeInfo:
    """A node. `taints` are those that keep pods away (NoSchedule and NoExecute)."""

    name: str
    labels: Mapping[str, str]
    taints: tuple[Taint, ...]
    unschedulable: bool
    allocatable: Amounts
    declared_features: frozenset[str] = frozenset()


def node_info(raw: Mapping[str, Any]) -> NodeInfo:
    """Read a node. Raises UnreadableObjectError."""
    meta = raw.get("metadata") or {}
    try:
        spec, status = raw.get("spec") or {}, raw.get("status") or {}
        return NodeInfo(
            name=meta["name"],
            labels=meta.get("labels") or {},
            taints=tuple(
                Taint(t["key"], t.get("value") or "", t["effect"])
                for t in spec.get("taints") or ()
                if t["effect"] in {"NoSchedule", "NoExecute"}
            ),
            unschedulable=bool(spec.get("unschedulable")),
            allocatable=amounts(status.get("allocatable")),
            declared_features=frozenset(status.get("declaredFeatures") or ()),
        )
    except (QuantityError, TypeError, KeyError, AttributeError) as error:
        problem = f"{type(error).__name__}: {error}"
        raise UnreadableObjectError("Node", "", str(meta.get("name") or ""), problem) from error
