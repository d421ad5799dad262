"""What CEL's list extensions cost: a call, the new list, and a multiple of its size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dra_cel.ast import Literal
from dra_cel.errors import EvaluationAborted
from dra_cel.functions.charges import FAILED, Charge, Estimate, Estimator, Operand, RuntimeCost, size_of
from dra_cel.functions.limits import MAX_ELEMENTS
from dra_cel.ranges import MAX, STRING_FACTOR, Range, fixed
from dra_cel.values import type_name

_BASE = 11
"""One unit for the call, ten for the list."""


def _estimate(size: Range, factor: float) -> Estimate:
    return Estimate(size.scaled(factor).plus(fixed(_BASE)), size)


def _literal(operand: Operand, default: int) -> int:
    node = operand.node
    if isinstance(node, Literal) and type(node.value) is int:
        return max(node.value, 0)
    return default


def _of_result(args: Sequence[Any], result: Any) -> int:
    return size_of(result) + _BASE


def _slice_estimate(target: Operand | None, args: Sequence[Operand]) -> Estimate | None:
    if target is None:
        return None
    size = (_literal(args[1], target.size.high) - _literal(args[0], 0)) % (MAX + 1)
    return _estimate(fixed(size), 1)


def _reverse_estimate(target: Operand | None, args: Sequence[Operand]) -> Estimate | None:
    return None if target is None else _estimate(target.size, 1)


def _flatten_estimate(target: Operand | None, args: Sequence[Operand]) -> Estimate | None:
    depth = _literal(args[0], MAX) if args else 1
    return None if target is None else _estimate(target.size, float(depth))


def _not_countable(value: Any) -> EvaluationAborted:
    shown = "an error" if value is FAILED else f"'{type_name(value)}'"
    return EvaluationAborted(f"internal error: the cost of a list function can't be told from {shown}")


def _flatten_runtime(args: Sequence[Any], result: Any) -> int:
    depth = 1.0
    if len(args) == 2:
        if type(args[1]) is not int:
            raise _not_countable(args[1])
        depth = float(args[1])
    return int(size_of(args[0]) * (depth if depth >= 0 else 1.0)) + _BASE


def _self_compare(position: int) -> RuntimeCost:
    def runtime(args: Sequence[Any], result: Any) -> int:
        items = args[position]
        if type(items) is not tuple:
            raise _not_countable(items)
        if not items:
            return _BASE
        factor = 2.0 + (STRING_FACTOR if type(items[0]) in (str, bytes) else 0.0)
        return int(float(len(items) ** 2) * factor) + _BASE

    return runtime


def _square_estimate(position: int, factor: float) -> Estimator:
    def estimate(target: Operand | None, args: Sequence[Operand]) -> Estimate | None:
        if target is None:
            return None
        size = (target, *args)[position].size
        return _estimate(size.times(size), factor)

    return estimate


def _range_runtime(args: Sequence[Any], result: Any) -> int:
    """Charge before the list is there; a length that is refused gives an error, whose size is one."""
    return (args[0] if type(args[0]) is int and 0 <= args[0] <= MAX_ELEMENTS else 1) + _BASE


def _factor(type_: str) -> float:
    return 2.0 + (STRING_FACTOR if type_ in ("string", "bytes") else 0.0)


def sort(type_: str) -> Charge:
    """Charge for sorting a list of that element type: the square of its size."""
    return Charge(_self_compare(0), _square_estimate(0, _factor(type_)), aborts=True)


def sort_by(type_: str) -> Charge:
    """Charge for sorting by keys of that type."""
    return Charge(_self_compare(1), _square_estimate(1, _factor(type_)), aborts=True)


SLICE = Charge(_of_result, _slice_estimate, needs_result=True)
REVERSE = Charge(_of_result, _reverse_estimate, needs_result=True)
RANGE = Charge(_range_runtime, lambda target, args: _estimate(fixed(_literal(args[0], MAX)), 1))
FLATTEN = Charge(_flatten_runtime, _flatten_estimate, aborts=True)
DISTINCT = Charge(_self_compare(0), _square_estimate(0, 2.0), aborts=True)
