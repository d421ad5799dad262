"""The operands of `&&`, `||`, `!` and `?:`, and that together they say what the whole says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dra_cel import DeviceFields, EvaluationError, compile_selector
from dra_cel.parts import Part, parts


def shown(part: Part) -> str:
    """The part with brackets around what it was split into."""
    if not part.operands:
        return part.text
    if part.operator == "!":
        return f"!<{shown(part.operands[0])}>"
    if part.operator == "?:":
        yes = [shown(one) for one in part.operands]
        return f"<{yes[0]} ? {yes[1]} : {yes[2]}>"
    return f"<{f' {part.operator} '.join(map(shown, part.operands))}>"


@pytest.mark.parametrize(
    ("text", "split"),
    [
        ("true", "true"),
        (" ( (true) ) ", "true"),
        ("a && b||c", "<<a && b> || c>"),
        ("(a || b) && c", "<<a || b> && c>"),
        ("!a && !(b || c)", "<!<a> && !<<b || c>>>"),
        ("!a == b", "!a == b"),
        ("-1 < x", "-1 < x"),
        ("a ? b && c : d ? e : f", "<a ? <b && c> : <d ? e : f>>"),
        ("a.?b.orValue(1) == 1 && c[?0].hasValue()", "<a.?b.orValue(1) == 1 && c[?0].hasValue()>"),
        ("x.exists(v, v == 1 && v > 0) && [a && b] == c", "<x.exists(v, v == 1 && v > 0) && [a && b] == c>"),
        ('{"a": b || c}.size() == 1 || d', '<{"a": b || c}.size() == 1 || d>'),
        ('"&&" == a && b', '<"&&" == a && b>'),
        ("a // b && c\n && d", "<a && d>"),
        ("(a) == (b)", "(a) == (b)"),
        ("", ""),
    ],
)
def test_an_expression_is_split_where_its_operators_are(text: str, split: str) -> None:
    assert shown(parts(text)) == split


LEAVES = st.sampled_from(["true", "false", "1 == 2", "1 / 0 == 1", 'device.driver == "d"', "device.driver.size() > 1"])


def joined(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    pairs = st.tuples(inner, st.sampled_from(["&&", "||"]), inner).map(" ".join)
    wrapped = inner.map(lambda text: f"({text})")
    negated = inner.map(lambda text: f"!({text})")
    choices = st.tuples(inner, inner, inner).map(lambda three: f"({three[0]}) ? ({three[1]}) : ({three[2]})")
    return pairs | wrapped | negated | choices


@given(st.recursive(LEAVES, joined, max_leaves=8))
def test_the_operands_together_say_what_the_whole_says(text: str) -> None:
    assert combined(parts(text)) == value(text)


def value(text: str) -> bool | None:
    """What an expression says about a device; None: an error."""
    try:
        return compile_selector(text).matches(DeviceFields("d"))
    except EvaluationError:
        return None


def combined(part: Part) -> bool | None:
    found = [combined(one) for one in part.operands]
    match part.operator:
        case "&&":
            return False if False in found else None if None in found else True
        case "||":
            return True if True in found else None if None in found else False
        case "!":
            return None if found[0] is None else not found[0]
        case "?:":
            return None if found[0] is None else found[1] if found[0] else found[2]
    return value(part.text)
