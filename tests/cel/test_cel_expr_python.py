"""cel-expr-python must agree where it implements the language; where it does not, the difference is listed."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from support.cel_devices import DEVICES, A, outcomes
from support.cel_expr_python import third_opinion
from support.cel_expr_python_differences import DIFFERENCES
from support.cel_texts import EXPRESSION

pytest.importorskip("cel_expr_python", reason="cel-expr-python is not installed; it is an optional cross-check")

D1 = DEVICES[0]


@settings(max_examples=60, deadline=None)
@given(EXPRESSION)
def test_cel_expr_python_agrees_on_the_language_itself(text: str) -> None:
    ours = outcomes(text)[0]
    assert ours in (third_opinion(text, D1), "C")  # a constant fault may be a compile error here


@pytest.mark.parametrize(("text", "ours", "theirs", "why"), DIFFERENCES)
def test_the_differences_of_cel_expr_python_are_known(text: str, ours: str, theirs: str, why: str) -> None:
    text = text.replace("$A", A)
    assert outcomes(text)[0] == ours
    assert third_opinion(text, D1) == theirs, why
