"""Does a node match a node selector? The rules of core/v1 NodeSelector."""

from __future__ import annotations

import re
from collections.abc import Mapping

from dra_allocator.node import Node, NodeSelector, NodeSelectorRequirement, NodeSelectorTerm

_INTEGER = re.compile(r"[+-]?[0-9]+", re.ASCII)


def matches(selector: NodeSelector, node: Node) -> bool:
    """Return whether the node matches one of the terms; a term without requirements matches nothing."""
    return any(_term_matches(term, node) for term in selector.terms)


def _term_matches(term: NodeSelectorTerm, node: Node) -> bool:
    if not term.match_expressions and not term.match_fields:
        return False
    fields = {"metadata.name": node.name}
    return all(_requirement_holds(requirement, node.labels) for requirement in term.match_expressions) and all(
        _requirement_holds(requirement, fields) for requirement in term.match_fields
    )


def _requirement_holds(requirement: NodeSelectorRequirement, labels: Mapping[str, str]) -> bool:
    value = labels.get(requirement.key)
    match requirement.operator:
        case "In":
            return value is not None and value in requirement.values
        case "NotIn":
            return value is None or value not in requirement.values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case "Gt" | "Lt":
            return _compare(requirement, value)


def _compare(requirement: NodeSelectorRequirement, value: str | None) -> bool:
    """Gt and Lt compare decimal integers of 64 bits; whatever is none does not match."""
    if value is None or len(requirement.values) != 1:
        return False
    left, right = _integer(value), _integer(requirement.values[0])
    if left is None or right is None:
        return False
    return left > right if requirement.operator == "Gt" else left < right


def _integer(text: str) -> int | None:
    if not _INTEGER.fullmatch(text) or len(text) > 20:
        return None
    number = int(text)
    return number if -(2**63) <= number < 2**63 else None
