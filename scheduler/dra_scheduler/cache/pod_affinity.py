"""Required affinity and anti-affinity between pods, as read from a pod's spec.

A label selector that is absent matches nothing, an empty one everything. A term concerns the pods of the namespaces
that it lists or selects; if it does neither, those of its own pod's namespace.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dra_api.labels import NOTHING, LabelMatcher, label_selector


@dataclass(frozen=True, slots=True)
class AffinityTerm:
    """Pods in the same value of the node label `topology_key`."""

    topology_key: str
    selector: LabelMatcher
    namespaces: frozenset[str]
    namespace_selector: LabelMatcher

    def matches(self, namespace: str, labels: Mapping[str, str], namespace_labels: Mapping[str, str]) -> bool:
        """Whether a pod with these labels in this namespace is meant."""
        if namespace not in self.namespaces and not self.namespace_selector.matches(namespace_labels):
            return False
        return self.selector.matches(labels)


@dataclass(frozen=True, slots=True)
class PodAffinity:
    """`near`: all terms must find a pod; `apart`: no term may find one, also when pods come later."""

    near: tuple[AffinityTerm, ...] = ()
    apart: tuple[AffinityTerm, ...] = ()


NO_AFFINITY = PodAffinity()


def pod_affinity(spec: Mapping[str, Any], namespace: str) -> PodAffinity:
    """Read a pod's spec. Raises DecodeError."""
    affinity = spec.get("affinity") or {}
    near, apart = (_terms(affinity, kind, namespace) for kind in ("podAffinity", "podAntiAffinity"))
    return PodAffinity(near, apart) if near or apart else NO_AFFINITY


def _terms(affinity: Mapping[str, Any], kind: str, namespace: str) -> tuple[AffinityTerm, ...]:
    terms = (affinity.get(kind) or {}).get("requiredDuringSchedulingIgnoredDuringExecution") or ()
    return tuple(_term(term, f"spec.affinity.{kind}", namespace) for term in terms)


def _term(term: Mapping[str, Any], field: str, namespace: str) -> AffinityTerm:
    listed, selected = term.get("namespaces") or (), term.get("namespaceSelector")
    return AffinityTerm(
        topology_key=term["topologyKey"],
        selector=_matcher(term.get("labelSelector"), f"{field}.labelSelector"),
        namespaces=frozenset(listed) if listed or selected is not None else frozenset({namespace}),
        namespace_selector=_matcher(selected, f"{field}.namespaceSelector"),
    )


def _matcher(selector: Any, field: str) -> LabelMatcher:
    return NOTHING if selector is None else label_selector(selector, field)
