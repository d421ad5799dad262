"""How long one step of the work may take."""

from __future__ import annotations

from typing import Protocol


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
