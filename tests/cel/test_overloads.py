"""Operators with rules of their own get the types that the general rule finds; equal parts have equal values."""

from __future__ import annotations

from itertools import product

import pytest

from dra_cel import compile_selector, overloads
from dra_cel import types as t
from dra_cel.environment import environment
from dra_cel.types import Type
from dra_cel.unification import Unifier
from support.cel_devices import DEVICES

OPEN = [t.parameter("A"), t.parameter("B")]
PLAIN = [t.BOOL, t.INT, t.STRING, t.DYN, t.NULL, t.wrapper(t.INT), t.QUANTITY, *OPEN]
NESTED = [
    t.list_of(t.INT),
    t.list_of(t.DYN),
    *map(t.list_of, OPEN),
    t.optional_of(OPEN[0]),
    t.map_of(t.STRING, OPEN[1]),
]
TYPES = [*PLAIN, *NESTED]


def resolved(name: str, args: tuple[Type, ...]) -> tuple[str, ...]:
    """Return what a call and the parameters turn out to be."""
    declared, unifier = environment(False, True, True), Unifier()
    found, entries = overloads.match(declared, unifier, name, args, False)
    result = "none" if found is None else str(unifier.closed(found, {}))
    return result, *(entry.id for entry in entries), *(str(unifier.closed(open_, {})) for open_ in OPEN)


def test_a_sum_of_lists_is_what_the_general_rule_makes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = [("_+_", (t.list_of(left), t.list_of(right))) for left, right in product(TYPES, TYPES)]
    direct = [resolved(*call) for call in calls]
    monkeypatch.setattr(overloads, "_RULES", {})
    environment(False, True, True).matches.clear()
    assert direct == [resolved(*call) for call in calls]


def test_a_choice_is_what_the_general_rule_makes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    conditions = [t.BOOL, t.DYN, t.INT, OPEN[0], t.wrapper(t.BOOL)]
    calls = [("_?_:_", args) for args in product(conditions, TYPES, TYPES)]
    direct = [resolved(*call) for call in calls]
    monkeypatch.setattr(overloads, "_RULES", {})
    environment(False, True, True).matches.clear()
    assert direct == [resolved(*call) for call in calls]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('double("NaN") in [double("NaN"), 1.0]', False),
        ('double("1.5") in [double("1.5"), 1.0]', True),
        ("1.0 / -0.0 == 1.0 / 0.0", False),
        ("[1, 2] == [1, 2] && 1 + 2 in [1 + 2, 4] && [true] != [1 == 1, true]", True),
    ],
)
def test_parts_that_are_written_the_same_are_equal_where_their_values_are(text: str, expected: bool) -> None:
    assert compile_selector(text).matches(DEVICES[0]) is expected
