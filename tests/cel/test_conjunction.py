"""What a conjunction consists of."""

from __future__ import annotations

import pytest

from dra_cel.conjunction import conjuncts


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("true", ["true"]),
        (" a && b&&c ", ["a", "b", "c"]),
        ("(a && b) && [c && d][0] && {1: e && f}[1]", ["(a && b)", "[c && d][0]", "{1: e && f}[1]"]),
        ("a && b || c", ["a && b || c"]),
        ("a && b ? c : d", ["a && b ? c : d"]),
        ("a && (b || c)", ["a", "(b || c)"]),
        ("x == '&&' && y", ["x == '&&'", "y"]),
        ("a.?b.orValue(1) == 1 && c", ["a.?b.orValue(1) == 1", "c"]),
        ("a // && b\n && c", ["a // && b", "c"]),
    ],
)
def test_operands_of_the_outermost_and_are_told_apart(text: str, parts: list[str]) -> None:
    assert conjuncts(text) == parts
