"""Whatever an object holds, the rules judge it and raise nothing."""

from __future__ import annotations

import copy
from random import Random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from dra_api.validation import Rules, validate_object, validate_status_update, validate_update, with_defaults
from support import dra_objects
from support.mutations import damaged

RULES = Rules(partitionable_devices_type=True)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
ALL = dra_objects.all_objects()
ALLOCATED = dra_objects.claim() | {"status": dra_objects.claim_status()}


def paths(value: Any, prefix: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [prefix, *(path for key, child in children for path in paths(child, (*prefix, key)))]


def replaced(obj: Any, path: tuple[Any, ...], value: Any) -> Any:
    result = copy.deepcopy(obj)
    holder = result
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = value
    return result


PLACES = [(obj, path) for obj in ALL for path in paths(obj) if path[:1] in (("metadata",), ("spec",))]
STATUS_PLACES = [path for path in paths(ALLOCATED) if path[:1] == ("status",)]


def test_the_undamaged_objects_are_valid() -> None:
    for obj in ALL:
        assert validate_object(obj, RULES) == []
    assert validate_status_update(ALLOCATED, dra_objects.claim()) == []


@given(st.sampled_from(PLACES), JSON)
def test_any_value_in_any_field_is_judged(place: tuple[Any, tuple[Any, ...]], value: Any) -> None:
    obj, path = place
    changed = replaced(obj, path, value)
    for error in (*validate_object(changed, RULES), *validate_update(changed, obj, RULES)):
        assert str(error)


@given(st.sampled_from(STATUS_PLACES), JSON)
def test_any_value_in_any_field_of_a_status_is_judged(path: tuple[Any, ...], value: Any) -> None:
    validate_status_update(replaced(ALLOCATED, path, value), dra_objects.claim())


@given(st.sampled_from(ALL), st.randoms(use_true_random=False))
def test_damaged_objects_are_judged_and_their_defaults_change_nothing_given(obj: Any, random: Random) -> None:
    changed = damaged(obj, random, "spec")
    before = copy.deepcopy(changed)
    filled = with_defaults(changed, "2026-01-01T00:00:00Z")
    assert changed == before
    assert with_defaults(filled, "later") == filled
    validate_object(filled, RULES)
