"""Equality and order of values at run time."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from dra_cel.errors import EvaluationError
from dra_cel.quantity import Quantity
from dra_cel.semver import Semver
from dra_cel.slices import paced, parts, tick
from dra_cel.uint import UInt
from dra_cel.values import MISSING, CelMap, Optional, TypeValue, register_type_name, type_name

register_type_name(Quantity, "kubernetes.Quantity")

_SAME_CLASS = frozenset({bool, str, bytes, type(None), TypeValue})
_NUMBERS = frozenset({int, UInt, float})
STRICT: set[type] = {Quantity, Semver}
"""Classes of Kubernetes' own types: comparing a value of one with a value of another class is an error."""


def register_strict(class_: type) -> None:
    """Say that comparing a value of this class with one of another class is an error."""
    STRICT.add(class_)


def equal(left: Any, right: Any) -> bool:
    """Return `left == right`.

    Values of different types are unequal, numbers compare by value, null equals null only.

    Raises:
        EvaluationError: a Kubernetes type (Quantity, Semver, ...) on the left, another type on the right; or a
            Quantity on the left and one made by `add` or `sub` on the right, which Kubernetes takes for another type.

    """
    kind = type(left)
    if kind in _SAME_CLASS:
        return type(right) is kind and bool(left == right)
    if kind in _NUMBERS:
        return type(right) in _NUMBERS and _equal_numbers(left, right)
    if right is None:
        return False
    if kind is tuple:
        return type(right) is tuple and _equal_lists(left, right)
    if kind is CelMap:
        return type(right) is CelMap and _equal_maps(left, right)
    if kind is Optional:
        return type(right) is Optional and _equal_optionals(left, right)
    if type(right) is not kind:
        if kind in STRICT:
            raise EvaluationError(f"no such overload: {type_name(left)} == {type_name(right)}")
        return False
    if kind is Quantity and right.computed:
        raise EvaluationError("no such overload: the result of add or sub can only be on the left of ==")
    return bool(left == right)


def not_false(left: Any, right: Any) -> bool:
    """Return whether two values are equal or can't be compared: how lists and maps compare their parts."""
    try:
        return equal(left, right)
    except EvaluationError:
        return True


def surely_equal(left: Any, right: Any) -> bool:
    """Return whether two values are equal; values that can't be compared are not."""
    try:
        return equal(left, right)
    except EvaluationError:
        return False


def _equal_numbers(left: Any, right: Any) -> bool:
    if type(left) is float or type(right) is float:
        return float(left) == float(right)
    return bool(left == right)


def uniform(items: tuple[Any, ...]) -> type | None:
    """Return the class of a list's elements if it is one whose values Python compares as CEL does, else None."""
    classes = set(map(type, paced(items)))
    return next(iter(classes)) if len(classes) == 1 and classes <= _PLAIN else None


_PLAIN = frozenset({bool, bytes, int, str, UInt})


def _equal_lists(left: tuple[Any, ...], right: tuple[Any, ...]) -> bool:
    if len(left) != len(right):
        return False
    tick()
    kind = uniform(left)
    if kind is not None and kind is uniform(right):
        return all(mine == other for mine, other in zip(parts(left), parts(right), strict=True))
    return all(not_false(mine, other) for mine, other in zip(paced(left), right, strict=True))


def _equal_maps(left: CelMap, right: CelMap) -> bool:
    if len(left) != len(right):
        return False
    for key, value in paced(left.items()):
        other = right.get(key)
        if other is MISSING or not not_false(value, other):
            return False
    return True


def _equal_optionals(left: Optional, right: Optional) -> bool:
    if not left.present or not right.present:
        return left.present == right.present
    return equal(left.value, right.value)


def compare(left: Any, right: Any) -> int:
    """Return -1, 0 or 1 for two values that the function table allows to be ordered.

    Raises:
        EvaluationError: NaN is involved.

    """
    if type(left) is float or type(right) is float:
        left, right = float(left), float(right)
        if math.isnan(left) or math.isnan(right):
            raise EvaluationError("NaN values cannot be ordered")
    return int(left > right) - int(left < right)


Comparison = Callable[[Any, Any], bool]


def _order(test: Callable[[int], bool]) -> Comparison:
    def compare_values(left: Any, right: Any) -> bool:
        return test(compare(left, right))

    return compare_values


def exact_order(operator: str) -> Comparison:
    """Return `<`, `<=`, `>` or `>=` for values of one class without NaN."""
    return _EXACT[operator]


_EXACT: dict[str, Comparison] = {
    "_<_": lambda left, right: left < right,
    "_<=_": lambda left, right: left <= right,
    "_>_": lambda left, right: left > right,
    "_>=_": lambda left, right: left >= right,
}
ORDER: dict[str, Comparison] = {
    "_<_": _order(lambda sign: sign < 0),
    "_<=_": _order(lambda sign: sign <= 0),
    "_>_": _order(lambda sign: sign > 0),
    "_>=_": _order(lambda sign: sign >= 0),
}
"""Ordering operators by function name, for numbers that may be doubles."""
