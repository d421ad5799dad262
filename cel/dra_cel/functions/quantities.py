"""Kubernetes' quantity library."""

from __future__ import annotations

from dataclasses import replace

from dra_cel.errors import EvaluationError
from dra_cel.functions.charges import per_character
from dra_cel.functions.table import member, overload
from dra_cel.quantity import Format, Quantity, QuantityError


def _parse(text: str) -> Quantity:
    try:
        return Quantity.parse(text)
    except QuantityError as error:
        raise EvaluationError(str(error)) from error


def _is_quantity(text: str) -> bool:
    try:
        Quantity.parse(text)
    except QuantityError:
        return False
    return True


def _as_integer(value: Quantity) -> int:
    whole = value.as_int64()
    if whole is None:
        raise EvaluationError("cannot convert value to integer")
    return whole


def _compare(left: Quantity, right: Quantity) -> int:
    return (left.nanos > right.nanos) - (left.nanos < right.nanos)


def _computed(value: Quantity) -> Quantity:
    """Mark a sum: Kubernetes can't compare with one on the right of `==`, see `equal`."""
    return replace(value, computed=True)


def _from_int(value: int) -> Quantity:
    return Quantity.from_int(value, Format.DECIMAL_EXPONENT)


OVERLOADS = [
    overload("string_to_quantity", "quantity(string) -> Quantity", _parse, per_character()),
    overload("is_quantity_string", "isQuantity(string) -> bool", _is_quantity, per_character()),
    overload("quantity_sign", "sign(Quantity) -> int", lambda value: value.sign),
    member("quantity_is_greater_than", "isGreaterThan(Quantity, Quantity) -> bool", lambda a, b: a.nanos > b.nanos),
    member("quantity_is_less_than", "isLessThan(Quantity, Quantity) -> bool", lambda a, b: a.nanos < b.nanos),
    member("quantity_compare_to", "compareTo(Quantity, Quantity) -> int", _compare),
    member("quantity_get_float", "asApproximateFloat(Quantity) -> double", Quantity.approximate_float),
    member("quantity_get_int", "asInteger(Quantity) -> int", _as_integer),
    member("quantity_is_integer", "isInteger(Quantity) -> bool", lambda value: value.as_int64() is not None),
    member("quantity_add", "add(Quantity, Quantity) -> Quantity", lambda a, b: _computed(a.add(b))),
    member("quantity_add_int", "add(Quantity, int) -> Quantity", lambda a, b: _computed(a.add(_from_int(b)))),
    member("quantity_sub", "sub(Quantity, Quantity) -> Quantity", lambda a, b: _computed(a.sub(b))),
    member("quantity_sub_int", "sub(Quantity, int) -> Quantity", lambda a, b: _computed(a.sub(_from_int(b)))),
]
