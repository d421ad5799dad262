"""What calls cost: at run time, and at most as far as one can tell from the expression.

The rules are those of Kubernetes (its cost estimator) and of CEL (everything that Kubernetes leaves to
it). Strings cost a tenth of a unit per character.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from dra_cel.ast import Node
from dra_cel.ranges import REGEX_FACTOR, STRING_FACTOR, UNIT, UNKNOWN, Range, scale
from dra_cel.slices import paced
from dra_cel.types import Type
from dra_cel.uint import UInt


@dataclass(slots=True)
class Operand:
    """A call's target or argument, as the static estimate sees it. Nothing changes it; not frozen, as in `ast`.

    Attributes:
        node: the expression.
        type: its static type.
        size: number of characters, bytes, elements or entries.
        element_size: size of a list's elements.
        known_size: the size, or None where nothing tells it.

    """

    node: Node
    type: Type
    size: Range = UNKNOWN
    element_size: Range = UNKNOWN
    known_size: Range | None = None


@dataclass(slots=True)
class Estimate:
    """Static cost of a call without its arguments, and the size of its result where that is known.

    Nothing changes it; not frozen, as in `ast`.
    """

    cost: Range
    result_size: Range | None = None


class Estimator(Protocol):
    """Estimates a call."""

    def __call__(self, target: Operand | None, args: Sequence[Operand]) -> Estimate | None:
        """Return the estimate, or None for the default of one unit."""
        ...


FAILED: Any = object()
"""Stands for an argument or a result that is an error; its size is one."""

RuntimeCost = Callable[[Sequence[Any], Any], int]
"""Arguments (target first) and result to cost; each may be FAILED."""


@dataclass(frozen=True, slots=True)
class Charge:
    """What a function costs.

    Attributes:
        runtime: the cost of one call; None stands for one unit.
        estimate: the static worst case; None stands for one unit.
        by_function: the rule holds for the function whatever the overload; otherwise a call that several
            overloads may serve costs one unit.
        needs_result: `runtime` looks at the result; otherwise it is charged before the call.
        aborts: `runtime` raises EvaluationAborted for arguments of wrong types, which nothing absorbs.

    """

    runtime: RuntimeCost | None = None
    estimate: Estimator | None = None
    by_function: bool = False
    needs_result: bool = False
    aborts: bool = False


ONE = Charge()


def size_of(value: Any) -> int:
    """Return the size of a string, bytes, list or map, and 1 for everything else."""
    kind = type(value)
    if kind is str or kind is tuple or kind is bytes:
        return len(value)
    size = getattr(value, "cost_size", None)
    return 1 if size is None else int(size())


def traversal_cost(value: Any) -> int:
    """Return the cost of visiting a value with everything in it."""
    kind = type(value)
    if kind is str:
        return int(len(value.encode()) * STRING_FACTOR)
    if kind is bytes:
        return int(len(value) * STRING_FACTOR)
    if kind is tuple:
        return sum([traversal_cost(item) for item in paced(value)])
    pairs = getattr(value, "items", None)
    if pairs is not None:
        return sum([traversal_cost(key) + traversal_cost(item) for key, item in paced(pairs())])
    return 1


def _text_cost(value: Any, factor: float = STRING_FACTOR) -> int:
    return scale(size_of(value), factor)


def per_character(position: int = 0, factor: float = STRING_FACTOR, by_function: bool = True) -> Charge:
    """Charge for traversing the argument at a position (the target counts as the first one)."""

    def runtime(args: Sequence[Any], result: Any) -> int:
        return _text_cost(args[position], factor)

    def estimate(target: Operand | None, args: Sequence[Operand]) -> Estimate:
        return Estimate(_operands(target, args)[position].size.scaled(factor))

    return Charge(runtime, estimate, by_function)


def _operands(target: Operand | None, args: Sequence[Operand]) -> Sequence[Operand]:
    return args if target is None else (target, *args)


def _keeps_size(target: Operand | None, args: Sequence[Operand]) -> Estimate:
    size = _operands(target, args)[0].size
    return Estimate(size.scaled(STRING_FACTOR), size)


SAME_SIZE = Charge(lambda args, result: _text_cost(args[0]), _keeps_size, by_function=True)
"""One traversal; the result is about as long as the argument."""


def _regex_runtime(args: Sequence[Any], result: Any) -> int:
    return scale(1 + size_of(args[0]), STRING_FACTOR) * scale(size_of(args[1]), REGEX_FACTOR)


def _regex_cost(text: Range, pattern: Range) -> Range:
    return text.plus(UNIT).scaled(STRING_FACTOR).times(pattern.scaled(REGEX_FACTOR))


def _matches_estimate(target: Operand | None, args: Sequence[Operand]) -> Estimate:
    text, pattern = _operands(target, args)
    return Estimate(_regex_cost(text.size, pattern.size))


def _find_estimate(target: Operand | None, args: Sequence[Operand]) -> Estimate:
    text, pattern, *_ = _operands(target, args)
    return Estimate(_regex_cost(text.size, pattern.size), Range(0, text.size.high))


MATCHES = Charge(_regex_runtime, _matches_estimate)
FIND = Charge(_regex_runtime, _find_estimate, by_function=True)


def _contains_estimate(target: Operand | None, args: Sequence[Operand]) -> Estimate:
    text, part = _operands(target, args)
    return Estimate(text.size.scaled(STRING_FACTOR).times(part.size.scaled(STRING_FACTOR)))


CONTAINS = Charge(lambda args, result: _text_cost(args[0]) * _text_cost(args[1]), _contains_estimate)


def _smaller_runtime(args: Sequence[Any], result: Any) -> int:
    return scale(min(size_of(args[0]), size_of(args[1])), STRING_FACTOR)


def smaller_estimate(target: Operand | None, args: Sequence[Operand]) -> Estimate:
    """Estimate a comparison, which stops at the end of the shorter operand."""
    most = min(args[0].size.high, args[1].size.high)
    return Estimate(Range(1 if most else 0, most).scaled(STRING_FACTOR))


COMPARE = Charge(_smaller_runtime, smaller_estimate)


def _sum_estimate(target: Operand | None, args: Sequence[Operand]) -> Estimate:
    size = args[0].size.plus(args[1].size)
    return Estimate(size.scaled(STRING_FACTOR), size)


CONCATENATE = Charge(lambda args, result: scale(size_of(args[0]) + size_of(args[1]), STRING_FACTOR), _sum_estimate)
APPEND = Charge(None, lambda target, args: Estimate(UNIT, args[0].size.plus(args[1].size)))
"""List concatenation: one unit, whatever the sizes."""

IN_LIST = Charge(lambda args, result: size_of(args[1]), lambda target, args: Estimate(args[1].size.scaled(1)))


def _list_walk_estimate(target: Operand | None, args: Sequence[Operand]) -> Estimate:
    walked = _operands(target, args)[0]
    if walked.type.params:
        each = UNIT
        if walked.type.params[0].kind.value in ("string", "bytes"):
            each = each.plus(walked.element_size.scaled(STRING_FACTOR))
        return Estimate(walked.size.times(each))
    return Estimate(walked.size.scaled(STRING_FACTOR))


def _includes_estimate(target: Operand | None, args: Sequence[Operand]) -> Estimate:
    walked = _operands(target, args)[0]
    return _list_walk_estimate(target, args) if walked.type.params else Estimate(walked.size)


LIST_WALK = Charge(lambda args, result: traversal_cost(args[0]), _list_walk_estimate, by_function=True)
INCLUDES = Charge(lambda args, result: traversal_cost(args[0]), _includes_estimate, by_function=True)


def unsigned(value: Any) -> int:
    """Return a CEL int as a size."""
    return max(int(value), 0) if type(value) in (int, UInt) else 0
