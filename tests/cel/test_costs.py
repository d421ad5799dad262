"""Costs are Kubernetes', to the unit: actual ones, where something fails on the way too, and estimates."""

from __future__ import annotations

import pytest

from dra_cel.columns import DeviceColumns
from dra_cel.device import DeviceFields
from dra_cel.errors import EvaluationAborted, EvaluationError
from dra_cel.quantity import Quantity
from dra_cel.selector import compile_selector
from dra_cel.semver import Semver

DEVICE = DeviceFields(
    "d.io",
    {
        "d.io/s": "a",
        "d.io/i": 7,
        "d.io/li": (1, 7),
        "d.io/ls": ("a", "c"),
        "d.io/v": Semver.parse("1.2.3"),
    },
    {"d.io/m": Quantity.parse("80Gi")},
)


def text(short: str) -> str:
    return short.replace("$A", 'device.attributes["d.io"]').replace("$C", 'device.capacity["d.io"]')


@pytest.mark.parametrize(
    ("short", "cost"),
    [
        ('$A.nosuch == ["a"] && false', 5),
        ('quantity("1").isGreaterThan(quantity("x")) && false', 3),
        ('"a" == $A.nosuch || true', 5),
        ('"" == $A.nosuch || true', 4),
        ("$A.nosuch + int($A.nosuch) == 1 || true", 11),
        ("$A.nosuch.compareTo($A.v) == 1 || true", 5),
        ("$A.s.startsWith($A.nosuch) || true", 9),
        ('"abc".substring(0, $A.nosuch) == "" || true', 5),
        ('"abc".substring($A.nosuch, 2) == "" || true', 4),
        ("$A.i.sort() == [] || true", 5),
        ("lists.range(-1) == [1] || true", 13),
        ("[1].slice(3, 2) == [1] || true", 13),
        ('"a".matches($A.nosuch) || true', 5),
        ('$A.nosuch.matches("a") || true', 4),
        ('matches($A.nosuch, "a") || true', 4),
        ('$A.nosuch.find("a") == "" || true', 4),
        ('$A.nosuch.find($A.s) == "" || true', 9),
        ("format.dns1123Label().validate($A.nosuch).hasValue() || true", 14),
        ('format.named("x").value().validate("a").hasValue() || true', 4),
        ("$A.ls.map(x, x + 1) == [1] || true", 34),
        ("$A.ls.filter(x, dyn(x)) == [1] || true", 10),
        ("$A.li.exists_one(x, x == 1 || $A.nosuch) || true", 16),
        ("$A.li.transformMap(k, v, v / (v - 1)) == {1: 1} || true", 14),
        ('$A.transformMapEntry(k, v, {"a": 1}) == {"a": 2} || true', 15),
        ("has($A.nosuch.b) || true", 3),
        ("has($A.?nosuch.b)  || true", 2),
        ("has($A.?s.b) || true", 3),
        ("$A[$A.nosuch] == 1 || true", 8),
        ('$A.ls[int($A.nosuch)] == "" || true', 10),
        ("$A.ls[?int($A.nosuch)].hasValue() || true", 10),
        ('{"a": $A.nosuch}.b.c == 1 || true', 36),
        ("($A.nosuch ? 1 : 2) == 1 || true", 5),
        ("cel.bind(x, $A.nosuch, x == x) || true", 7),
        ("optional.of($A.nosuch).hasValue() || true", 6),
        ("$A.?b.orValue(false) || true", 3),
        ("$A.?i.orValue(1) == 7", 5),
        ('ip("::1") == ip("::1")', 3),
        ('ip("::1") != ip("::1")', 4),
        ('[][1] == 0 || "s" in $A', 7),
        ("size($A.nosuch) == 1 || true", 6),
    ],
)
def test_a_failed_part_costs_what_it_costs_in_kubernetes(short: str, cost: int) -> None:
    assert compile_selector(text(short)).evaluate(DEVICE)[1] == cost


