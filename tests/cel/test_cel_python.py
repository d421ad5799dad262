"""cel-python must agree where it implements the language; where it does not, the difference is listed."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.cel_devices import DEVICES, A, outcomes
from support.cel_python import second_opinion
from support.cel_python_differences import DIFFERENCES

D1 = DEVICES[0]

INTEGER = st.recursive(
    st.one_of(st.integers(-9, 9).map(str), st.just(f"{A}.index"), st.just(f"{A}.numa"), st.just(f"{A}.lanes[1]")),
    lambda inner: st.builds("({} {} {})".format, inner, st.sampled_from("+-*/%"), inner),
    max_leaves=4,
)
PLAIN = st.sampled_from(['"A100"', '"A"', '""', '"é"', "device.driver", f"{A}.model"])
TEXT = st.one_of(
    PLAIN,
    st.builds("({} + {})".format, st.sampled_from(['"A"', f"{A}.model"]), st.sampled_from(['"1"', "device.driver"])),
)
TEST = st.one_of(
    st.builds("({} {} {})".format, INTEGER, st.sampled_from(["<", "<=", ">", ">=", "==", "!="]), INTEGER),
    st.builds("({} {} {})".format, TEXT, st.sampled_from(["<", ">=", "==", "!="]), TEXT),
    st.builds("{}.{}({})".format, PLAIN, st.sampled_from(["startsWith", "endsWith", "contains"]), TEXT),
    st.builds("({} in [{}, {}])".format, INTEGER, INTEGER, st.integers(0, 3)),
    st.builds("(size({}) == {})".format, TEXT, INTEGER),
    st.builds("{}.lanes.{}(x, x > {})".format, st.just(A), st.sampled_from(["all", "exists"]), INTEGER),
    st.builds("({}.lanes.map(x, x + {}) == [{}, 17])".format, st.just(A), st.integers(0, 3), INTEGER),
    st.builds("(size({}.lanes.filter(x, x > {})) == 1)".format, st.just(A), st.integers(0, 20)),
    st.sampled_from([f"has({A}.model)", f"has({A}.nosuch)", f"{A}.ecc", f"({A}.nosuch == 1)", "true", "false"]),
)
EXPRESSION = st.recursive(
    TEST,
    lambda inner: st.one_of(
        st.builds("({} && {})".format, inner, inner),
        st.builds("({} || {})".format, inner, inner),
        st.builds("(!{})".format, inner),
        st.builds("({} ? {} : {})".format, inner, inner, inner),
    ),
    max_leaves=5,
)


@settings(max_examples=60, deadline=None)
@given(EXPRESSION)
def test_cel_python_agrees_on_the_language_itself(text: str) -> None:
    ours = outcomes(text)[0]
    assert ours in (second_opinion(text, D1), "C")  # a constant fault may be a compile error here


@pytest.mark.parametrize(("text", "ours", "theirs", "why"), DIFFERENCES)
def test_the_differences_of_cel_python_are_known(text: str, ours: str, theirs: str, why: str) -> None:
    text = text.replace("$A", A)
    assert outcomes(text)[0] == ours
    assert second_opinion(text, D1) == theirs, why
