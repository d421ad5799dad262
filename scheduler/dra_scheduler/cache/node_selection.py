"""Where a pod wants to run: node selector, required node affinity and tolerations, as hashable values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from dra_allocator.node import NodeSelectorOperator, NodeSelectorRequirement, NodeSelectorTerm

UNSCHEDULABLE_TAINT = "node.kubernetes.io/unschedulable"


@dataclass(frozen=True, slots=True)
class Taint:
    """A taint of a node that keeps pods away (effect NoSchedule or NoExecute)."""

    key: str
    value: str
    effect: str


@dataclass(frozen=True, slots=True)
class PodToleration:
    """A toleration of a pod; `effect` and `key` empty: all of them."""

    key: str
    operator: str
    value: str
    effect: str

    def tolerates(self, taint: Taint) -> bool:
        """Whether this toleration covers the taint (core/v1 rules; Gt and Lt are an alpha gate and cover nothing)."""
        if self.effect and self.effect != taint.effect:
            return False
        if self.key and self.key != taint.key:
            return False
        if self.operator in {"", "Equal"}:
            return self.value == taint.value
        return self.operator == "Exists"


@dataclass(frozen=True, slots=True)
class NodeSelection:
    """All that decides, by a node's name, labels, taints and `unschedulable`, whether the pod may go there.

    `labels` is `spec.nodeSelector`. `terms` None: no required node affinity (an empty tuple matches no node).
    Equal selections have equal results on every node, so results are remembered by it.
    """

    labels: tuple[tuple[str, str], ...]
    terms: tuple[NodeSelectorTerm, ...] | None
    tolerations: tuple[PodToleration, ...]

    def tolerated(self, taints: tuple[Taint, ...]) -> bool:
        """Whether every taint is tolerated."""
        return all(any(toleration.tolerates(taint) for toleration in self.tolerations) for taint in taints)

    def names(self) -> frozenset[str] | None:
        """Return the node names that required affinity by `metadata.name` leaves over, or None if it leaves all."""
        if not self.terms:
            return None
        union: set[str] = set()
        for term in self.terms:
            named = [set(field.values) for field in term.match_fields if _is_name_in(field)]
            if not named:
                return None
            union |= set.intersection(*named)
        return frozenset(union)


def _is_name_in(requirement: NodeSelectorRequirement) -> bool:
    return requirement.key == "metadata.name" and requirement.operator == "In"


def node_selection(spec: Mapping[str, Any]) -> NodeSelection:
    """Read a pod's spec."""
    affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    return NodeSelection(
        labels=tuple(sorted((spec.get("nodeSelector") or {}).items())),
        terms=None if required is None else tuple(_term(t) for t in required.get("nodeSelectorTerms") or ()),
        tolerations=tuple(
            PodToleration(t.get("key") or "", t.get("operator") or "", t.get("value") or "", t.get("effect") or "")
            for t in spec.get("tolerations") or ()
        ),
    )


def _term(term: Mapping[str, Any]) -> NodeSelectorTerm:
    return NodeSelectorTerm(
        tuple(_requirement(r) for r in term.get("matchExpressions") or ()),
        tuple(_requirement(r) for r in term.get("matchFields") or ()),
    )


def _requirement(requirement: Mapping[str, Any]) -> NodeSelectorRequirement:
    operator = cast("NodeSelectorOperator", requirement["operator"])
    return NodeSelectorRequirement(requirement["key"], operator, tuple(requirement.get("values") or ()))
