"""Label selectors in object and query form, and field selectors."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dra_api.errors import DecodeError, SelectorSyntaxError
from dra_api.field_selectors import FieldTerm, parse_field_query
from dra_api.labels import EVERYTHING, label_selector, parse_label_query

keys = st.sampled_from(["a", "b", "example.com/c"])
values = st.sampled_from(["", "x", "y", "7", "x.y"])
label_sets = st.dictionaries(keys, values)


@pytest.mark.parametrize(
    ("query", "labels", "selected"),
    [
        ("", {}, True),
        ("a=x", {"a": "x"}, True),
        ("a==x", {"a": "y"}, False),
        ("a = x , b", {"a": "x", "b": ""}, True),
        ("a=", {"a": ""}, True),
        ("a=", {}, False),
        ("a!=x", {}, True),
        ("a!=x", {"a": "x"}, False),
        ("a in (x, y)", {"a": "y"}, True),
        ("a in (x, y)", {}, False),
        ("a in ()", {"a": ""}, True),
        ("a in (,x)", {"a": ""}, True),
        ("a notin (x,y)", {}, True),
        ("a notin (x,y)", {"a": "x"}, False),
        ("in in (in)", {"in": "in"}, True),
        ("a,!b", {"a": "1"}, True),
        ("a,!b", {"a": "1", "b": ""}, False),
        ("a>5", {"a": "7"}, True),
        ("a>5", {"a": "x"}, False),
        ("a<5", {"a": "-3"}, True),
        ("a<5", {}, False),
        ("example.com/c=x", {"example.com/c": "x"}, True),
    ],
)
def test_a_query_selects_labels_as_the_api_server_does(query: str, labels: dict[str, str], selected: bool) -> None:
    assert parse_label_query(query).matches(labels) is selected


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ("a,", "found '', expected an identifier"),
        (",a", "found ',', expected an identifier"),
        ("a b", "found 'b', expected one of in, notin, =, ==, !=, >, <"),
        ("a in x", "found 'x', expected '('"),
        ("a in (x", "found '', expected ',' or ')'"),
        ("a=x y", "found 'y', expected ',' or the end"),
        ("a=x=y", "found '=', expected ',' or the end"),
        ("!a=x", "found '=' after '!a', expected ',' or the end"),
        ("a>x", "'x' must be an integer after '>'"),
        ("a=-x-", "'-x-' is not a label value: must consist of"),
        ("-a", "'-a' is not a label key: name part must consist of"),
        ("a in (x(y)", "found '(', expected ',' or ')'"),
        ("a =", ""),
    ],
)
def test_a_query_that_cannot_be_parsed_says_where(query: str, problem: str) -> None:
    if not problem:
        assert parse_label_query(query).matches({"a": ""})
        return
    with pytest.raises(SelectorSyntaxError) as caught:
        parse_label_query(query)
    assert caught.value.problem.startswith(problem)


@given(st.text(alphabet="ab/.-=!<>()in ,x7\t", max_size=12), label_sets)
def test_any_query_is_matched_or_refused(query: str, labels: dict[str, str]) -> None:
    try:
        matcher = parse_label_query(query)
    except SelectorSyntaxError:
        return
    assert matcher.matches(labels) in (True, False)


def brute_force(selector: dict[str, Any], labels: dict[str, str]) -> bool:
    for key, value in selector.get("matchLabels", {}).items():
        if labels.get(key) != value:
            return False
    for entry in selector.get("matchExpressions", []):
        present, value = entry["key"] in labels, labels.get(entry["key"])
        met = {
            "In": present and value in entry.get("values", []),
            "NotIn": not present or value not in entry.get("values", []),
            "Exists": present,
            "DoesNotExist": not present,
        }[entry["operator"]]
        if not met:
            return False
    return True


sets = st.fixed_dictionaries(
    {"key": keys, "operator": st.sampled_from(["In", "NotIn"]), "values": st.lists(values, min_size=1, max_size=3)}
)
presences = st.fixed_dictionaries({"key": keys, "operator": st.sampled_from(["Exists", "DoesNotExist"])})
selectors = st.fixed_dictionaries(
    {}, optional={"matchLabels": label_sets, "matchExpressions": st.lists(sets | presences, max_size=3)}
)


def as_query(selector: dict[str, Any]) -> str:
    terms = [f"{key}={value}" for key, value in selector.get("matchLabels", {}).items()]
    for entry in selector.get("matchExpressions", []):
        operator, key = entry["operator"], entry["key"]
        joined = ",".join(entry.get("values", []))
        terms.append(
            {
                "In": f"{key} in ({joined})",
                "NotIn": f"{key} notin ({joined})",
                "Exists": key,
                "DoesNotExist": f"!{key}",
            }[operator]
        )
    return ", ".join(terms)


@given(selectors, label_sets)
def test_objects_and_queries_agree_with_the_definition(selector: dict[str, Any], labels: dict[str, str]) -> None:
    expected = brute_force(selector, labels)
    assert label_selector(selector).matches(labels) is expected
    assert parse_label_query(as_query(selector)).matches(labels) is expected


def test_a_null_selector_selects_nothing_and_an_empty_one_everything() -> None:
    assert not label_selector(None).matches({"a": "x"})
    assert label_selector({}) == EVERYTHING
    assert EVERYTHING.matches(None)


@pytest.mark.parametrize(
    ("selector", "message"),
    [
        (
            {"matchLabels": {"a": 1}},
            'spec.selector.matchLabels[a]: must be a string, not an integer (1); write it with quotes: "1"',
        ),
        (
            {"matchExpressions": [{"key": "a", "operator": "Like"}]},
            "spec.selector.matchExpressions[0].operator: 'Like' is not",
        ),
        (
            {"matchExpressions": [{"key": "a", "operator": "In"}]},
            "spec.selector.matchExpressions[0].values: must be specified",
        ),
        (
            {"matchExpressions": [{"key": "a", "operator": "Exists", "values": ["x"]}]},
            "spec.selector.matchExpressions[0].values: may not be specified",
        ),
        (
            {"matchExpressions": [{"key": "", "operator": "Exists"}]},
            "spec.selector.matchExpressions[0].key: '' is not a label",
        ),
        ([], "spec.selector: must be an object, not a list"),
    ],
)
def test_a_selector_object_that_is_wrong_names_its_field(selector: Any, message: str) -> None:
    with pytest.raises(DecodeError) as caught:
        label_selector(selector, "spec.selector")
    assert str(caught.value).startswith(message)


def test_a_field_query_compares_fields() -> None:
    matcher = parse_field_query("spec.nodeName=n1,status.phase!=Running,,a==b")
    assert matcher.terms == (
        FieldTerm("spec.nodeName", True, "n1"),
        FieldTerm("status.phase", False, "Running"),
        FieldTerm("a", True, "b"),
    )
    fields = {"spec.nodeName": "n1", "a": "b"}
    assert matcher.matches(lambda field: fields.get(field, ""))
    assert not matcher.matches(lambda field: (fields | {"status.phase": "Running"}).get(field, ""))


def test_a_field_term_without_field_and_value_selects_everything() -> None:
    assert parse_field_query("=,!=").terms == ()


def test_a_field_query_may_escape_its_separators() -> None:
    assert parse_field_query(r"a=x\,y\=z\\").terms == (FieldTerm("a", True, "x,y=z\\"),)


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ("a", "can't understand 'a': expected field=value"),
        (r"a=x\y", r"invalid escape sequence '\y' in 'x"),
        ("a=b=c", "unescaped '=' in 'b=c'"),
        ("a=b\\", "'b\\\\' ends in a backslash"),
    ],
)
def test_a_field_query_that_cannot_be_parsed_says_why(query: str, problem: str) -> None:
    with pytest.raises(SelectorSyntaxError) as caught:
        parse_field_query(query)
    assert caught.value.problem.startswith(problem)
