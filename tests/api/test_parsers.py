"""What JSON and unquoted YAML scalars mean."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dra_api.manifests.json_lines import _parse, parse_json
from dra_api.manifests.json_offsets import lines_of
from dra_api.manifests.lines import Deferred, Lines, SyntaxProblem, child_lines, line_at, line_of
from dra_api.manifests.yaml_lines import parse_yaml, plain_scalar


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.text(),
        lambda x: st.lists(x) | st.dictionaries(st.text(), x),
    )
)
def test_json_means_the_same_as_in_the_standard_library(value: object) -> None:
    (parsed,) = parse_json(json.dumps(value, indent=1))
    assert parsed.value == value
    assert type(parsed.value) is type(value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("yes", True), ("No", False), ("y", True), ("on", True), ("~", None), ("", None), ("null", None),
        ("12", 12), ("-5", -5), ("+5", 5), ("017", 15), ("0o17", 15), ("0x1F", 31), ("0b11", 3),
        ("1_000", 1000), ("08", 8),
        ("1.5", 1.5), ("1e3", 1000), ("1.0", 1), (".5", 0.5), ("1.", 1), ("12:30", "12:30"),
        ("2026-01-01", "2026-01-01"),
        ("1.2.3", "1.2.3"), ("8Gi", "8Gi"), ("-", "-"), ("0x", "0x"), ("0xfffffffffffffffff", "0xfffffffffffffffff"),
        ("18446744073709551616", 1.8446744073709552e19), ("9" * 70, "9" * 70), ("1e999", "1e999"),
    ],
)  # fmt: skip
def test_unquoted_scalars_mean_what_kubectl_takes_them_for(text: str, value: object) -> None:
    assert plain_scalar(text) == value
    assert type(plain_scalar(text)) is type(value)


def test_lone_surrogates_become_replacement_characters_as_in_go() -> None:
    (parsed,) = parse_json(r'{"a": "x\ud800y", "b": "\ud83d\ude00"}')
    assert parsed.value == {"a": "x\ufffdy", "b": "\U0001f600"}


@pytest.mark.parametrize("depth", [100, 102, 5000])
def test_nesting_is_bounded_whichever_way_it_is_read(depth: int) -> None:
    text = "[" * depth + "]" * depth
    if depth <= 100:
        assert len(list(parse_json(text))) == 1
        return
    with pytest.raises(SyntaxProblem, match="nested more than 100 levels deep"):
        list(parse_json(text))


def test_lines_that_are_found_late_are_right() -> None:
    (parsed,) = parse_json('{\n "a": [\n  1,\n  {"b": 2}\n ]\n}')
    assert isinstance(parsed.lines, Deferred)
    assert [line_at(parsed.lines, path) for path in ("", "a", "a[0]", "a[1].b", "a[1].c", "z")] == [1, 2, 3, 4, 4, 1]
    assert line_of(child_lines(parsed.lines, "a", "1")) == 4


VALUES = st.recursive(
    st.none() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=12,
)


@given(VALUES, st.sampled_from([None, 0, 2]), st.sampled_from(["", "\n", " \n\n"]))
def test_lines_that_are_found_late_are_those_that_reading_all_finds(
    value: object, indent: int | None, before: str
) -> None:
    text = before + json.dumps(value, indent=indent)
    assert _all_lines(lines_of(text)) == _all_lines(next(_parse(text)).lines)


def _all_lines(lines: Lines) -> object:
    if isinstance(lines, Deferred):
        lines = lines.get()
    if isinstance(lines, int):
        return lines
    children = lines.children
    if isinstance(children, dict):
        return lines.line, {key: _all_lines(inner) for key, inner in children.items()}
    return lines.line, [_all_lines(inner) for inner in children]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"a": 1', "1:8: malformed JSON: the text ends too early"),
        ('{"a" 1}', "1:6: malformed JSON: expected ':', found '1'"),
        ('{"a": 1 "b": 2}', "1:9: malformed JSON: expected ',' or '}', found '\"'"),
        ("{a: 1}", "1:2: malformed JSON: expected a key in double quotes"),
        ('{"a": "x\ny"}', "1:7: malformed JSON: this string does not end, or has a raw control character in it"),
        (r'{"a": "\x"}', "1:7: malformed JSON: this string has an invalid escape"),
        ("[1,\n2,]", "2:3: malformed JSON: unexpected ']'"),
        ("[01]", "1:3: malformed JSON: expected ',' or ']', found '1'"),
        ("[1e999]", "1:2: malformed JSON: this number is too large"),
        (f"[{'9' * 70}, NaN]", "1:2: malformed JSON: this number is too long"),
        ("[NaN]", "1:2: malformed JSON: unexpected 'N'"),
    ],
)
def test_malformed_json_is_named_with_its_place(text: str, problem: str) -> None:
    with pytest.raises(SyntaxProblem) as caught:
        list(parse_json(text))
    assert f"{caught.value.line}:{caught.value.column}: {caught.value.problem}" == problem


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("null: 1", "1:1: malformed YAML: null, a list or an object cannot be a key"),
        ("[a]: 1", "1:1: malformed YAML: null, a list or an object cannot be a key"),
        ("a:\n  <<: 5", "2:3: malformed YAML: << needs an object or a list of objects"),
        ("a: !!binary aGk=", "1:4: malformed YAML: the tag tag:yaml.org,2002:binary is not allowed"),
        ("a: \x00", "1:1: malformed YAML: "),
        ("a: 'x", "1:6: malformed YAML: while scanning a quoted scalar found unexpected end of stream"),
    ],
)
def test_malformed_yaml_is_named_with_its_place(text: str, problem: str) -> None:
    with pytest.raises(SyntaxProblem) as caught:
        list(parse_yaml(text))
    assert f"{caught.value.line}:{caught.value.column}: {caught.value.problem}".startswith(problem)


def test_merge_keys_take_several_objects_the_first_one_first() -> None:
    (parsed,) = parse_yaml("a: &a {p: 1, q: 1}\nb: &b {q: 2, r: 2}\nc:\n  <<: [*a, *b]\n  p: 3\n")
    assert parsed.value["c"] == {"p": 3, "q": 1, "r": 2}
    assert [line_at(parsed.lines, f"c.{key}") for key in "pqr"] == [5, 1, 2]
    (quoted,) = parse_yaml("'<<': 1\ntrue: 2\n5: 3\nk: 4")
    assert quoted.value == {"<<": 1, "true": 2, "5": 3, "k": 4}
