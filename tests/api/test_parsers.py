"""What JSON and unquoted YAML scalars mean."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dra_api.manifests.json_lines import parse_json
from dra_api.manifests.lines import Deferred, SyntaxProblem, child_lines, line_at, line_of
from dra_api.manifests.yaml_lines import plain_scalar


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
