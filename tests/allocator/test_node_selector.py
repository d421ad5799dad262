"""Node selectors, with the rules of core/v1."""

from __future__ import annotations

import pytest

from dra_allocator.node import Node, NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from dra_allocator.node_selector import matches

NODE = Node("n1", {"zone": "a", "size": "10", "text": "x1"})


def labels(*requirements: NodeSelectorRequirement) -> NodeSelector:
    return NodeSelector((NodeSelectorTerm(requirements),))


@pytest.mark.parametrize(
    ("key", "operator", "values", "expected"),
    [
        ("zone", "In", ("a", "b"), True),
        ("zone", "In", ("b",), False),
        ("none", "In", ("a",), False),
        ("zone", "NotIn", ("a",), False),
        ("none", "NotIn", ("a",), True),
        ("zone", "Exists", (), True),
        ("none", "Exists", (), False),
        ("none", "DoesNotExist", (), True),
        ("size", "Gt", ("9",), True),
        ("size", "Gt", ("10",), False),
        ("size", "Lt", ("11",), True),
        ("text", "Gt", ("0",), False),
        ("none", "Lt", ("0",), False),
        ("size", "Lt", (str(2**63),), False),
        ("size", "Lt", ("1", "2"), False),
    ],
)
def test_one_requirement(key: str, operator: str, values: tuple[str, ...], expected: bool) -> None:
    requirement = NodeSelectorRequirement(key, operator, values)  # type: ignore[arg-type]
    assert matches(labels(requirement), NODE) == expected


def test_requirements_of_a_term_must_all_hold_and_terms_are_alternatives() -> None:
    yes, no = NodeSelectorRequirement("zone", "Exists"), NodeSelectorRequirement("none", "Exists")
    assert not matches(labels(yes, no), NODE)
    assert matches(NodeSelector((NodeSelectorTerm((no,)), NodeSelectorTerm((yes,)))), NODE)


def test_an_empty_term_and_no_term_match_nothing() -> None:
    assert not matches(NodeSelector((NodeSelectorTerm(),)), NODE)
    assert not matches(NodeSelector(()), NODE)


def test_fields_know_the_name_of_the_node() -> None:
    own = NodeSelectorTerm(match_fields=(NodeSelectorRequirement("metadata.name", "In", ("n1",)),))
    other = NodeSelectorTerm(match_fields=(NodeSelectorRequirement("metadata.uid", "In", ("n1",)),))
    assert matches(NodeSelector((own,)), NODE)
    assert not matches(NodeSelector((other,)), NODE)
