"""Steppers as work in slices: a step also ends in the middle of evaluating a dear selector."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Generic, Protocol, TypeVar

from dra_allocator.budget import UNLIMITED, Budget, Either
from dra_cel.slices import Slices

T = TypeVar("T")
Produced_co = TypeVar("Produced_co", covariant=True)


class Stepper(Protocol[Produced_co]):
    """Works towards an answer until the budget is exhausted (None)."""

    def step(self, budget: Budget) -> Produced_co | None:
        """Go on."""
        ...


class _Current:
    """The budget of the step that is under way, whichever that is."""

    def __init__(self) -> None:
        self.budget: Budget = UNLIMITED

    def exhausted(self) -> bool:
        """See `Budget`."""
        return self.budget.exhausted()


class Sliced(Generic[T]):
    """Runs a stepper on a stack of its own, where a selector may have a rest; dropping it ends the work.

    `limit` bounds the attempt as a whole: once it is exhausted, `expired` says what comes out, even if the stepper is
    in the middle of an evaluation. The stepper looks at the limit too.
    """

    def __init__(
        self, stepper: Stepper[T], limit: Budget | None = None, expired: Callable[[], T] | None = None
    ) -> None:
        self._stepper = stepper
        self._limit = limit
        self._expired = expired
        self._current = _Current()
        self._work: Slices[T | None] | None = None
        self._answer: T | None = None

    def step(self, budget: Budget) -> T | None:
        """Work until there is an answer (then and ever after it is returned) or the budget is exhausted (None)."""
        if self._answer is not None:
            return self._answer
        self._current.budget = budget
        if self._work is None:
            self._work = Slices(partial(self._stepper.step, self._current))
        within = budget if self._limit is None else Either(budget, self._limit)
        if self._work.step(within.exhausted):
            self._answer, self._work = self._work.value, None
        elif self._limit is not None and self._expired is not None and self._limit.exhausted():
            self._answer, self._work = self._expired(), None
        return self._answer
