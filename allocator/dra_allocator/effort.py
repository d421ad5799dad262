"""How much work one explanation may be: whoever may create claims could else keep the scheduler busy explaining."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Effort:
    """What is left. Whoever does a piece of work takes it from here, and leaves undone what is not there any more.

    Attributes:
        evaluations: devices for which a selector may be evaluated one by one.
        cost: CEL cost that these evaluations may have.
        parts: conditions of selectors that may be looked at.
        text: characters that these may have altogether: each has to be compiled.
        suggestions: names for which a nearest one may be looked for.
        searches: questions that searches may ask their budget (each is 16 steps).

    """

    evaluations: int = 4096
    cost: int = 50_000
    parts: int = 32
    text: int = 4096
    suggestions: int = 6
    searches: int = 128

    def may_evaluate(self) -> bool:
        """Return whether another evaluation may be done."""
        return self.evaluations > 0 and self.cost > 0

    def evaluated(self, cost: int) -> None:
        """Note an evaluation."""
        self.evaluations -= 1
        self.cost -= cost

    def take_part(self, text: str) -> bool:
        """Return whether another condition may be looked at, and note it."""
        self.parts -= 1
        self.text -= len(text)
        return self.parts >= 0 and self.text >= 0

    def take_suggestion(self) -> bool:
        """Return whether another name may be looked for, and note it."""
        self.suggestions -= 1
        return self.suggestions >= 0

    def exhausted(self) -> bool:
        """Be the budget of searches."""
        self.searches -= 1
        return self.searches < 0
