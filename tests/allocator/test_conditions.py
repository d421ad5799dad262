"""Which part of a selector fails, and what devices have instead."""

from __future__ import annotations

import numpy as np
import pytest

from dra_allocator.conditions import Conditions
from dra_allocator.effort import Effort
from dra_allocator.facts import Condition, Values
from dra_allocator.masks import MaskStore
from dra_allocator.published import value_text
from dra_cel.quantity import Quantity
from dra_cel.semver import Semver
from support.devices import DRIVER, Cluster, device, resource_slice

ATTRIBUTES = f'device.attributes["{DRIVER}"]'
CAPACITY = f'device.capacity["{DRIVER}"]'


def unmet(text: str, effort: Effort | None = None) -> tuple[Condition, ...]:
    """What is said of four devices: a, a, b of 4, 4, 8 with a number each, and one without any attribute."""
    some = [device(f"d{n}", memory=m, model=x, numa=n) for n, (x, m) in enumerate((("a", "4"), ("a", "4"), ("b", "8")))]
    cluster = Cluster(resource_slice("s", [*some, device("bare", memory="2")], node="n1"))
    rows = np.ones(len(cluster.table.rows), np.bool_)
    return Conditions(cluster.table, MaskStore(1 << 20), text, effort or Effort()).unmet(rows)


def test_the_part_that_fails_on_most_devices_comes_first() -> None:
    most, less = unmet(f'{CAPACITY}.memory.isLessThan(quantity("5")) && {CAPACITY}.memory.isLessThan(quantity("3"))')
    assert (most.text, most.false, most.devices) == (f'{CAPACITY}.memory.isLessThan(quantity("3"))', 3, 4)
    assert (less.text, less.false) == (f'{CAPACITY}.memory.isLessThan(quantity("5"))', 1)


def test_says_what_those_devices_have_that_do_not_meet_it() -> None:
    (one,) = unmet(f'{CAPACITY}.memory.compareTo(quantity("8")) >= 0')
    assert one.values == (
        Values(
            "capacity",
            f"{DRIVER}/memory",
            devices=3,
            having=3,
            values=(("4", 2), ("2", 1)),
            distinct=2,
            kinds=("quantity",),
            least="2",
            most="4",
        ),
    )


def test_tells_devices_on_which_it_fails_from_those_for_which_it_is_false() -> None:
    (one,) = unmet(f'{ATTRIBUTES}.model == "a"')
    assert (one.false, one.failing, one.error) == (1, 1, "no such key: model")
    assert (one.values[0].having, one.values[0].devices) == (1, 2)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        (f'{ATTRIBUTES}.modle == "a"', f"{ATTRIBUTES}.model"),
        (f'{ATTRIBUTES}.memory == "a"', f"{CAPACITY}.memory"),
        ('device.attributes["other.example.com"].model == "a"', f"{ATTRIBUTES}.model"),
        (f"{CAPACITY}.numa.asInteger() == 1", f"{ATTRIBUTES}.numa"),
        (f'{ATTRIBUTES}.zzz == "a"', ""),
    ],
)
def test_finds_the_name_that_was_probably_meant(text: str, meant: str) -> None:
    (one,) = unmet(text)
    assert (one.values[0].having, one.values[0].suggestion) == (0, meant)


def test_names_the_driver_only_where_nothing_else_is_read() -> None:
    (one,) = unmet('device.driver == "gpu"')
    assert [(values.kind, values.values) for values in one.values] == [("driver", ((f'"{DRIVER}"', 4),))]
    (one,) = unmet(f'device.driver == "gpu" || {CAPACITY}.memory.isGreaterThan(quantity("9"))')
    assert [values.kind for values in one.values] == ["capacity"]


def test_a_selector_that_does_not_compile_is_one_part_with_its_error() -> None:
    (one,) = unmet("device.drivr == 'a' && true")
    assert one.failing == one.devices == 4
    assert "drivr" in one.error


def test_looks_at_no_more_parts_than_the_effort_allows() -> None:
    text = " && ".join(f"{ATTRIBUTES}.?numa.orValue(0) > {number}" for number in range(10, 20))
    effort = Effort(parts=2)
    assert len(unmet(text, effort)) == 2
    assert unmet(text, effort) == ()


def test_looks_for_no_more_names_than_the_effort_allows() -> None:
    (one,) = unmet(f'{ATTRIBUTES}.modle == "a"', Effort(suggestions=0))
    assert one.values[0].suggestion == ""


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "true"),
        (3, "3"),
        ("x", '"x"'),
        (Semver.parse("1.2.3"), "1.2.3"),
        (Quantity.parse("40Gi"), "40Gi"),
        (("a", "b"), '["a", "b"]'),
    ],
)
def test_writes_values_as_expressions_do(value: object, text: str) -> None:
    assert value_text(value) == text
