"""Steps of ordinary calls: arguments, what the call costs, the implementation.

A call whose argument fails costs something too, as in Kubernetes: the error counts as an argument of size one.
With one or two arguments all of them are evaluated; with more, or where the overload is only known at run
time, the first error ends the evaluation, and the call is charged only if that was the last argument.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from dra_cel.dispatch import SINGLETONS, Dispatcher, dispatcher, settled
from dra_cel.equality import STRICT, equal
from dra_cel.errors import EvaluationAborted, EvaluationError
from dra_cel.frame import Frame, Step
from dra_cel.functions.charges import FAILED, Charge, RuntimeCost, size_of
from dra_cel.functions.table import Implementation, Overload
from dra_cel.plan import Plan

_PATTERNS = frozenset({"find", "findAll", "matches"})
"""Functions of a text and a pattern: with a constant pattern Kubernetes plans them as calls with many arguments."""
_VARIADIC = frozenset({"format"})
"""Functions that Kubernetes always plans as calls with many arguments."""


def call_step(name: str, overloads: Sequence[Overload], plans: Sequence[Plan], charge: Charge) -> Step:
    """Return the step of a call.

    Args:
        name: the function.
        overloads: those that fit the static types.
        plans: the arguments; a receiver is the first one.
        charge: what the call costs.

    """
    if name == "_==_" and (fast := _equals_text(plans)) is not None:
        return fast
    implementation = settled(overloads, plans)
    steps = [plan.step for plan in plans]
    many = name in _VARIADIC or (name in _PATTERNS and plans[1].constant and type(plans[1].value) is str)
    eager = (len(overloads) == 1 or name in SINGLETONS) and not many
    if charge.runtime is None and implementation is not None:
        if len(steps) == 1:
            return _direct_unary(steps[0], implementation)
        if len(steps) == 2:
            return _direct_binary(steps[0], steps[1], implementation, eager)
    finder = dispatcher(name, overloads)
    if charge.runtime is None and len(steps) == 1:
        return _unary_step(steps[0], finder)
    if charge.runtime is None and len(steps) == 2:
        return _binary_step(steps[0], steps[1], finder, eager)
    return _charged_step(steps, implementation, finder, charge, eager and len(steps) <= 2)


def evaluate_anyway(frame: Frame, step: Step) -> Any:
    """Evaluate for the sake of its cost; return the value, or FAILED where that fails too."""
    try:
        return step(frame)
    except EvaluationAborted:
        raise
    except EvaluationError:
        return FAILED


def _direct_unary(argument: Step, implementation: Implementation) -> Step:
    def step(frame: Frame) -> Any:
        try:
            value = argument(frame)
        finally:
            frame.cost += 1
        return implementation(value)

    return step


def _unary_step(argument: Step, dispatcher: Dispatcher) -> Step:
    known = dispatcher.known

    def step(frame: Frame) -> Any:
        try:
            value = argument(frame)
        finally:
            frame.cost += 1
        call = known.get(type(value)) or dispatcher.find((value,))
        return call(value)

    return step


def _direct_binary(left_step: Step, right_step: Step, implementation: Implementation, eager: bool) -> Step:
    def step(frame: Frame) -> Any:
        try:
            left = left_step(frame)
        except EvaluationError as error:
            _charge_right(frame, error, right_step, eager)
            raise
        try:
            right = right_step(frame)
        finally:
            frame.cost += 1
        return implementation(left, right)

    return step


def _binary_step(left_step: Step, right_step: Step, dispatcher: Dispatcher, eager: bool) -> Step:
    known = dispatcher.known

    def step(frame: Frame) -> Any:
        try:
            left = left_step(frame)
        except EvaluationError as error:
            _charge_right(frame, error, right_step, eager)
            raise
        try:
            right = right_step(frame)
        finally:
            frame.cost += 1
        call = known.get((type(left), type(right))) or dispatcher.find((left, right))
        return call(left, right)

    return step


def _charge_right(frame: Frame, error: EvaluationError, right_step: Step, eager: bool) -> None:
    """Charge for a call whose left operand has failed."""
    if eager and not isinstance(error, EvaluationAborted):
        evaluate_anyway(frame, right_step)
        frame.cost += 1


def _charged_step(
    steps: Sequence[Step], implementation: Implementation | None, dispatcher: Dispatcher, charge: Charge, eager: bool
) -> Step:
    """Return a step whose cost depends on its arguments or its result."""
    known = dispatcher.known
    single = len(steps) == 1
    runtime: RuntimeCost = charge.runtime or (lambda args, result: 1)
    after = charge.needs_result

    def invoke(args: Sequence[Any]) -> Any:
        call = implementation
        if call is None:
            key = type(args[0]) if single else tuple([type(arg) for arg in args])
            call = known.get(key) or dispatcher.find(args)
        return call(*args)

    def step(frame: Frame) -> Any:
        args: list[Any] = []
        try:
            for argument in steps:
                args.append(argument(frame))  # noqa: PERF401 - an error must leave what came before it
        except EvaluationAborted:
            raise
        except EvaluationError:
            _charge_failure(frame, steps, args, runtime, eager)
            raise
        if not after:
            frame.cost += runtime(args, None)
            frame.check_cost()
            return invoke(args)
        result = FAILED
        try:
            result = invoke(args)
        finally:
            frame.cost += runtime(args, result)
        frame.check_cost()
        return result

    return step


def _charge_failure(frame: Frame, steps: Sequence[Step], args: list[Any], runtime: RuntimeCost, eager: bool) -> None:
    """Charge for a call one of whose arguments has failed: the one after those in `args`."""
    args.append(FAILED)
    while eager and len(args) < len(steps):
        args.append(evaluate_anyway(frame, steps[len(args)]))
    if len(args) == len(steps):
        frame.cost += runtime(args, FAILED)


def _equals_text(plans: Sequence[Plan]) -> Step | None:
    """Return a fast step for `x == "constant"`, the most frequent comparison of all."""
    left, right = plans
    if not right.constant or type(right.value) is not str:
        return None
    left_step, text, length = left.step, right.value, len(right.value)
    costs = [math.ceil(count * 0.1) for count in range(length + 1)]
    failure = costs[min(1, length)]

    def step(frame: Frame) -> bool:
        try:
            value = left_step(frame)
        except EvaluationError:
            frame.cost += failure
            raise
        if type(value) is str:
            frame.cost += costs[min(len(value), length)]
            return bool(value == text)
        frame.cost += 1 if type(value) in STRICT else costs[min(size_of(value), length)]
        return equal(value, text)

    return step
