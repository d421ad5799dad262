"""`+ - * / %`, negation and ordering."""

from __future__ import annotations

import math
from typing import Any

from dra_cel.equality import ORDER, exact_order
from dra_cel.errors import EvaluationError
from dra_cel.functions.addition import checked_int, checked_uint
from dra_cel.functions.charges import APPEND, COMPARE, CONCATENATE
from dra_cel.functions.limits import check_elements, check_text
from dra_cel.functions.table import Overload, overload
from dra_cel.slices import gathered
from dra_cel.uint import MIN_INT, UInt


def _divide(left: int, right: int) -> int:
    """Divide as CEL does: towards zero."""
    if right == 0:
        raise EvaluationError("division by zero")
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def _remainder(left: int, right: int) -> int:
    """Return the remainder with the sign of the dividend."""
    if right == 0:
        raise EvaluationError("modulus by zero")
    if left == MIN_INT and right == -1:
        raise EvaluationError("integer overflow")
    rest = abs(left) % abs(right)
    return -rest if left < 0 else rest


def _divide_double(left: float, right: float) -> float:
    if right != 0:
        return left / right
    if left == 0 or math.isnan(left):
        return math.nan
    return math.copysign(math.inf, left) * math.copysign(1.0, right)


def _times_double(left: float, right: float) -> float:
    return left * right


def _add_string(left: str, right: str) -> str:
    check_text(len(left) + len(right))
    return left + right


def _add_bytes(left: bytes, right: bytes) -> bytes:
    check_text(len(left) + len(right))
    return left + right


def _add_list(left: tuple[Any, ...], right: tuple[Any, ...]) -> tuple[Any, ...]:
    check_elements(len(left) + len(right))
    return gathered(left, right)


_ARITHMETIC = [
    overload("add_bytes", "_+_(bytes, bytes) -> bytes", _add_bytes, CONCATENATE),
    overload("add_double", "_+_(double, double) -> double", lambda left, right: left + right),
    overload("add_int64", "_+_(int, int) -> int", lambda left, right: checked_int(left + right)),
    overload("add_list", "_+_(list(T), list(T)) -> list(T)", _add_list, APPEND),
    overload("add_string", "_+_(string, string) -> string", _add_string, CONCATENATE),
    overload("add_uint64", "_+_(uint, uint) -> uint", lambda left, right: checked_uint(int(left) + int(right))),
    overload("subtract_double", "_-_(double, double) -> double", lambda left, right: left - right),
    overload("subtract_int64", "_-_(int, int) -> int", lambda left, right: checked_int(left - right)),
    overload("subtract_uint64", "_-_(uint, uint) -> uint", lambda left, right: checked_uint(int(left) - int(right))),
    overload("multiply_double", "_*_(double, double) -> double", _times_double),
    overload("multiply_int64", "_*_(int, int) -> int", lambda left, right: checked_int(left * right)),
    overload("multiply_uint64", "_*_(uint, uint) -> uint", lambda left, right: checked_uint(int(left) * int(right))),
    overload("divide_double", "_/_(double, double) -> double", _divide_double),
    overload("divide_int64", "_/_(int, int) -> int", lambda left, right: checked_int(_divide(left, right))),
    overload(
        "divide_uint64", "_/_(uint, uint) -> uint", lambda left, right: checked_uint(_divide(int(left), int(right)))
    ),
    overload("modulo_int64", "_%_(int, int) -> int", _remainder),
    overload("modulo_uint64", "_%_(uint, uint) -> uint", lambda left, right: UInt(_remainder(int(left), int(right)))),
    overload("negate_double", "-_(double) -> double", lambda value: -value),
    overload("negate_int64", "-_(int) -> int", lambda value: checked_int(-value)),
]

_WORDS = {"_<_": "less", "_<=_": "less_equals", "_>_": "greater", "_>=_": "greater_equals"}
_NUMBERS = {"int": "int64", "uint": "uint64", "double": "double"}


def _orderings() -> list[Overload]:
    entries = []
    for operator, word in _WORDS.items():
        exact = exact_order(operator)
        entries += [
            overload(f"{word}_{type_}", f"{operator}({type_}, {type_}) -> bool", exact)
            for type_ in ("bool", "timestamp", "duration")
        ]
        entries += [
            overload(f"{word}_{type_}", f"{operator}({type_}, {type_}) -> bool", exact, COMPARE)
            for type_ in ("string", "bytes")
        ]
        for left, left_id in _NUMBERS.items():
            for right, right_id in _NUMBERS.items():
                id_ = f"{word}_{left_id}" if left == right else f"{word}_{left_id}_{right_id}"
                call = ORDER[operator] if "double" in (left, right) else exact
                entries.append(overload(id_, f"{operator}({left}, {right}) -> bool", call))
    return entries


OVERLOADS = [*_ARITHMETIC, *_orderings()]
