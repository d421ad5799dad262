"""What values of unknown type do where the checker has to guess, as Kubernetes 1.37.2 does it."""

from __future__ import annotations

import re

import pytest

from dra_cel.derived import compile_derived
from dra_cel.device import DeviceFields
from dra_cel.errors import CompileError, EvaluationError
from dra_cel.quantity import Quantity
from dra_cel.selector import compile_selector
from dra_cel.semver import Semver

DEVICE = DeviceFields(
    "d.io",
    {"d.io/text": "a", "d.io/texts": ("a",), "d.io/ints": (1, 2), "d.io/version": Semver.parse("1.2.3")},
    {"d.io/memory": Quantity.parse("7")},
)
A = 'device.attributes["d.io"]'
C = 'device.capacity["d.io"]'


def matches(text: str) -> bool:
    return compile_selector(text).matches(DEVICE)


@pytest.mark.parametrize(
    "text",
    [f"isSemver({A}.ints[?0].value())", f'{A}.texts + {A}.text == ["a"]', f"[dyn(1)] + {A}.text[?0].value() == []"],
)
def test_a_type_that_was_inferred_from_dynamic_parts_is_checked_when_it_counts(text: str) -> None:
    with pytest.raises(EvaluationError):
        matches(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"[{A}.ints[0]].sort().reverse().exists(v, v <= v)", True),
        (f"[{A}.text].sort().reverse().exists(v, v + v == v)", False),
        (f"[{A}.ints[0]].sort().reverse().exists(v, v - v == v)", False),
        (f"[{A}.text].sort().reverse().exists(v, size(v + v) == 2)", True),
    ],
)
def test_operators_look_at_the_values_whatever_the_checker_chose(text: str, expected: bool) -> None:
    assert matches(text) is expected


def test_a_sum_whose_type_was_guessed_wrongly_is_checked_when_it_counts() -> None:
    with pytest.raises(EvaluationError):
        matches(f"[{A}.ints[0]].sort().reverse().exists(v, size(v + v) == 2)")


@pytest.mark.parametrize(
    "text", [f"{A}.ints.existsOne(x, x == 1)", "[1].existsOne(x, true)", f"{A}.nosuch.existsOne(x, true)"]
)
def test_exists_one_in_camel_case_needs_two_variables(text: str) -> None:
    with pytest.raises(CompileError, match="undeclared"):
        compile_selector(text)
    assert matches(f"{A}.ints.existsOne(i, x, x == 1)")


@pytest.mark.parametrize("sum_", [f"{C}.memory.add(1)", f"{C}.memory.sub(quantity('1'))", f"{C}.memory.add(0)"])
def test_a_sum_of_quantities_is_compared_on_the_left_of_equals_only(sum_: str) -> None:
    with pytest.raises(EvaluationError, match="add or sub"):
        matches(f"{C}.memory == {sum_}")
    assert matches(f"{sum_} == {C}.memory") is sum_.endswith("add(0)")
    assert not matches(f"dyn({C}.memory) in [{sum_}]")
    assert matches(f"{sum_}.compareTo({C}.memory) <= 0") is not sum_.endswith("add(1)")


@pytest.mark.parametrize("value", [f"{A}.text", "dyn(1)", f"{C}.memory", "dyn(null)", f"{A}.version"])
def test_an_optional_index_of_what_has_no_elements_finds_nothing(value: str) -> None:
    assert not matches(f"dyn({value})[?0].hasValue()")
    assert not matches(f'dyn({value})[?"a"].hasValue()')


@pytest.mark.parametrize("text", [f"has({A}.ints.a)", f"{A}.ints.?a.hasValue()"])
def test_a_field_of_a_list_is_an_error_also_where_it_is_optional(text: str) -> None:
    with pytest.raises(EvaluationError, match="list"):
        matches(text)


@pytest.mark.parametrize("map_", [A, C, "device.attributes", "device.capacity"])
def test_a_version_is_in_no_map_of_the_device_and_an_error_in_a_constant_one(map_: str) -> None:
    assert not matches(f"{A}.version in {map_}")
    with pytest.raises(EvaluationError):
        matches(f'{A}.version in {{"a": 1}}')


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (f"{A}.texts[?0]", "a"),
        (f"{A}.?texts[?0]", "a"),
        (f"dyn({A}.?ints)[?1]", 2),
        (f"dyn({A}.?text)", "a"),
        ('dyn(optional.of(optional.of("x")))', "x"),
        ('[dyn("y"), dyn(optional.of("x"))]', ("y", "x")),
        ("dyn(type(1))", "int"),
        ("dyn([type(1)])", ("int",)),
    ],
)
def test_a_derived_attribute_that_is_an_optional_is_what_it_holds(text: str, value: object) -> None:
    assert compile_derived(text).value(DEVICE) == value


@pytest.mark.parametrize("text", [f"{A}.texts[?9]", f"dyn({A}.?nosuch)", 'dyn(optional.of(["x"]))'])
def test_a_derived_attribute_that_holds_nothing_or_a_list_is_an_error(text: str) -> None:
    with pytest.raises(EvaluationError):
        compile_derived(text).value(DEVICE)


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ('dyn(["a"]).reverse().isSorted()', "no such overload: isSorted(list)"),
        ('dyn(["a"]).distinct().isSorted()', "no such overload: isSorted(list)"),
        ('[dyn("a"), dyn(1)].flatten().isSorted()', "no such overload: isSorted(list)"),
        ("dyn([1]).reverse().isSorted()", True),
        ("dyn([]).reverse().isSorted()", True),
        ('[dyn("a")].reverse().isSorted()', True),
        ('dyn(dyn(["b", "a"]).reverse().sort()) == ["a", "b"]', True),
        ('dyn(["a"]).flatten() == ["a"]', True),
    ],
)
def test_what_the_checker_takes_for_a_list_of_ints_is_none_if_its_first_element_is_none(
    text: str, outcome: bool | str
) -> None:
    """Of functions of lists the checker takes the first overload for what is of dynamic type, which is that of ints."""
    selector = compile_selector(text)
    if isinstance(outcome, bool):
        assert selector.evaluate(DEVICE)[0] is outcome
    else:
        with pytest.raises(EvaluationError, match=re.escape(outcome)):
            selector.evaluate(DEVICE)
