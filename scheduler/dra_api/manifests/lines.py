"""Line numbers of every value of a document, as a tree beside it, and the limits on what is read."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Union

MAX_DEPTH = 100
"""Levels of lists and objects in one document; Kubernetes' deepest object has about thirty."""

MAX_VALUES = 2_000_000
"""Values of one document after aliases: more is a bomb, not a manifest."""


@dataclass(frozen=True, slots=True)
class Branch:
    """The line of a list or object and the lines of what it holds, by index or key."""

    line: int
    children: dict[str, Lines] | list[Lines]


Lines = Union[int, Branch]  # noqa: UP007 - a recursive alias
"""A value's line; for lists and objects with those of their children."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """A value with its lines; `duplicates` are (path, line) of keys that an object has twice."""

    value: Any
    lines: Lines
    duplicates: tuple[tuple[str, int], ...] = ()


class SyntaxProblem(Exception):  # noqa: N818 - turned into a Problem by the reader
    """A text is not YAML or JSON, or is beyond the limits; line and column are from 1."""

    def __init__(self, problem: str, line: int, column: int, hint: str = "") -> None:
        super().__init__(problem)
        self.problem = problem
        self.line = line
        self.column = column
        self.hint = hint


_STEP = re.compile(r"\[([^\]]*)\]|([^.\[\]]+)")
_INSERTED = ("exactly", "basic")


def line_of(lines: Lines) -> int:
    """Return the line of a value itself."""
    return lines if isinstance(lines, int) else lines.line


def line_at(lines: Lines, path: str) -> int:
    """Return the line of the value at a path, or of the deepest one on the way that is in the file.

    Conversion to v1 adds `exactly` and takes `basic` away, so these two steps may be missing on either side.
    """
    for match in _STEP.finditer(path):
        step = match.group(1) if match.group(1) is not None else match.group(2)
        found = _child(lines, step)
        if found is None:
            basic = _child(lines, "basic")
            found = None if basic is None else _child(basic, step)
        if found is None:
            if step in _INSERTED:
                continue
            break
        lines = found
    return line_of(lines)


def _child(lines: Lines, step: str) -> Lines | None:
    if isinstance(lines, int):
        return None
    if isinstance(lines.children, dict):
        return lines.children.get(step)
    return lines.children[int(step)] if step.isdigit() and int(step) < len(lines.children) else None
