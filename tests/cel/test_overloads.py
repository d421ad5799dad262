"""Operators with a rule of their own get the types that the general rule finds, and bind the same parameters."""

from __future__ import annotations

from itertools import product

import pytest

from dra_cel import overloads
from dra_cel import types as t
from dra_cel.environment import environment
from dra_cel.types import Type
from dra_cel.unification import Unifier

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
