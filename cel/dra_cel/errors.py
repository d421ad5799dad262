"""Errors of the selector language, and whom they concern."""

from __future__ import annotations


class CelError(Exception):
    """Base class of everything that dra_cel raises on purpose."""


class CompileError(CelError):
    """The text of an expression is wrong: its author (class or claim) has to correct it.

    It is the same for every device, so it is raised once, when the expression is compiled.

    Attributes:
        message: what is wrong, without the position.
        expression: the whole text.
        offset: position in code points, from 0.
        line: from 1.
        column: from 1, in code points.
        suggestion: the name that was probably meant, or None.

    """

    def __init__(self, message: str, expression: str, offset: int, suggestion: str | None = None) -> None:
        before = expression[:offset]
        self.message = message
        self.expression = expression
        self.offset = offset
        self.line = before.count("\n") + 1
        self.column = offset - (before.rfind("\n") + 1) + 1
        self.suggestion = suggestion
        super().__init__(message)

    def __str__(self) -> str:
        """Return one line: position, message, suggestion."""
        hint = f" (did you mean {self.suggestion!r}?)" if self.suggestion else ""
        return f"line {self.line}, column {self.column}: {self.message}{hint}"

    def excerpt(self) -> str:
        """Return the line concerned and a caret below the column, for terminals."""
        lines = self.expression.split("\n")
        return f"{lines[self.line - 1]}\n{' ' * (self.column - 1)}^"


class EvaluationError(CelError):
    """An expression failed for one device: a missing key, a type mismatch, an overflow, ...

    The author of the expression can guard it (`has(...)`, `.?name.orValue(...)`); the device's
    driver may have published other attributes than expected. Kubernetes fails the allocation that
    visits such a device.

    Attributes:
        message: what happened.
        expression: the text of the expression, or None where it is not known yet.
        offset: position in code points, or None.
        cost: what was spent until then; None where it is not known.

    """

    def __init__(self, message: str, expression: str | None = None, offset: int | None = None) -> None:
        self.message = message
        self.expression = expression
        self.offset = offset
        self.cost: int | None = None
        super().__init__(message)

    def __str__(self) -> str:
        """Return the message, followed by the expression where it is known."""
        if self.expression is None:
            return self.message
        return f"{self.message} (in {self.expression!r})"


class EvaluationAborted(EvaluationError):  # noqa: N818 - the name says what happened
    """The evaluation ended for good: unlike other run-time errors `&&`, `||` and macros do not absorb this one.

    Besides exceeded limits that is a list function whose cost Kubernetes can't tell since its argument is no list.
    """


class CostLimitExceeded(EvaluationAborted):
    """The evaluation cost more than 1,000,000 units, Kubernetes' limit for one selector.

    Its author has to simplify it.
    """
