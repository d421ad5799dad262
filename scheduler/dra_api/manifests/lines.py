"""Line numbers of every value of a document, as a tree beside it, and the limits on what is read."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
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


class Deferred:
    """The lines of a value that are found only when somebody asks, because that takes longer than reading the value."""

    __slots__ = ("_find", "_found")

    def __init__(self, find: Callable[[], Lines]) -> None:
        self._find = find
        self._found: int | Branch | None = None

    def get(self) -> int | Branch:
        """Return the lines, found once."""
        if self._found is None:
            found = self._find()
            self._found = found.get() if isinstance(found, Deferred) else found
        return self._found


Lines = Union[int, Branch, Deferred]  # noqa: UP007 - a recursive alias
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
    if isinstance(lines, Deferred):
        lines = lines.get()
    return lines if isinstance(lines, int) else lines.line


def child_lines(lines: Lines, *steps: str) -> Lines:
    """Return the lines of a part (a key or index for each step), of the last one there is if it is not there."""
    if isinstance(lines, Deferred):
        return Deferred(partial(_resolved_child, lines, steps))
    for step in steps:
        lines = _child(lines, step) or lines
    return lines


def _resolved_child(lines: Deferred, steps: tuple[str, ...]) -> Lines:
    return child_lines(lines.get(), *steps)


def moved_to(lines: Lines, line: int) -> Lines:
    """Return the same lines with another one for the value itself: its key's, where people look for it."""
    if isinstance(lines, Deferred):
        lines = lines.get()
    return line if isinstance(lines, int) else Branch(line, lines.children)


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
    if isinstance(lines, Deferred):
        lines = lines.get()
    if isinstance(lines, int):
        return None
    if isinstance(lines.children, dict):
        return lines.children.get(step)
    return lines.children[int(step)] if step.isdigit() and int(step) < len(lines.children) else None
