"""What lint reports."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from dra_api.manifests import Document, Problem

if TYPE_CHECKING:
    from dra_scheduler.lint.inputs import Inputs

Severity = Literal["error", "warning"]
"""An error cannot work, or an API server refuses it; a warning works, and is hardly what was meant."""


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that a rule found in a document: the field (a path in the v1 shape), what is wrong, what to do."""

    document: Document
    field: str
    problem: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Rule:
    """What is looked for.

    Attributes:
        name: stable; docs/lint.md explains it.
        severity: of every finding with this name.
        summary: one line.
        check: finds it; None: reading the manifests finds it already.

    """

    name: str
    severity: Severity
    summary: str
    check: Callable[[Inputs], Iterable[Fault]] | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """A fault with its rule's name and its place in the file. `line` is from 1; 0: it came from no file."""

    name: str
    severity: Severity
    problem: Problem

    @property
    def order(self) -> tuple[str, int, str, str]:
        """What findings are sorted by: file, line, field, name."""
        return (self.problem.file, self.problem.line, self.problem.field, self.name)

    def __str__(self) -> str:
        one = self.problem
        place = f"{one.file}:{one.line}" if one.line else one.file
        text = ": ".join(part for part in (place, self.severity, one.object, one.field, one.problem) if part)
        return f"{text}{f'; {one.hint}' if one.hint else ''} [{self.name}]"

    def as_json(self) -> dict[str, str | int]:
        """Return it for `-o json`."""
        one = self.problem
        return {
            "name": self.name,
            "severity": self.severity,
            "file": one.file,
            "line": one.line,
            "object": one.object,
            "field": one.field,
            "problem": one.problem,
            "hint": one.hint,
        }
