"""Nodes and node selectors, as far as devices are concerned.

Source: core/v1 NodeSelector (terms are ORed, the requirements of a term are ANDed, an empty term matches nothing).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

NodeSelectorOperator = Literal["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"]


@dataclass(frozen=True, slots=True)
class Node:
    """What the allocator knows of a node: its name, its labels and the features that its kubelet declares."""

    name: str
    labels: Mapping[str, str] = field(default_factory=dict)
    declared_features: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class NodeSelectorRequirement:
    """One `matchExpressions` or `matchFields` entry."""

    key: str
    operator: NodeSelectorOperator
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NodeSelectorTerm:
    """All requirements must hold. `match_fields` knows `metadata.name` only, as Kubernetes does."""

    match_expressions: tuple[NodeSelectorRequirement, ...] = ()
    match_fields: tuple[NodeSelectorRequirement, ...] = ()


@dataclass(frozen=True, slots=True)
class NodeSelector:
    """A node matches if it matches one term."""

    terms: tuple[NodeSelectorTerm, ...]
