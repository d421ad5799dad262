from hypothesis import given, settings
from hypothesis import strategies as st

from dra_allocator.node import Node, NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from dra_allocator.node_selector import matches
from dra_scheduler.cache.label_columns import LabelColumns

KEYS = ["zone", "size", "absent"]
VALUES = ["a", "b", "1", "2", "10", "-3", "007"]

labels = st.dictionaries(st.sampled_from(KEYS[:2]), st.sampled_from(VALUES), max_size=2)
expressions = st.builds(
    NodeSelectorRequirement,
    st.sampled_from(KEYS),
    st.sampled_from(["In", "NotIn"]),
    st.lists(st.sampled_from(VALUES), min_size=1, max_size=3).map(tuple),
) | st.builds(NodeSelectorRequirement, st.sampled_from(KEYS), st.sampled_from(["Exists", "DoesNotExist"]))
comparisons = st.builds(
    NodeSelectorRequirement,
    st.sampled_from(KEYS),
    st.sampled_from(["Gt", "Lt"]),
    st.sampled_from(["1", "5", "-3"]).map(lambda value: (value,)),
)
fields = st.builds(
    NodeSelectorRequirement,
    st.just("metadata.name"),
    st.sampled_from(["In", "NotIn"]),
    st.sampled_from(["n0", "n1", "other"]).map(lambda name: (name,)),
)
terms = st.builds(
    NodeSelectorTerm,
    st.lists(expressions | comparisons, max_size=2).map(tuple),
    st.lists(fields, max_size=2).map(tuple),
)


@settings(deadline=None)
@given(st.lists(labels, min_size=1, max_size=6), st.lists(terms, max_size=3))
def test_terms_match_the_same_nodes_as_one_by_one(
    nodes: list[dict[str, str]], selector: list[NodeSelectorTerm]
) -> None:
    columns = LabelColumns(len(nodes))
    for row, has in enumerate(nodes):
        columns.set_row(row, f"n{row}", has)
    expected = [matches(NodeSelector(tuple(selector)), Node(f"n{row}", has)) for row, has in enumerate(nodes)]
    assert columns.terms(selector).tolist() == expected


def test_columns_follow_changes_and_growth() -> None:
    columns = LabelColumns(1)
    columns.set_row(0, "n0", {"zone": "a"})
    assert columns.pairs([("zone", "a")]).tolist() == [True]
    columns.grow(2)
    columns.set_row(1, "n1", {"zone": "b"})
    columns.set_row(0, "n0", {"zone": "b"})
    assert columns.pairs([("zone", "b")]).tolist() == [True, True]
    columns.set_row(1, "n1", None)
    assert columns.pairs([("zone", "b")]).tolist() == [True, False]