@pytest.mark.parametrize(
    ("short", "estimate"),
    [
        ("$A.exists(k, v, k.contains(k))", 1764),
        ("$A.exists(k, v, v.contains(k))", 1764),
        ("device.attributes.all(k, v, k.contains(k))", 1731),
        ("$C.all(k, v, $A.s.matches(k))", 260),
        ('$C.exists(k, v, k == "äöü")', 164),
        ("$A.all(k, v, v.all(a, b, a.matches(k)))", 18446744073709551615),
        ("device.attributes.all(k, v, v.all(a, b, a.matches(k)) && v.all(c, c.matches(k)))", 190691),
    ],
)
def test_the_estimate_follows_paths_that_overwrite_each_other(short: str, estimate: int) -> None:
    assert compile_selector(text(short)).estimated_cost == estimate


@pytest.mark.parametrize(
    "short", ["$A.nosuch.distinct()", "$A.s.distinct()", "$A.li.flatten($A.nosuch)", "[int($A.nosuch)].sort()"]
)
def test_a_list_function_whose_cost_cannot_be_told_ends_the_evaluation_for_good(short: str) -> None:
    selector = compile_selector(text(f"true || {short} == []"))
    assert selector.matches(DEVICE)
    selector = compile_selector(text(f"{short} == [] || true"))
    with pytest.raises(EvaluationAborted, match="cost of a list function"):
        selector.matches(DEVICE)
    assert selector.masks(DeviceColumns([DEVICE])).error.all()


def test_an_error_does_not_end_a_loop_but_makes_its_result_an_error() -> None:
    selector = compile_selector(text("$A.li.map(x, 1 / (x - 1)) == [0] || device.driver == 'd.io'"))
    both = compile_selector(text("$A.li.map(x, 1 / (x - 8)) == [0] || device.driver == 'd.io'"))
    assert selector.evaluate(DEVICE) == both.evaluate(DEVICE)


def test_the_order_of_numbers_that_the_checker_took_for_bools_is_theirs() -> None:
    selector = compile_selector(text("[$A.i].sort().reverse().exists(i, x, x < x)"))
    assert not selector.matches(DEVICE)


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("2025-12-31T23:59:59.50+01:00", "2025-12-31T23:59:59.5+01:00"),
        ("2025-12-31T23:59:59-00:00", "2025-12-31T23:59:59Z"),
        ("0001-01-01T00:00:00-01:30", "0001-01-01T00:00:00-01:30"),
    ],
)
def test_a_timestamp_shows_the_zone_it_was_written_in(written: str, shown: str) -> None:
    assert compile_selector(f'string(timestamp("{written}")) == "{shown}"').matches(DEVICE)
    assert compile_selector(f'timestamp("{written}") == timestamp("{written}") + duration("0s")').matches(DEVICE)
    later = f'string(timestamp("{written}") + duration("24h") - duration("24h")) == "{shown}"'
    assert compile_selector(later).matches(DEVICE)


def spent(expression: str) -> int | None:
    with pytest.raises(EvaluationError) as caught:
        compile_selector(text(expression)).evaluate(DEVICE)
    return caught.value.cost


@pytest.mark.parametrize(
    ("expression", "cost"),
    [
        ('$A.nosuch.format([device.driver]) == ""', 4),
        ('$A.nosuch.join() == ""', 5),
        ('$A.nosuch.matches("a")', 4),
        ("$A.nosuch.matches(dyn(1))", 5),
        ('url("x").getHostname().find(dyn(1)) == ""', 3),
        ("dyn([1, 2]).?x == optional.none()", 3),
        ("optional.of(dyn([1])).x == optional.none()", 4),
        ("has(optional.of(dyn([1])).x)", 1),
        ("lists.range(1000001) == []", 12),
        ("$A.ls", 4),
    ],
)
def test_an_error_tells_what_was_spent_until_then(expression: str, cost: int) -> None:
    assert spent(expression) == cost


@pytest.mark.parametrize(
    ("expression", "estimate"),
    [
        ('url("/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa") == url("/b")', 7),
        ('url("/b") == url("/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")', 11),
        ("url(device.driver) == url(device.driver)", 25),
        ('url("/b") == optional.of(url("/bbbbbbbbbbbbbbbbbbbbbbbbb")).value()', 7),
    ],
)
def test_comparing_urls_is_estimated_by_the_size_of_the_right_one(expression: str, estimate: int) -> None:
    assert compile_selector(expression).estimated_cost == estimate
