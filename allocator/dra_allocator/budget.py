"""How long one step of the work may take."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

K = TypeVar("K")


class Budget(Protocol):
    """Asked often, so it must be cheap; the runtime's reads a clock, the tests' counts calls."""

    def exhausted(self) -> bool:
        """Return whether the step should end now."""
        ...


class Unlimited:
    """A budget that is never exhausted."""

    def exhausted(self) -> bool:
        """See `Budget`."""
        return False


UNLIMITED = Unlimited()


class Either:
    """Exhausted as soon as one of two budgets is."""

    def __init__(self, one: Budget, other: Budget) -> None:
        self._one = one
        self._other = other

    def exhausted(self) -> bool:
        """See `Budget`."""
        return self._one.exhausted() or self._other.exhausted()


def drained(pending: dict[K, None], work: Callable[[K], None], chunk: int, budget: Budget) -> bool:
    """Take what is pending out and work on it, `chunk` at a time; return False if the budget ended it before."""
    while pending:
        for _ in range(min(chunk, len(pending))):
            work(pending.popitem()[0])
        if pending and budget.exhausted():
            return False
    return True
