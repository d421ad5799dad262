"""Three-valued logic: `&&`, `||`, `!` and `?:`, which absorb errors or skip branches."""

from __future__ import annotations

from typing import Any

from dra_cel.errors import EvaluationAborted, EvaluationError
from dra_cel.frame import Frame, Step
from dra_cel.values import type_name


def not_bool(value: Any) -> EvaluationError:
    """Return the error for a value where a bool is needed."""
    return EvaluationError(f"no such overload: expected bool, found '{type_name(value)}'")


def and_step(left: Step, right: Step) -> Step:
    """Return `left && right`: false wins over an error, on either side."""

    def step(frame: Frame) -> bool:
        try:
            value = left(frame)
            if value is False:
                return False
            failure = None if value is True else not_bool(value)
        except EvaluationAborted:
            raise
        except EvaluationError as error:
            failure = error
        value = right(frame)
        if value is False:
            return False
        if failure is not None:
            raise failure
        if value is True:
            return True
        raise not_bool(value)

    return step


def or_step(left: Step, right: Step) -> Step:
    """Return `left || right`: true wins over an error, on either side."""

    def step(frame: Frame) -> bool:
        try:
            value = left(frame)
            if value is True:
                return True
            failure = None if value is False else not_bool(value)
        except EvaluationAborted:
            raise
        except EvaluationError as error:
            failure = error
        value = right(frame)
        if value is True:
            return True
        if failure is not None:
            raise failure
        if value is False:
            return False
        raise not_bool(value)

    return step


def conditional_step(condition: Step, then: Step, other: Step, discounts: tuple[int, int]) -> Step:
    """Return `condition ? then : other`; only the branch taken is evaluated.

    Args:
        condition: evaluates the condition.
        then: evaluates the branch for true.
        other: evaluates the branch for false.
        discounts: what the branches cost less than elsewhere: a name or selection is free of its base cost there.

    """
    then_discount, other_discount = discounts

    def step(frame: Frame) -> Any:
        # optMap and optFlatMap evaluate what they are called on twice, which doubles with each in a chain.
        frame.check_cost()
        value = condition(frame)
        if value is True:
            frame.cost -= then_discount
            return then(frame)
        if value is False:
            frame.cost -= other_discount
            return other(frame)
        raise not_bool(value)

    return step
