"""CEL's set operations on lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dra_cel.equality import uniform
from dra_cel.functions.charges import Charge, Estimate, Operand, size_of
from dra_cel.functions.operators import in_list
from dra_cel.functions.table import overload
from dra_cel.ranges import MAX, UNIT
from dra_cel.slices import rest


def _contains(items: tuple[Any, ...], wanted: tuple[Any, ...]) -> bool:
    kind = uniform(items)
    if kind is not None and kind is uniform(wanted):
        return set(wanted) <= set(items)
    return all(_is_in(item, items) for item in wanted)


def _intersects(left: tuple[Any, ...], right: tuple[Any, ...]) -> bool:
    kind = uniform(left)
    if kind is not None and kind is uniform(right):
        return not set(left).isdisjoint(right)
    return any(_is_in(item, right) for item in left)


def _is_in(item: Any, items: tuple[Any, ...]) -> bool:
    rest()
    return in_list(item, items)


def _equivalent(left: tuple[Any, ...], right: tuple[Any, ...]) -> bool:
    return _contains(left, right) and _contains(right, left)


def _charge(factor: float) -> Charge:
    def runtime(args: Sequence[Any], result: Any) -> int:
        product = size_of(args[0]) * size_of(args[1])
        return min(int(product * factor), MAX) + 1

    def estimate(target: Operand | None, args: Sequence[Operand]) -> Estimate:
        return Estimate(args[0].size.times(args[1].size).scaled(factor).plus(UNIT))

    return Charge(runtime, estimate)


OVERLOADS = [
    overload("list_sets_contains_list", "sets.contains(list(T), list(T)) -> bool", _contains, _charge(1)),
    overload("list_sets_equivalent_list", "sets.equivalent(list(T), list(T)) -> bool", _equivalent, _charge(2)),
    overload("list_sets_intersects_list", "sets.intersects(list(T), list(T)) -> bool", _intersects, _charge(1)),
]
